//! Images: decoded, made grey or coloured, resized to a declared size.

use super::{Basis, Fact};
use crate::datasets::records::ImageSize;
use anyhow::{Context, Result, ensure};
use image::imageops::FilterType;
use image::{DynamicImage, ImageReader, Limits};
use serde::{Deserialize, Serialize};
use std::io::Cursor;

/// An image larger than this in either direction is refused rather than decoded.
const LARGEST_SIDE: u32 = 20_000;
/// The memory a decoder may use.
const MOST_BYTES: u64 = 1 << 30;

/// The size every image is brought to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Picture {
    /// Size after resizing.
    pub size: ImageSize,
    /// The level that becomes 1.0.
    pub white: u8,
}

impl Picture {
    /// Images with levels from 0 to 255.
    pub fn new(size: ImageSize) -> Result<Self> {
        ensure!(
            size.channels == 1 || size.channels == 3,
            "images have 1 channel (grey) or 3 (colour), got {}",
            size.channels
        );
        ensure!(
            (1..=4096).contains(&size.width) && (1..=4096).contains(&size.height),
            "images must be between 1 × 1 and 4096 × 4096 pixels, got {} × {}",
            size.width,
            size.height
        );
        Ok(Self { size, white: 255 })
    }

    /// The values of an image file, channel by channel.
    pub fn prepare(&self, file: &[u8]) -> Result<Vec<u8>> {
        let mut reader = ImageReader::new(Cursor::new(file)).with_guessed_format()?;
        let mut limits = Limits::default();
        limits.max_image_width = Some(LARGEST_SIDE);
        limits.max_image_height = Some(LARGEST_SIDE);
        limits.max_alloc = Some(MOST_BYTES);
        reader.limits(limits);
        let image = reader
            .decode()
            .context("not a readable PNG, JPEG or WebP image")?;
        Ok(self.values(image))
    }

    fn values(&self, image: DynamicImage) -> Vec<u8> {
        let (width, height) = (self.size.width as u32, self.size.height as u32);
        let resized = if (image.width(), image.height()) == (width, height) {
            image
        } else {
            image.resize_exact(width, height, FilterType::Lanczos3)
        };
        let mut values = if self.size.channels == 1 {
            resized.into_luma8().into_raw()
        } else {
            planes(&resized.into_rgb8().into_raw())
        };
        if self.white < u8::MAX {
            let white = u16::from(self.white);
            for value in &mut values {
                *value = ((u16::from(*value) * white + 127) / 255) as u8;
            }
        }
        values
    }

    pub(super) fn facts(&self) -> Vec<Fact> {
        let ImageSize {
            channels,
            height,
            width,
        } = self.size;
        let colours = if channels == 1 { "grey" } else { "colour" };
        vec![
            Fact {
                what: format!("{colours} images of {width} × {height} pixels"),
                basis: Basis::Declared,
            },
            Fact {
                what: format!("levels 0 to {} scaled to [0, 1]", self.white),
                basis: Basis::PublicConstant,
            },
        ]
    }
}

/// Colour triples as three planes.
fn planes(triples: &[u8]) -> Vec<u8> {
    (0..3)
        .flat_map(|channel| triples.iter().skip(channel).step_by(3).copied())
        .collect()
}
