//! Root-mean-square normalisation.

use super::affine;
use crate::sensitivity::gradient::Target;
use crate::sensitivity::tape;
use burn::module::{Module, Param};
use burn::nn;
use burn::tensor::Tensor;

layer_config! {
    /// Configuration of an [`RmsNorm`] layer.
    RmsNormConfig(nn::RmsNormConfig) -> RmsNorm;
    new(d_model: usize);
    with_epsilon(f64),
}

/// Root-mean-square normalisation over the last dimension; see [`nn::RmsNorm`].
#[derive(Module, Debug)]
pub struct RmsNorm {
    /// The learned scale, `[d_model]`.
    pub gamma: Param<Tensor<1>>,
    /// A value required for numerical stability.
    pub epsilon: f64,
}

same_fields!(RmsNorm, nn::RmsNorm { gamma, epsilon });

impl RmsNorm {
    /// Normalises the last dimension.
    ///
    /// # Shapes
    /// - input and output: `[batch, ..., d_model]`
    pub fn forward<const D: usize>(&self, input: Tensor<D>) -> Tensor<D> {
        if !tape::is_recording() || D == 1 || !self.gamma.is_require_grad() {
            return nn::RmsNorm::from(self.clone()).forward(input);
        }
        let dims = input.dims();
        let features = dims[D - 1];
        let positions = dims[1..D - 1].iter().product::<usize>();
        let input = input.reshape([dims[0], positions, features]);
        let mean_square = input.clone().square().mean_dim(2);
        let normal = input / (mean_square + self.epsilon).sqrt();
        let output = normal.clone() * self.gamma.val().inner().unsqueeze();
        let (output, probe) = tape::probe(output, None);
        affine::on_backward(probe, normal.inner(), false, Target::of(&self.gamma), None);
        output.reshape(dims)
    }
}
