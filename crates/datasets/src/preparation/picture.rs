//! Images: decoded, made grey or coloured, resized to a declared size.

use super::fact::{Basis, Fact};
use super::resize::resize;
use crate::formats::picture::{Colours, decode};
use crate::records::ImageSize;
use anyhow::{Context, Result, ensure};
use serde::{Deserialize, Serialize};

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
        let image = decode(file).context("not a readable image")?;
        Ok(self.values(&image))
    }

    fn values(&self, image: &Colours) -> Vec<u8> {
        let plane = |value: &dyn Fn(&[u8; 3]) -> u8| {
            let plane: Vec<u8> = image.values.iter().map(value).collect();
            let to = (self.size.width, self.size.height);
            resize(&plane, (image.width, image.height), to)
        };
        let mut values = if self.size.channels == 1 {
            plane(&grey)
        } else {
            [0, 1, 2]
                .map(|channel| plane(&|colour| colour[channel]))
                .concat()
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

/// The brightness of a colour (ITU-R BT.601).
fn grey(&[red, green, blue]: &[u8; 3]) -> u8 {
    let weighted = 299 * u32::from(red) + 587 * u32::from(green) + 114 * u32::from(blue);
    ((weighted + 500) / 1000) as u8
}
