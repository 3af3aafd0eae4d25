//! The gates of recurrent layers, computed side by side.

use super::Linear;
use crate::sensitivity::gradient::Target;
use burn::module::{Module, Param};
use burn::nn::{self, Initializer};
use burn::tensor::Tensor;

/// A gate: one linear map of the input and one of the hidden state.
#[derive(Module, Debug)]
pub struct GateController {
    /// The map of the input.
    pub input_transform: Linear,
    /// The map of the hidden state.
    pub hidden_transform: Linear,
}

impl From<nn::GateController> for GateController {
    fn from(stock: nn::GateController) -> Self {
        Self {
            input_transform: stock.input_transform.into(),
            hidden_transform: stock.hidden_transform.into(),
        }
    }
}

impl From<GateController> for nn::GateController {
    fn from(gate: GateController) -> Self {
        Self {
            input_transform: gate.input_transform.into(),
            hidden_transform: gate.hidden_transform.into(),
        }
    }
}

impl GateController {
    pub(super) fn drawn(self, initializer: &Initializer) -> Self {
        Self {
            input_transform: self.input_transform.drawn_as_part(initializer),
            hidden_transform: self.hidden_transform.drawn_as_part(initializer),
        }
    }
}

/// Several linear maps of the same input as one matrix product.
pub(super) struct SideBySide {
    /// `[d_input, Σ d_output]`
    pub weight: Tensor<2>,
    /// `[Σ d_output]`
    pub bias: Option<Tensor<1>>,
    pub weights: Vec<Target>,
    pub biases: Vec<Target>,
}

impl SideBySide {
    pub fn new<'a>(maps: impl IntoIterator<Item = &'a Linear>) -> Self {
        let maps: Vec<_> = maps.into_iter().collect();
        let weights = maps.iter().map(|map| map.weight.val()).collect();
        let biases: Vec<&Param<Tensor<1>>> =
            maps.iter().filter_map(|map| map.bias.as_ref()).collect();
        let bias = (!biases.is_empty()).then(|| {
            let biases = biases.iter().map(|bias| bias.val()).collect();
            Tensor::cat(biases, 0)
        });
        Self {
            weight: Tensor::cat(weights, 1),
            bias,
            weights: maps.iter().map(|map| Target::of(&map.weight)).collect(),
            biases: biases.into_iter().map(Target::of).collect(),
        }
    }

    /// The same maps outside the graph.
    pub fn untracked(self) -> Self {
        Self {
            weight: self.weight.inner(),
            bias: self.bias.map(Tensor::inner),
            ..self
        }
    }
}

/// Splits the columns of side-by-side maps.
pub(super) fn column_blocks<const N: usize>(tensor: Tensor<2>) -> [Tensor<2>; N] {
    let width = tensor.dims()[1] / N;
    std::array::from_fn(|block| tensor.clone().narrow(1, block * width, width))
}

/// One position of a sequence, `[batch, features]`.
pub(super) fn position(sequence: &Tensor<3>, index: usize) -> Tensor<2> {
    sequence.clone().narrow(1, index, 1).squeeze_dim(1)
}

/// Positions in the order they were computed, as a sequence.
pub(super) fn sequence(steps: Vec<Tensor<2>>) -> Tensor<3> {
    Tensor::cat(
        steps
            .into_iter()
            .map(|step| step.unsqueeze_dim(1))
            .collect(),
        1,
    )
}
