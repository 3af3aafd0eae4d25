//! TIFF files, of which the first image counts.

use super::colours::{Colours, check, pixels};
use anyhow::{Context, Result, bail};
use std::io::Cursor;
use tiff::ColorType;
use tiff::decoder::{Decoder, DecodingResult};

pub(super) fn decode(file: &[u8]) -> Result<Colours> {
    const UNREADABLE: &str = "a damaged TIFF image, or one of an unusual kind";
    let mut decoder = Decoder::new(Cursor::new(file)).context(UNREADABLE)?;
    let (width, height) = decoder.dimensions().context(UNREADABLE)?;
    let (width, height) = (width as usize, height as usize);
    check(width, height)?;
    let channels = match decoder.colortype().context(UNREADABLE)? {
        ColorType::Gray(_) => 1,
        ColorType::GrayA(_) => 2,
        ColorType::RGB(_) => 3,
        ColorType::RGBA(_) => 4,
        other => bail!("a TIFF image of {other:?}; convert it to grey or to red, green and blue"),
    };
    let bits = u32::from(decoder.colortype().context(UNREADABLE)?.bit_depth());
    let read = decoder.read_image().context(UNREADABLE)?;
    let values: Vec<u8> = match read {
        DecodingResult::U8(values) if bits == 8 => values,
        DecodingResult::U16(values) => values.into_iter().map(|value| (value >> 8) as u8).collect(),
        DecodingResult::U32(values) => values
            .into_iter()
            .map(|value| (value >> 24) as u8)
            .collect(),
        DecodingResult::F32(values) => super::colours::levels(values.into_iter().map(f64::from)),
        DecodingResult::F64(values) => super::colours::levels(values.into_iter()),
        DecodingResult::I16(values) => super::colours::levels(values.into_iter().map(f64::from)),
        _ => bail!("a TIFF image of {bits} bits a value; convert it to 8 or 16"),
    };
    Ok(Colours {
        width,
        height,
        values: pixels(&values, channels),
    })
}
