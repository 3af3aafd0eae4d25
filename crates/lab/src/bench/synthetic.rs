//! Synthetic data sets of the right shape, held ready so that no step loads data.

use burn::tensor::{Device, Int, Tensor, TensorData};
use tacita::Records;
use tacita_datasets::Labelled;
use tacita_datasets::random::SplitMix;

/// Records made of seeds, all in one batch.
pub struct Synthetic<B> {
    make: fn(&[u64], &Device) -> B,
    all: B,
    count: usize,
}

/// A batch from which records can be taken.
pub trait Take: Clone {
    /// The records at the given positions.
    fn take(&self, indices: Tensor<1, Int>) -> Self;
}

impl<B> Synthetic<B> {
    /// So many records, on the device.
    pub fn new(make: fn(&[u64], &Device) -> B, count: usize, device: &Device) -> Self {
        let seeds: Vec<u64> = (0..count as u64).collect();
        Self {
            make,
            all: make(&seeds, device),
            count,
        }
    }
}

impl<B: Take> Records for Synthetic<B> {
    type Batch = B;

    fn count(&self) -> usize {
        self.count
    }

    fn batch(&self, indices: &[usize], device: &Device) -> B {
        if indices.iter().copied().eq(0..self.count) {
            return self.all.clone();
        }
        let indices: Vec<i64> = indices.iter().map(|&index| index as i64).collect();
        self.all.take(Tensor::from_data(indices.as_slice(), device))
    }

    fn synthetic(&self, seeds: &[u64], device: &Device) -> B {
        (self.make)(seeds, device)
    }
}

impl<const D: usize> Take for Labelled<Tensor<D>> {
    fn take(&self, indices: Tensor<1, Int>) -> Self {
        Self {
            inputs: self.inputs.clone().select(0, indices.clone()),
            labels: self.labels.clone().select(0, indices),
        }
    }
}

impl Take for Labelled<Tensor<2, Int>> {
    fn take(&self, indices: Tensor<1, Int>) -> Self {
        Self {
            inputs: self.inputs.clone().select(0, indices.clone()),
            labels: self.labels.clone().select(0, indices),
        }
    }
}

/// Values and a class for each seed.
fn records<T>(
    seeds: &[u64],
    values: usize,
    classes: u64,
    mut value: impl FnMut(&mut SplitMix) -> T,
) -> (Vec<T>, TensorData) {
    let mut inputs = Vec::with_capacity(seeds.len() * values);
    let mut labels = Vec::with_capacity(seeds.len());
    for &seed in seeds {
        let mut random = SplitMix(seed);
        inputs.extend((0..values).map(|_| value(&mut random)));
        labels.push(random.below(classes) as i32);
    }
    (inputs, TensorData::new(labels, [seeds.len()]))
}

/// Rows of a table, ten classes.
pub fn rows<const WIDTH: usize>(seeds: &[u64], device: &Device) -> Labelled<Tensor<2>> {
    let (inputs, labels) = records(seeds, WIDTH, 10, SplitMix::standard);
    Labelled {
        inputs: Tensor::from_data(TensorData::new(inputs, [seeds.len(), WIDTH]), device),
        labels: Tensor::from_data(labels, device),
    }
}

/// Square images, ten classes.
pub fn images<const CHANNELS: usize, const WIDTH: usize>(
    seeds: &[u64],
    device: &Device,
) -> Labelled<Tensor<4>> {
    let (inputs, labels) = records(seeds, CHANNELS * WIDTH * WIDTH, 10, SplitMix::standard);
    let shape = [seeds.len(), CHANNELS, WIDTH, WIDTH];
    Labelled {
        inputs: Tensor::from_data(TensorData::new(inputs, shape), device),
        labels: Tensor::from_data(labels, device),
    }
}

/// Sequences of tokens.
pub fn tokens<const LENGTH: usize, const VOCABULARY: u64, const CLASSES: u64>(
    seeds: &[u64],
    device: &Device,
) -> Labelled<Tensor<2, Int>> {
    let token = |random: &mut SplitMix| 1 + random.below(VOCABULARY - 1) as i32;
    let (inputs, labels) = records(seeds, LENGTH, CLASSES, token);
    Labelled {
        inputs: Tensor::from_data(TensorData::new(inputs, [seeds.len(), LENGTH]), device),
        labels: Tensor::from_data(labels, device),
    }
}
