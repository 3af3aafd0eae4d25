//! DICOM files, of which the first frame counts: uncompressed, JPEG, or run lengths.
//!
//! A reader of ours for the few attributes that an image needs: the crates for the whole standard bring a text
//! decoder that nobody maintains. Numbers in brackets are sections of DICOM PS3, 2024.

mod attributes;
mod compressed;
mod image;

use super::colours::{Colours, check};
use anyhow::{Context, Result, bail};
use attributes::{Attributes, Syntax};
use image::Image;

/// Where the mark of the format is.
pub(super) fn is_dicom(file: &[u8]) -> bool {
    file.get(128..132) == Some(b"DICM")
}

pub(super) fn decode(file: &[u8]) -> Result<Colours> {
    let file = Attributes::read(&file[132..]).context("a damaged DICOM file")?;
    let image = Image::of(&file)?;
    check(image.width, image.height)?;
    match file.syntax {
        Syntax::Jpeg => compressed::jpeg(&image),
        Syntax::RunLengths => {
            let bytes = compressed::run_lengths(&image)?;
            image.colours(&bytes)
        }
        Syntax::Other(uid) => bail!(
            "a DICOM image whose compression ({uid}) cannot be read; convert it, for example by dcmdjpeg or gdcmconv --raw"
        ),
        _ => image.colours(image.pixels),
    }
}
