//! A small model with ordinary records and canaries of gradient space, each with a coordinate of its own.

use burn::module::Module;
use burn::tensor::{Device, Int, Tensor, TensorData};
use tacita::layers::{Embedding, EmbeddingConfig, Linear, LinearConfig};
use tacita::ops::log_softmax;
use tacita::{PrivateModel, Records};
use tacita_datasets::random::SplitMix;

/// Numbers that describe an ordinary record.
const INPUTS: usize = 8;
/// What the loss of a canary is multiplied by, so that its gradient is longer than the threshold.
const STRENGTH: f64 = 10.0;

/// A linear classifier, and a number for each canary, whose loss is that number.
#[derive(Module, Debug)]
pub struct Witness {
    linear: Linear,
    /// Row 0 is that of the ordinary records, which have no gradient there.
    pub own: Embedding,
}

impl Witness {
    /// A model with so many canaries.
    pub fn new(canaries: usize) -> Self {
        let device = Device::flex().autodiff();
        Self {
            linear: LinearConfig::new(INPUTS, 2).init(&device),
            own: EmbeddingConfig::new(canaries + 1, 1).init(&device),
        }
    }
}

/// What the model learns about some records.
#[derive(Debug, Clone)]
pub struct Batch {
    inputs: Tensor<2>,
    classes: Tensor<2, Int>,
    number: Tensor<2, Int>,
    is_canary: Tensor<1>,
}

impl PrivateModel<Batch> for Witness {
    fn losses(&self, batch: Batch) -> Tensor<1> {
        let [count, _] = batch.inputs.dims();
        let scores = log_softmax(self.linear.forward(batch.inputs));
        let ordinary = scores.gather(1, batch.classes).reshape([count]).neg();
        let own = self.own.forward(batch.number).reshape([count]) * STRENGTH;
        let is = batch.is_canary;
        own * is.clone() + ordinary * (is.neg() + 1.0)
    }
}

/// Ordinary records, and behind them the canaries that are in.
#[derive(Debug, Clone)]
pub struct Mixed {
    /// How many ordinary records.
    pub ordinary: usize,
    /// Numbers of the canaries that are in.
    pub inside: Vec<usize>,
    /// All canaries.
    pub canaries: usize,
}

impl Mixed {
    fn of(&self, records: impl Iterator<Item = (u64, Option<usize>)>, device: &Device) -> Batch {
        let (mut inputs, mut classes) = (Vec::new(), Vec::new());
        let (mut numbers, mut is_canary) = (Vec::new(), Vec::new());
        for (seed, canary) in records {
            let mut random = SplitMix(seed);
            let values: Vec<f32> = (0..INPUTS).map(|_| random.standard()).collect();
            classes.push(i64::from(values[0] + values[1] > 0.0));
            inputs.extend(values);
            numbers.push(canary.map_or(0, |canary| canary as i64 + 1));
            is_canary.push(f32::from(u8::from(canary.is_some())));
        }
        let count = numbers.len();
        Batch {
            inputs: Tensor::from_data(TensorData::new(inputs, [count, INPUTS]), device),
            classes: Tensor::from_data(TensorData::new(classes, [count, 1]), device),
            number: Tensor::from_data(TensorData::new(numbers, [count, 1]), device),
            is_canary: Tensor::from_data(TensorData::new(is_canary, [count]), device),
        }
    }
}

impl Records for Mixed {
    type Batch = Batch;

    fn count(&self) -> usize {
        self.ordinary + self.inside.len()
    }

    fn batch(&self, indices: &[usize], device: &Device) -> Batch {
        let record = |index: &usize| {
            let canary = index.checked_sub(self.ordinary).map(|at| self.inside[at]);
            (*index as u64, canary)
        };
        self.of(indices.iter().map(record), device)
    }

    fn synthetic(&self, seeds: &[u64], device: &Device) -> Batch {
        let record = |seed: &u64| {
            let canary = seed
                .is_multiple_of(2)
                .then_some((*seed / 2) as usize % self.canaries);
            (*seed, canary)
        };
        self.of(seeds.iter().map(record), device)
    }
}
