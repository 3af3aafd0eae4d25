//! Layers made from named tensors.

use crate::adapter::Projection;
use crate::error::PretrainedError;
use crate::layout::Layout;
use crate::weights::Weights;
use burn::module::Param;
use burn::nn;
use burn::tensor::{Device, Tensor, TensorData};
use tacita::layers::{Embedding, LayerNorm, Linear};

/// Makes layers from weights on a device.
#[derive(Debug)]
pub struct Loader<'a> {
    /// The weights.
    pub weights: &'a mut Weights,
    /// The device.
    pub device: &'a Device,
}

impl Loader<'_> {
    /// A parameter as it lies in the file.
    pub fn parameter<const D: usize>(
        &mut self,
        name: &str,
        shape: [usize; D],
    ) -> Result<Param<Tensor<D>>, PretrainedError> {
        let values = self.weights.take(name, &shape)?;
        Ok(self.of(values, shape))
    }

    fn of<const D: usize>(&self, values: Vec<f32>, shape: [usize; D]) -> Param<Tensor<D>> {
        let tensor = Tensor::from_data(TensorData::new(values, shape), self.device);
        Param::from_tensor(tensor)
    }

    /// `NAME.weight` and, if there is one, `NAME.bias` of a linear layer.
    pub fn linear(
        &mut self,
        name: &str,
        [input, output]: [usize; 2],
        bias: bool,
        layout: Layout,
    ) -> Result<Linear, PretrainedError> {
        let weight = format!("{name}.weight");
        let weight = match layout {
            Layout::InputFirst => self.weights.take(&weight, &[input, output])?,
            Layout::OutputFirst => {
                transposed(&self.weights.take(&weight, &[output, input])?, input)
            }
        };
        let bias = match bias {
            true => Some(self.parameter(&format!("{name}.bias"), [output])?),
            false => None,
        };
        Ok(Linear {
            weight: self.of(weight, [input, output]),
            bias,
        })
    }

    /// The same as a layer that a low-rank adapter can be put on.
    pub fn projection(
        &mut self,
        name: &str,
        sizes: [usize; 2],
        bias: bool,
        layout: Layout,
    ) -> Result<Projection, PretrainedError> {
        Ok(self.linear(name, sizes, bias, layout)?.into())
    }

    /// `NAME.weight` of an embedding.
    pub fn embedding(
        &mut self,
        name: &str,
        rows: usize,
        width: usize,
    ) -> Result<Embedding, PretrainedError> {
        let weight = self.parameter(&format!("{name}.weight"), [rows, width])?;
        Ok(Embedding { weight })
    }

    /// `NAME.weight` and `NAME.bias` of a layer normalisation.
    pub fn layer_norm(
        &mut self,
        name: &str,
        width: usize,
        epsilon: f64,
    ) -> Result<LayerNorm, PretrainedError> {
        let mut stock = nn::LayerNormConfig::new(width).init(self.device);
        stock.gamma = self.parameter(&format!("{name}.weight"), [width])?;
        stock.beta = Some(self.parameter(&format!("{name}.bias"), [width])?);
        Ok(LayerNorm::from_stock(stock, epsilon))
    }
}

/// A matrix of so many columns, transposed.
pub(crate) fn transposed(values: &[f32], columns: usize) -> Vec<f32> {
    let rows = values.len() / columns.max(1);
    let mut turned = Vec::with_capacity(values.len());
    for column in 0..columns {
        turned.extend((0..rows).map(|row| values[row * columns + column]));
    }
    turned
}
