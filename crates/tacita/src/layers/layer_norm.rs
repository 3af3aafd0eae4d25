//! Layer normalisation.

use super::affine;
use crate::gradient::Target;
use crate::tape;
use burn::module::{Module, Param};
use burn::nn;
use burn::tensor::{Tensor, module::layer_norm};

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
        if !tape::is_recording() || D == 1 {
            let beta = self.beta.as_ref().map(Param::val);
            return layer_norm(input, self.gamma.val(), beta, self.epsilon);
        }
        let dims = input.dims();
        let features = dims[D - 1];
        let positions = dims[1..D - 1].iter().product::<usize>();
        let input = input.reshape([dims[0], positions, features]);
        let output = layer_norm(input.clone(), self.gamma.val().inner(), None, self.epsilon);
        let beta = self.beta.as_ref();
        let (output, probe) = tape::probe(output, beta.map(|beta| beta.val().unsqueeze()));

        let (input, epsilon) = (input.inner(), self.epsilon);
        let normalised = move || {
            let ones = Tensor::ones([features], &input.device());
            layer_norm(input, ones, None, epsilon)
        };
        affine::on_backward(
            probe,
            normalised,
            false,
            Target::of(&self.gamma),
            beta.map(Target::of),
        );
        output.reshape(dims)
    }
}
