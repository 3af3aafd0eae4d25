//! BMP files.

use super::colours::{Colours, check, pixels};
use anyhow::{Context, Error, Result};
use std::fmt::Debug;
use std::io::Cursor;
use zune_bmp::BmpDecoder;

const DAMAGED: &str = "a damaged BMP image";

pub(super) fn decode(file: &[u8]) -> Result<Colours> {
    let mut decoder = BmpDecoder::new(Cursor::new(file));
    decoder.decode_headers().map_err(damaged)?;
    let (width, height) = decoder.dimensions().context(DAMAGED)?;
    check(width, height)?;
    let values = decoder.decode().map_err(damaged)?;
    let channels = decoder.colorspace().context(DAMAGED)?.num_components();
    Ok(Colours {
        width,
        height,
        values: pixels(&values, channels),
    })
}

fn damaged(error: impl Debug) -> Error {
    Error::msg(format!("{error:?}")).context(DAMAGED)
}
