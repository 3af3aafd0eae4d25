//! Deterministic random tensors.

use burn::tensor::{Device, Int, Tensor, TensorData};

pub fn device() -> Device {
    Device::default()
}

/// SplitMix64: the values depend on the seed only, whatever runs beside.
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub fn uniform(&mut self) -> f32 {
        (self.next() >> 40) as f32 / (1u64 << 24) as f32
    }

    pub fn tensor<const D: usize>(&mut self, shape: [usize; D]) -> Tensor<D> {
        let count = shape.iter().product();
        let values: Vec<f32> = (0..count).map(|_| 2.0 * self.uniform() - 1.0).collect();
        Tensor::from_data(TensorData::new(values, shape), &device())
    }

    pub fn tokens<const D: usize>(&mut self, shape: [usize; D], below: u64) -> Tensor<D, Int> {
        let count = shape.iter().product();
        let values: Vec<i64> = (0..count).map(|_| (self.next() % below) as i64).collect();
        Tensor::from_data(TensorData::new(values, shape), &device())
    }
}

/// A loss per sample that gives every output its own gradient.
pub fn loss<const D: usize>(output: Tensor<D>) -> Tensor<1> {
    let batch = output.dims()[0];
    let elements = output.dims()[1..].iter().product::<usize>();
    let output = output.reshape([batch, elements]);
    let weights = Random(elements as u64).tensor([1, elements]);
    ((output.clone() * weights.clone()).sin() + output * weights)
        .sum_dim(1)
        .reshape([batch])
}

/// Samples of a batch.
pub fn samples<const D: usize>(batch: &Tensor<D>, range: std::ops::Range<usize>) -> Tensor<D> {
    batch.clone().narrow(0, range.start, range.len())
}
