//! Records of one step, as tensors.

use burn::tensor::{Int, Tensor};

/// Records with a class each.
#[derive(Debug, Clone)]
pub struct Labelled<Inputs> {
    /// `[batch, ...]`
    pub inputs: Inputs,
    /// `[batch]`
    pub labels: Tensor<1, Int>,
}
