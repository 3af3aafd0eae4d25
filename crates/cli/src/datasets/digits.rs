//! The embedded handwritten digits: 8 × 8 images of ten classes.
//!
//! E. Alpaydin and C. Kaynak, *Optical Recognition of Handwritten Digits*, UCI Machine Learning
//! Repository 1998, CC BY 4.0. See `data/README.md`.

use crate::models::Labelled;
use crate::random::SplitMix;
use anyhow::{Context, Result, ensure};
use burn::tensor::{Device, Int, Tensor, TensorData};
use flate2::read::ZlibDecoder;
use std::io::Read;
use std::ops::Range;
use tacita::Records;

const PACKED: &[u8] = include_bytes!("../../data/digits.zlib");
const TRAINING: usize = 3823;
const TEST: usize = 1797;
const PIXELS: usize = 64;

/// Images of handwritten digits, with their classes.
#[derive(Debug)]
pub struct Digits {
    /// 64 grey levels and a class for each record.
    records: Vec<[u8; PIXELS + 1]>,
}

impl Digits {
    /// Width and height of an image.
    pub const WIDTH: usize = 8;
    /// Grey levels run from 0 to this.
    pub const WHITE: u8 = 16;
    /// Number of classes.
    pub const CLASSES: usize = 10;

    /// The official training set, which `tacita train` treats as private.
    pub fn training() -> Result<Self> {
        Self::read(0..TRAINING)
    }

    /// The official test set, by other writers, which is public.
    pub fn test() -> Result<Self> {
        Self::read(TRAINING..TRAINING + TEST)
    }

    fn read(range: Range<usize>) -> Result<Self> {
        let mut bytes = Vec::new();
        ZlibDecoder::new(PACKED)
            .read_to_end(&mut bytes)
            .context("the embedded digits are damaged")?;
        let (records, rest) = bytes.as_chunks::<{ PIXELS + 1 }>();
        ensure!(
            rest.is_empty() && records.len() == TRAINING + TEST,
            "the embedded digits are damaged: {} bytes",
            bytes.len()
        );
        Ok(Self {
            records: records[range].to_vec(),
        })
    }
}

/// Images scaled to [0, 1], a bound that is public: no statistic of the data is used.
fn batch<'a>(
    records: impl ExactSizeIterator<Item = &'a [u8; PIXELS + 1]>,
    device: &Device,
) -> Labelled<Tensor<4>> {
    let count = records.len();
    let mut pixels = Vec::with_capacity(count * PIXELS);
    let mut labels = Vec::with_capacity(count);
    for record in records {
        pixels.extend(
            record[..PIXELS]
                .iter()
                .map(|&level| f32::from(level) / f32::from(Digits::WHITE)),
        );
        labels.push(i32::from(record[PIXELS]));
    }
    let shape = [count, 1, Digits::WIDTH, Digits::WIDTH];
    Labelled {
        inputs: Tensor::from_data(TensorData::new(pixels, shape), device),
        labels: Tensor::<1, Int>::from_data(TensorData::new(labels, [count]), device),
    }
}

impl Records for Digits {
    type Batch = Labelled<Tensor<4>>;

    fn count(&self) -> usize {
        self.records.len()
    }

    fn batch(&self, indices: &[usize], device: &Device) -> Self::Batch {
        batch(indices.iter().map(|&index| &self.records[index]), device)
    }

    fn synthetic(&self, seeds: &[u64], device: &Device) -> Self::Batch {
        let made_up: Vec<_> = seeds.iter().map(|&seed| synthetic(seed)).collect();
        batch(made_up.iter(), device)
    }
}

/// A record made of its seed alone.
fn synthetic(seed: u64) -> [u8; PIXELS + 1] {
    let mut random = SplitMix(seed);
    let mut record = [0; PIXELS + 1];
    record[..PIXELS].fill_with(|| random.below(u64::from(Digits::WHITE) + 1) as u8);
    record[PIXELS] = random.below(Digits::CLASSES as u64) as u8;
    record
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    /// Counts of the file `optdigits.names` that comes with the set.
    #[test]
    fn class_counts_are_those_the_authors_state() {
        let counts = |digits: Digits| {
            let mut counts = [0; 10];
            for record in digits.records {
                counts[usize::from(record[PIXELS])] += 1;
            }
            counts
        };
        let training = [376, 389, 380, 389, 387, 376, 377, 387, 380, 382];
        let test = [178, 182, 177, 183, 181, 182, 181, 179, 174, 180];
        assert_eq!(counts(Digits::training().unwrap()), training);
        assert_eq!(counts(Digits::test().unwrap()), test);
    }

    #[test]
    fn synthetic_records_ignore_the_data() {
        let device = Device::default();
        let made_up = |digits: &Digits| digits.synthetic(&[1, 2, 3], &device).inputs.into_data();
        let empty = Digits {
            records: Vec::new(),
        };
        let full = Digits::training().unwrap();
        assert_eq!(made_up(&empty), made_up(&full));
        let rows = made_up(&full).iter::<f32>().collect::<Vec<_>>();
        assert_ne!(rows[..PIXELS], rows[PIXELS..2 * PIXELS]);
    }
}
