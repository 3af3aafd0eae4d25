//! The loss of each record.

use burn::tensor::{Int, Tensor};
use tacita::ops::log_softmax;

/// The cross-entropy of each record.
///
/// # Shapes
/// - logits: `[batch, classes]`; labels and result: `[batch]`
pub fn cross_entropy(logits: Tensor<2>, labels: Tensor<1, Int>) -> Tensor<1> {
    let [batch, _] = logits.dims();
    let picked = log_softmax(logits).gather(1, labels.reshape([batch, 1]));
    picked.reshape([batch]).neg()
}

/// The squared error of each record, averaged over its values.
///
/// # Shapes
/// - output and target: `[batch, ...]`; result: `[batch]`
pub fn mean_squared_error<const D: usize>(output: Tensor<D>, target: Tensor<D>) -> Tensor<1> {
    let dims = output.dims();
    let values = dims[1..].iter().product::<usize>();
    let squares = (output - target).square().reshape([dims[0], values]);
    squares.mean_dim(1).reshape([dims[0]])
}
