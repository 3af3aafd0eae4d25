//! An image as colours, a byte each.

use anyhow::{Result, ensure};

/// An image larger than this in either direction is refused rather than decoded.
pub(super) const LARGEST_SIDE: usize = 1 << 14;

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

/// Values of any range as levels: those between 0 and 1 as they are, others from the least to the greatest.
pub(super) fn levels(values: impl Iterator<Item = f64> + Clone) -> Vec<u8> {
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

/// Refuses an image that is too large.
pub(super) fn check(width: usize, height: usize) -> Result<()> {
    ensure!(
        width <= LARGEST_SIDE && height <= LARGEST_SIDE,
        "an image of {width} × {height} pixels; {LARGEST_SIDE} either way is the most"
    );
    Ok(())
}

/// Pixels of 1 to 4 values: grey or colour, each with or without transparency.
pub(super) fn pixels(values: &[u8], channels: usize) -> Vec<[u8; 3]> {
    let pixels = values.chunks_exact(channels.max(1));
    match channels {
        1 | 2 => pixels.map(|pixel| [pixel[0]; 3]).collect(),
        _ => pixels.map(|pixel| [pixel[0], pixel[1], pixel[2]]).collect(),
    }
}
