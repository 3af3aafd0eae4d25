//! Image files as colours, a byte each: PNG, JPEG, WebP, TIFF, BMP and DICOM.

mod bmp;
mod colours;
mod dicom;
#[cfg(test)]
mod tests;
mod tiff;
mod upright;
mod web;

pub use colours::Colours;

use super::guarded::guarded;
use anyhow::{Result, bail, ensure};

/// Reads a file by its first bytes, whatever its name, and turns it the way it was seen.
pub fn decode(file: &[u8]) -> Result<Colours> {
    guarded("a damaged image", || {
        let image = match file {
            [0x89, b'P', b'N', b'G', ..] => web::png(file),
            [0xff, 0xd8, ..] => web::jpeg(file),
            [b'R', b'I', b'F', b'F', ..] => web::webp(file),
            [b'I', b'I', 42 | 43, 0, ..] | [b'M', b'M', 0, 42 | 43, ..] => tiff::decode(file),
            [b'B', b'M', ..] => bmp::decode(file),
            _ if dicom::is_dicom(file) => dicom::decode(file),
            _ => bail!("not a PNG, JPEG, WebP, TIFF, BMP or DICOM image"),
        }?;
        ensure!(
            image.values.len() == image.width * image.height && !image.values.is_empty(),
            "an image without pixels"
        );
        Ok(upright::upright(image, file))
    })
}
