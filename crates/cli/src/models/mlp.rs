//! Linear layers with an activation between them.

use super::loss::losses;
use burn::config::Config;
use burn::module::Module;
use burn::nn::Initializer;
use burn::nn::activation::{Activation, ActivationConfig};
use burn::tensor::{Device, Tensor};
use tacita::PrivateModel;
use tacita::layers::{Linear, LinearConfig};
use tacita::ops::activate;
use tacita_datasets::Labelled;

/// Configuration of an [`Mlp`].
#[derive(Config, Debug)]
pub struct MlpConfig {
    /// Width of the input, of each hidden layer, and the number of classes.
    pub widths: Vec<usize>,
    /// What follows every layer but the last.
    #[config(default = "ActivationConfig::Relu")]
    pub activation: ActivationConfig,
}

/// A multilayer perceptron.
#[derive(Module, Debug)]
pub struct Mlp {
    layers: Vec<Linear>,
    #[module(skip)]
    activation: Activation,
}

impl MlpConfig {
    /// The benchmark's model: 784, 256, 256, 10.
    pub fn benchmark() -> Self {
        Self::new(vec![784, 256, 256, 10])
    }

    /// The model, with newly initialised parameters. A single layer starts at zero: its loss has one minimum, so that
    /// chance at the start would only add to the noise.
    pub fn init(&self, device: &Device) -> Mlp {
        let is_single = self.widths.len() == 2;
        let layer = |pair: &[usize]| {
            let layer = LinearConfig::new(pair[0], pair[1]);
            let layer = match is_single {
                true => layer.with_initializer(Initializer::Zeros),
                false => layer,
            };
            layer.init(device)
        };
        Mlp {
            layers: self.widths.windows(2).map(layer).collect(),
            activation: self.activation.init(device),
        }
    }
}

impl Mlp {
    /// Scores the classes.
    ///
    /// # Shapes
    /// - rows: `[batch, width]`
    /// - result: `[batch, classes]`
    pub fn forward(&self, rows: Tensor<2>) -> Tensor<2> {
        let last = self.layers.len() - 1;
        let layers = self.layers.iter().enumerate();
        layers.fold(rows, |rows, (index, layer)| {
            let rows = layer.forward(rows);
            if index < last {
                activate(&self.activation, rows)
            } else {
                rows
            }
        })
    }
}

impl PrivateModel<Labelled<Tensor<2>>> for Mlp {
    fn losses(&self, batch: Labelled<Tensor<2>>) -> Tensor<1> {
        losses(self.forward(batch.inputs), batch.labels)
    }
}

impl PrivateModel<Labelled<Tensor<4>>> for Mlp {
    fn losses(&self, batch: Labelled<Tensor<4>>) -> Tensor<1> {
        losses(self.forward(batch.inputs.flatten(1, 3)), batch.labels)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_single_layer_starts_at_zero_and_others_do_not() {
        let device = Device::default().autodiff();
        let largest = |widths: Vec<usize>| {
            let model = MlpConfig::new(widths).init(&device);
            let layers = model.layers.iter();
            let weights = layers.flat_map(|layer| {
                let bias = layer.bias.iter().map(|bias| bias.val().into_data());
                let values = std::iter::once(layer.weight.val().into_data()).chain(bias);
                values.flat_map(|values| values.iter::<f32>().collect::<Vec<_>>())
            });
            weights.fold(0.0, |largest: f32, weight| largest.max(weight.abs()))
        };
        assert_eq!(largest(vec![5, 3]), 0.0);
        assert!(largest(vec![5, 4, 3]) > 0.0);
    }
}
