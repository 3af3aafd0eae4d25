//! Image files as colours, a byte each: PNG, JPEG, WebP, TIFF, BMP and DICOM.

mod bmp;
mod dicom;
#[cfg(test)]
mod tests;
mod tiff;
mod upright;

use super::guarded::guarded;
use anyhow::{Context, Result, bail, ensure};
use image_webp::WebPDecoder;
use std::io::Cursor;
use zune_jpeg::JpegDecoder;
use zune_jpeg::zune_core::colorspace::ColorSpace;
use zune_jpeg::zune_core::options::DecoderOptions;

/// An image larger than this in either direction is refused rather than decoded.
const LARGEST_SIDE: usize = 1 << 14;

/// An image.
#[derive(Debug, PartialEq, Eq)]
pub struct Colours {
    /// Columns of pixels.
    pub width: usize,
    /// Rows of pixels.
    pub height: usize,
    /// Red, green and blue of each pixel, row by row. What was transparent is opaque.
    pub values: Vec<[u8; 3]>,
}

/// Reads a file by its first bytes, whatever its name, and turns it the way it was seen.
pub fn decode(file: &[u8]) -> Result<Colours> {
    let image = guarded("a damaged image", || match file {
        [0x89, b'P', b'N', b'G', ..] => png(file),
        [0xff, 0xd8, ..] => jpeg(file),
        [b'R', b'I', b'F', b'F', ..] => webp(file),
        [b'I', b'I', 42 | 43, 0, ..] | [b'M', b'M', 0, 42 | 43, ..] => tiff::decode(file),
        [b'B', b'M', ..] => bmp::decode(file),
        _ if dicom::is_dicom(file) => dicom::decode(file),
        _ => bail!("not a PNG, JPEG, WebP, TIFF, BMP or DICOM image"),
    })?;
    ensure!(
        image.values.len() == image.width * image.height && !image.values.is_empty(),
        "an image without pixels"
    );
    Ok(upright::upright(image, file))
}

/// Values of any range as levels: those between 0 and 1 as they are, others from the least to the greatest.
fn levels(values: impl Iterator<Item = f64> + Clone) -> Vec<u8> {
    let finite = values.clone().filter(|value| value.is_finite());
    let (least, greatest) = finite.fold(
        (f64::INFINITY, f64::NEG_INFINITY),
        |(least, greatest), value| (least.min(value), greatest.max(value)),
    );
    let (from, to) = match (0.0..=1.0).contains(&least) && (0.0..=1.0).contains(&greatest) {
        true => (0.0, 1.0),
        false => (least, greatest),
    };
    let range = (to - from).max(f64::MIN_POSITIVE);
    let level = |value: f64| ((value - from) / range * 255.0).clamp(0.0, 255.0).round() as u8;
    values.map(level).collect()
}

fn check(width: usize, height: usize) -> Result<()> {
    ensure!(
        width <= LARGEST_SIDE && height <= LARGEST_SIDE,
        "an image of {width} × {height} pixels; {LARGEST_SIDE} either way is the most"
    );
    Ok(())
}

/// Pixels of 1 to 4 values: grey or colour, each with or without transparency.
fn pixels(values: &[u8], channels: usize) -> Vec<[u8; 3]> {
    let pixels = values.chunks_exact(channels.max(1));
    match channels {
        1 | 2 => pixels.map(|pixel| [pixel[0]; 3]).collect(),
        _ => pixels.map(|pixel| [pixel[0], pixel[1], pixel[2]]).collect(),
    }
}

fn png(file: &[u8]) -> Result<Colours> {
    const UNREADABLE: &str = "a damaged PNG image";
    let mut decoder = png::Decoder::new(Cursor::new(file));
    decoder.set_transformations(png::Transformations::normalize_to_color8());
    let mut reader = decoder.read_info().context(UNREADABLE)?;
    let (width, height) = (reader.info().width as usize, reader.info().height as usize);
    check(width, height)?;
    let mut values = vec![0; reader.output_buffer_size().context(UNREADABLE)?];
    let frame = reader.next_frame(&mut values).context(UNREADABLE)?;
    values.truncate(frame.buffer_size());
    let values = pixels(&values, frame.color_type.samples());
    Ok(Colours {
        width,
        height,
        values,
    })
}

fn jpeg(file: &[u8]) -> Result<Colours> {
    const UNREADABLE: &str = "a damaged JPEG image";
    let options = DecoderOptions::default()
        .set_max_width(LARGEST_SIDE)
        .set_max_height(LARGEST_SIDE)
        .jpeg_set_out_colorspace(ColorSpace::RGB);
    let mut decoder = JpegDecoder::new_with_options(Cursor::new(file), options);
    let values = decoder.decode().context(UNREADABLE)?;
    let info = decoder.info().context(UNREADABLE)?;
    Ok(Colours {
        width: usize::from(info.width),
        height: usize::from(info.height),
        values: pixels(&values, 3),
    })
}

fn webp(file: &[u8]) -> Result<Colours> {
    const UNREADABLE: &str = "a damaged WebP image";
    let mut decoder = WebPDecoder::new(Cursor::new(file)).context(UNREADABLE)?;
    let (width, height) = decoder.dimensions();
    let (width, height) = (width as usize, height as usize);
    check(width, height)?;
    let mut values = vec![0; decoder.output_buffer_size().context(UNREADABLE)?];
    decoder.read_image(&mut values).context(UNREADABLE)?;
    let channels = if decoder.has_alpha() { 4 } else { 3 };
    Ok(Colours {
        width,
        height,
        values: pixels(&values, channels),
    })
}
