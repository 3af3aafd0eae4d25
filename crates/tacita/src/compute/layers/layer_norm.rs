//! Layer normalisation.

use super::affine;
use crate::compute::backend::ops;
use crate::sensitivity::gradient::Target;
use crate::sensitivity::tape;
use burn::module::{Module, Param};
use burn::nn;
use burn::tensor::Tensor;

layer_config! {
    /// Configuration of a [`LayerNorm`] layer.
    LayerNormConfig(nn::LayerNormConfig);
    new(d_model: usize);
    with_epsilon(f64), with_bias(bool),
}

/// Layer normalisation over the last dimension; see [`nn::LayerNorm`].
#[derive(Module, Debug)]
pub struct LayerNorm {
    /// The learned scale, `[d_model]`.
    pub gamma: Param<Tensor<1>>,
    /// The learned shift, `[d_model]`.
    pub beta: Option<Param<Tensor<1>>>,
    epsilon: f64,
}

impl LayerNormConfig {
    /// The layer, with scale 1 and shift 0.
    pub fn init(&self, device: &burn::tensor::Device) -> LayerNorm {
        LayerNorm::from_stock(self.0.init(device), self.epsilon)
    }
}

impl From<LayerNorm> for nn::LayerNorm {
    fn from(layer: LayerNorm) -> Self {
        let mut stock = nn::LayerNormConfig::new(layer.gamma.lazy_shape()[0])
            .with_epsilon(layer.epsilon)
            .init(&layer.gamma.lazy_device());
        stock.gamma = layer.gamma;
        stock.beta = layer.beta;
        stock
    }
}

impl LayerNorm {
    /// Burn's layer, made private. Burn does not show a layer's epsilon, so it is given again.
    pub fn from_stock(stock: nn::LayerNorm, epsilon: f64) -> Self {
        Self {
            gamma: stock.gamma,
            beta: stock.beta,
            epsilon,
        }
    }

    /// Normalises the last dimension.
    ///
    /// # Shapes
    /// - input and output: `[batch, ..., d_model]`
    pub fn forward<const D: usize>(&self, input: Tensor<D>) -> Tensor<D> {
        let dims = input.dims();
        let features = dims[D - 1];
        let rows = dims[..D - 1].iter().product::<usize>();
        let normal = ops::normalise(input.reshape([rows, features]), self.epsilon);
        let scaled = normal.clone().reshape([rows, features, 1]);
        let beta = self.beta.as_ref();
        let is_frozen =
            !self.gamma.is_require_grad() && !beta.is_some_and(|beta| beta.is_require_grad());
        if !tape::is_recording() || D == 1 || is_frozen {
            let beta = beta.map(Param::val);
            return ops::affine(scaled, self.gamma.val(), beta).reshape(dims);
        }
        let values = beta.map(|beta| beta.val().inner());
        let output = ops::affine(scaled, self.gamma.val().inner(), values);
        let shape = [dims[0], rows / dims[0].max(1), features];
        let (output, probe) = tape::probe(output.reshape(shape), None);
        affine::on_backward(
            probe,
            normal.inner().reshape(shape),
            false,
            Target::of(&self.gamma),
            beta.map(Target::of),
        );
        output.reshape(dims)
    }
}
