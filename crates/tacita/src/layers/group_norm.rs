//! Group normalisation: the usual replacement for batch normalisation, which mixes samples.

use super::affine;
use crate::gradient::Target;
use crate::tape;
use burn::module::{Module, Param};
use burn::nn;
use burn::tensor::{Tensor, module::layer_norm};

layer_config! {
    /// Configuration of a [`GroupNorm`] layer.
    GroupNormConfig(nn::GroupNormConfig) -> GroupNorm;
    new(num_groups: usize, num_channels: usize);
    with_epsilon(f64), with_affine(bool),
}

/// Group normalisation over channels; see [`nn::GroupNorm`].
#[derive(Module, Debug)]
pub struct GroupNorm {
    /// The learned scale, `[num_channels]`.
    pub gamma: Option<Param<Tensor<1>>>,
    /// The learned shift, `[num_channels]`.
    pub beta: Option<Param<Tensor<1>>>,
    /// Groups the channels are separated into.
    pub num_groups: usize,
    /// Channels of the input.
    pub num_channels: usize,
    /// A value required for numerical stability.
    pub epsilon: f64,
    /// Whether scale and shift are learned.
    pub affine: bool,
}

same_fields!(
    GroupNorm,
    nn::GroupNorm {
        gamma,
        beta,
        num_groups,
        num_channels,
        epsilon,
        affine
    }
);

impl GroupNorm {
    /// Normalises groups of channels.
    ///
    /// # Shapes
    /// - input and output: `[batch, num_channels, ...]`
    pub fn forward<const D: usize>(&self, input: Tensor<D>) -> Tensor<D> {
        let gamma = match &self.gamma {
            Some(gamma) if tape::is_recording() => gamma,
            _ => return nn::GroupNorm::from(self.clone()).forward(input),
        };
        let dims = input.dims();
        let (batch, channels) = (dims[0], self.num_channels);
        let positions = dims[2..].iter().product::<usize>();
        let (groups, epsilon) = (self.num_groups, self.epsilon);
        let normalise = move |input: Tensor<3>| {
            let length = channels / groups * positions;
            let ones = Tensor::ones([length], &input.device().without_autodiff());
            let rows = input.reshape([batch * groups, length]);
            layer_norm(rows, ones, None, epsilon).reshape([batch, channels, positions])
        };
        let input = input.reshape([batch, channels, positions]);
        let per_channel = |param: &Param<Tensor<1>>| param.val().inner().reshape([1, channels, 1]);
        let output = normalise(input.clone()) * per_channel(gamma);
        let (output, probe) = tape::probe(output, self.beta.as_ref().map(per_channel));
        let input = input.inner();
        affine::on_backward(
            probe,
            move || normalise(input),
            true,
            Target::of(gamma),
            self.beta.as_ref().map(Target::of),
        );
        output.reshape(dims)
    }
}
