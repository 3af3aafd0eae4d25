//! Linear layers with an activation between them.

use super::loss::losses;
use burn::config::Config;
use burn::module::Module;
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

    /// The model, with newly initialised parameters.
    pub fn init(&self, device: &Device) -> Mlp {
        let layer = |pair: &[usize]| LinearConfig::new(pair[0], pair[1]).init(device);
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
