//! Mosaics: square tiles of equal size, row by row, in lossless WebP images; labels beside them, a
//! byte for each tile.

use super::picture::{Colours, decode};
use crate::image_size::ImageSize;
use anyhow::{Context, Result, ensure};
use rayon::prelude::*;
use std::path::Path;

/// The images and labels of one part, as `train` of `train_00.webp`, `train_01.webp`, … and
/// `train_labels.u8`.
pub fn read(folder: &Path, part: &str, size: ImageSize) -> Result<(Vec<u8>, Vec<u16>)> {
    let file = folder.join(format!("{part}_labels.u8"));
    let labels = std::fs::read(&file).with_context(|| format!("cannot read {}", file.display()))?;
    let files: Vec<_> = (0..1000)
        .map(|number| folder.join(format!("{part}_{number:02}.webp")))
        .take_while(|file| file.exists())
        .collect();
    let mosaics = files
        .par_iter()
        .map(|file| {
            let bytes =
                std::fs::read(file).with_context(|| format!("cannot read {}", file.display()))?;
            tiles(&bytes, size).with_context(|| format!("{}", file.display()))
        })
        .collect::<Result<Vec<_>>>()?;
    let mut pixels: Vec<u8> = mosaics.concat();
    let needed = labels.len() * size.values();
    ensure!(
        pixels.len() >= needed,
        "{}: {} mosaics hold {} images, but {} are labelled; is a file missing?",
        folder.display(),
        files.len(),
        pixels.len() / size.values(),
        labels.len()
    );
    // The last mosaic is padded.
    pixels.truncate(needed);
    Ok((pixels, labels.into_iter().map(u16::from).collect()))
}

/// All tiles of one mosaic, each channel by channel.
pub fn tiles(file: &[u8], size: ImageSize) -> Result<Vec<u8>> {
    let Colours {
        width,
        height,
        values: colours,
    } = decode(file)?;
    ensure!(
        width.is_multiple_of(size.width) && height.is_multiple_of(size.height),
        "a mosaic of {width} × {height} pixels cannot be cut into tiles of {} × {}",
        size.width,
        size.height
    );
    let mut values = Vec::with_capacity(width * height * size.channels);
    for top in (0..height).step_by(size.height) {
        for left in (0..width).step_by(size.width) {
            for channel in 0..size.channels {
                for row in top..top + size.height {
                    let line = &colours[row * width + left..][..size.width];
                    values.extend(line.iter().map(|colour| colour[channel]));
                }
            }
        }
    }
    Ok(values)
}
