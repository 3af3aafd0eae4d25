//! Images of one size, a byte for each value.

use super::{check, label_tensor};
use crate::Labelled;
use crate::image_size::ImageSize;
use crate::random::SplitMix;
use anyhow::{Result, ensure};
use burn::tensor::{Device, Tensor, TensorData};
use tacita::Records;

/// Images with their classes.
#[derive(Debug, Clone, PartialEq)]
pub struct Images {
    size: ImageSize,
    /// The byte that becomes 1.0: a public constant of the format.
    white: u8,
    classes: usize,
    /// Channel by channel, row by row.
    pixels: Vec<u8>,
    labels: Vec<u16>,
}

impl Images {
    /// Images whose bytes run from 0 to `white`.
    pub fn new(
        size: ImageSize,
        white: u8,
        classes: usize,
        pixels: Vec<u8>,
        labels: Vec<u16>,
    ) -> Result<Self> {
        check(pixels.len(), size.values(), &labels, classes)?;
        ensure!(white > 0, "the brightest level of an image must be above 0");
        Ok(Self {
            size,
            white,
            classes,
            pixels,
            labels,
        })
    }

    /// The size of every image.
    pub fn size(&self) -> ImageSize {
        self.size
    }

    /// The class of each image.
    pub fn labels(&self) -> &[u16] {
        &self.labels
    }

    fn tensor<'a>(&self, images: impl Iterator<Item = &'a [u8]>, device: &Device) -> Tensor<4> {
        let white = f32::from(self.white);
        let mut values = Vec::with_capacity(images.size_hint().0 * self.size.values());
        for image in images {
            values.extend(image.iter().map(|&level| f32::from(level) / white));
        }
        let count = values.len() / self.size.values();
        let shape = [count, self.size.channels, self.size.height, self.size.width];
        Tensor::from_data(TensorData::new(values, shape), device)
    }
}

impl Records for Images {
    type Batch = Labelled<Tensor<4>>;

    fn count(&self) -> usize {
        self.labels.len()
    }

    fn batch(&self, indices: &[usize], device: &Device) -> Self::Batch {
        let values = self.size.values();
        let images = indices
            .iter()
            .map(|&index| &self.pixels[index * values..][..values]);
        Labelled {
            inputs: self.tensor(images, device),
            labels: label_tensor(indices.iter().map(|&index| self.labels[index]), device),
        }
    }

    fn synthetic(&self, seeds: &[u64], device: &Device) -> Self::Batch {
        let levels = u64::from(self.white) + 1;
        let (images, labels): (Vec<Vec<u8>>, Vec<u16>) = seeds
            .iter()
            .map(|&seed| {
                let mut random = SplitMix(seed);
                let image = (0..self.size.values())
                    .map(|_| random.below(levels) as u8)
                    .collect();
                (image, random.below(self.classes as u64) as u16)
            })
            .unzip();
        Labelled {
            inputs: self.tensor(images.iter().map(Vec::as_slice), device),
            labels: label_tensor(labels.into_iter(), device),
        }
    }
}
