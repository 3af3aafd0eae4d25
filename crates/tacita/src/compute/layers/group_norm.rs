//! Group normalisation: the usual replacement for batch normalisation, which mixes samples.

use super::affine;
use crate::compute::backend::ops;
use crate::sensitivity::gradient::Target;
use crate::sensitivity::tape;
use burn::module::{Module, Param};
use burn::nn;
use burn::tensor::Tensor;

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
        let dims = input.dims();
        let (batch, channels) = (dims[0], self.num_channels);
        let positions = dims[2..].iter().product::<usize>();
        let rows = [
            batch * self.num_groups,
            channels / self.num_groups * positions,
        ];
        let normal = ops::normalise(input.reshape(rows), self.epsilon);
        let normal = normal.reshape([batch, channels, positions]);
        let Some(gamma) = &self.gamma else {
            return normal.reshape(dims);
        };
        let beta = self.beta.as_ref();
        if !tape::is_recording() {
            return ops::affine(normal, gamma.val(), beta.map(Param::val)).reshape(dims);
        }
        let values = beta.map(|beta| beta.val().inner());
        let output = ops::affine(normal.clone(), gamma.val().inner(), values);
        let (output, probe) = tape::probe(output, None);
        affine::on_backward(
            probe,
            normal.inner(),
            true,
            Target::of(gamma),
            beta.map(Target::of),
        );
        output.reshape(dims)
    }
}
