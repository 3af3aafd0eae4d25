//! A linear layer that a low-rank adapter can be put on.

use burn::module::Module;
use burn::nn::Initializer;
use burn::tensor::{Device, Tensor};
use tacita::layers::{Linear, LinearConfig};

/// A linear layer, and beside it a low-rank adapter if there is one: y = x W + b + scale · (x A) B.
#[derive(Module, Debug)]
pub struct Projection {
    /// The layer as it was trained before.
    pub base: Linear,
    /// What is added to it.
    pub low_rank: Option<LowRank>,
}

/// A low-rank adapter (Hu et al. 2021, arXiv:2106.09685, §4.1).
#[derive(Module, Debug)]
pub struct LowRank {
    /// A, to as many numbers as the rank.
    pub down: Linear,
    /// B, which begins at zero, so that the network begins as it was.
    pub up: Linear,
    /// What the product is multiplied by.
    pub scale: f64,
}

impl From<Linear> for Projection {
    fn from(base: Linear) -> Self {
        Self {
            base,
            low_rank: None,
        }
    }
}

impl LowRank {
    /// The rank.
    pub fn rank(&self) -> usize {
        self.down.weight.lazy_shape().dims::<2>()[1]
    }
}

impl Projection {
    /// Puts a new adapter on the layer.
    pub fn adapt(&mut self, rank: usize, scale: f64, device: &Device) {
        let [input, output] = self.base.weight.lazy_shape().dims();
        // As PEFT has it: Kaiming's uniform distribution with a = √5, which is U(−1/√input, 1/√input).
        let bound = 1.0 / (input as f64).sqrt();
        let uniform = Initializer::Uniform {
            min: -bound,
            max: bound,
        };
        let down = LinearConfig::new(input, rank).with_bias(false);
        let up = LinearConfig::new(rank, output).with_bias(false);
        self.low_rank = Some(LowRank {
            down: down.with_initializer(uniform).init(device),
            up: up.with_initializer(Initializer::Zeros).init(device),
            scale,
        });
    }

    /// Applies the layer to the last dimension.
    ///
    /// # Shapes
    /// - input: `[batch, ..., input]`
    /// - output: `[batch, ..., output]`
    pub fn forward<const D: usize>(&self, input: Tensor<D>) -> Tensor<D> {
        let Some(low_rank) = &self.low_rank else {
            return self.base.forward(input);
        };
        let low = low_rank.down.forward(input.clone());
        let added = low_rank.up.forward(low.mul_scalar(low_rank.scale));
        self.base.forward(input) + added
    }
}
