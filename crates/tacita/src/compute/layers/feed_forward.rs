//! The feed-forward part of a transformer layer.

use super::{Dropout, Linear};
use crate::compute::backend::ops;
use burn::module::Module;
use burn::nn::Initializer;
use burn::nn::activation::{Activation, ActivationConfig};
use burn::nn::transformer::{
    PositionWiseFeedForward as Stock, PositionWiseFeedForwardConfig as Config,
};
use burn::tensor::Tensor;

layer_config! {
    /// Configuration of a [`PositionWiseFeedForward`] layer.
    PositionWiseFeedForwardConfig(Config) => PositionWiseFeedForward;
    new(d_model: usize, d_ff: usize);
    with_dropout(f64), with_initializer(Initializer), with_activation(ActivationConfig),
}

/// Two linear layers around an activation; see [`Stock`].
#[derive(Module, Debug)]
pub struct PositionWiseFeedForward {
    /// Maps `d_model` to `d_ff`.
    pub linear_inner: Linear,
    /// Maps `d_ff` to `d_model`.
    pub linear_outer: Linear,
    /// Dropout between them.
    pub dropout: Dropout,
    /// Activation between them.
    #[module(skip)]
    pub activation: Activation,
}

same_fields!(PositionWiseFeedForward, Stock { activation; dropout, linear_inner, linear_outer });

impl PositionWiseFeedForward {
    fn drawn(self, config: &Config) -> Self {
        Self {
            linear_inner: self.linear_inner.drawn_as_part(&config.initializer),
            linear_outer: self.linear_outer.drawn_as_part(&config.initializer),
            ..self
        }
    }

    /// Applies both layers to the last dimension.
    ///
    /// # Shapes
    /// - input and output: `[batch, ..., d_model]`
    pub fn forward<const D: usize>(&self, input: Tensor<D>) -> Tensor<D> {
        let inner = ops::activate(&self.activation, self.linear_inner.forward(input));
        self.linear_outer.forward(self.dropout.forward(inner))
    }
}
