//! Formats of photographs and of the web: PNG, JPEG and WebP.

use super::colours::{Colours, LARGEST_SIDE, check, pixels};
use anyhow::{Context, Result};
use image_webp::WebPDecoder;
use std::io::Cursor;
use zune_jpeg::JpegDecoder;
use zune_jpeg::zune_core::colorspace::ColorSpace;
use zune_jpeg::zune_core::options::DecoderOptions;

pub(super) fn png(file: &[u8]) -> Result<Colours> {
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

pub(super) fn jpeg(file: &[u8]) -> Result<Colours> {
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

pub(super) fn webp(file: &[u8]) -> Result<Colours> {
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
