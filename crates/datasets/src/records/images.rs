//! Images of one size, a byte for each value.

use super::partly_on_disk::{self, PartlyOnDisk};
use super::{Chunk, Targets, check};
use crate::Labelled;
use crate::disk::DiskRecords;
use crate::image_size::ImageSize;
use crate::random::SplitMix;
use anyhow::{Result, ensure};
use burn::tensor::{Device, Tensor, TensorData};
use sha2::{Digest, Sha256};
use tacita::{ReadRecords, Records, Units, UnreadableRecords};

/// Images with their classes.
#[derive(Debug, Clone, PartialEq)]
pub struct Images {
    size: ImageSize,
    /// The byte that becomes 1.0: a public constant of the format.
    white: u8,
    classes: usize,
    /// Channel by channel, row by row.
    pixels: Vec<u8>,
    targets: Targets,
    /// Records that come before those in memory.
    disk: Option<DiskRecords>,
}

impl Images {
    /// Images whose bytes run from 0 to `white`.
    pub fn new(
        size: ImageSize,
        white: u8,
        classes: usize,
        pixels: Vec<u8>,
        targets: impl Into<Targets>,
    ) -> Result<Self> {
        let targets = targets.into();
        check(pixels.len(), size.values(), &targets, classes)?;
        ensure!(white > 0, "the brightest level of an image must be above 0");
        Ok(Self {
            size,
            white,
            classes,
            pixels,
            targets,
            disk: None,
        })
    }

    /// Records on a disk.
    pub(crate) fn on_disk(
        size: ImageSize,
        white: u8,
        classes: usize,
        disk: DiskRecords,
    ) -> Result<Self> {
        let none = disk.no_targets().clone();
        Ok(Self {
            disk: Some(disk),
            ..Self::new(size, white, classes, Vec::new(), none)?
        })
    }

    /// The size of every image.
    pub fn size(&self) -> ImageSize {
        self.size
    }

    /// What is to be predicted of each record.
    pub fn targets(&self) -> &Targets {
        &self.targets
    }

    /// The class of each record; none if something else is to be predicted.
    pub fn labels(&self) -> &[u16] {
        self.targets.classes()
    }

    pub(super) fn digest(&self, hash: &mut Sha256) {
        hash.update(&self.pixels);
    }

    /// The same records with others after them.
    pub(super) fn followed_by(mut self, others: &Self) -> Result<Self> {
        ensure!(
            others.disk.is_none(),
            "only records in memory can follow others"
        );
        ensure!(
            self.size == others.size && self.white == others.white,
            "images of another kind"
        );
        self.pixels.extend_from_slice(&others.pixels);
        self.targets.append(&others.targets)?;
        Ok(self)
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

impl PartlyOnDisk for Images {
    fn disk(&self) -> Option<&DiskRecords> {
        self.disk.as_ref()
    }

    fn in_memory(&self) -> Self {
        Self {
            disk: None,
            ..self.clone()
        }
    }

    fn of_chunk(&self, chunk: Chunk) -> Result<Self> {
        let pixels = chunk.values.bytes;
        Self::new(self.size, self.white, self.classes, pixels, chunk.targets)
    }

    fn with(self, others: &Self) -> Result<Self> {
        self.followed_by(others)
    }
}

impl Records for Images {
    type Batch = Labelled<Tensor<4>>;

    fn count(&self) -> usize {
        self.disk.as_ref().map_or(0, DiskRecords::count) + self.targets.len()
    }

    fn weight(&self, index: usize) -> f32 {
        match &self.disk {
            Some(disk) => partly_on_disk::weight(disk, index, &self.targets),
            None => self.targets.weight(index),
        }
    }

    fn read(
        &self,
        indices: &[usize],
        device: &Device,
    ) -> Result<ReadRecords<Self::Batch>, UnreadableRecords> {
        partly_on_disk::read(self, indices, device)
    }

    fn read_ahead(&self, next: &mut dyn FnMut() -> Vec<usize>) {
        if let Some(disk) = &self.disk {
            disk.read_ahead(next());
        }
    }

    fn units(&self) -> Option<&Units> {
        self.targets.people()
    }

    fn batch(&self, indices: &[usize], device: &Device) -> Self::Batch {
        if self.disk.is_some() {
            return partly_on_disk::batch(self, indices, device);
        }
        let values = self.size.values();
        let images = indices
            .iter()
            .map(|&index| &self.pixels[index * values..][..values]);
        Labelled {
            inputs: self.tensor(images, device),
            labels: self.targets.batch(indices, device),
        }
    }

    fn synthetic(&self, seeds: &[u64], device: &Device) -> Self::Batch {
        let levels = u64::from(self.white) + 1;
        let mut randoms: Vec<SplitMix> = seeds.iter().map(|&seed| SplitMix(seed)).collect();
        let image = |random: &mut SplitMix| -> Vec<u8> {
            let pixels = (0..self.size.values()).map(|_| random.below(levels) as u8);
            pixels.collect()
        };
        let images: Vec<Vec<u8>> = randoms.iter_mut().map(image).collect();
        Labelled {
            inputs: self.tensor(images.iter().map(Vec::as_slice), device),
            labels: self
                .targets
                .synthetic_batch(&mut randoms, self.classes, device),
        }
    }
}
