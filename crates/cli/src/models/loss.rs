//! The loss of each record, by what is to be predicted.

use burn::tensor::{Int, Tensor};
use tacita::ops::log_softmax;
use tacita_datasets::{Labels, NumberLoss};

/// A model that says nothing answers the middle of the range.
pub const MIDDLE: f64 = 0.5;
/// How far its last value moves a number, in units of the range. Automatic clipping makes steps of one length, which at
/// the rates that classes need would jump across the range and back.
pub const STEP: f64 = 0.03;
/// Where Huber's loss becomes linear, in units of the range.
const HUBER: f32 = 0.1;

/// The loss of each record: cross-entropy of classes, squared error or Huber's of a number, and of several labels the
/// sum of each one's binary cross-entropy (Bu et al. 2023, Appendix J).
///
/// # Shapes
/// - outputs: `[batch, classes]`, `[batch, 1]` or `[batch, labels]`; result: `[batch]`
pub fn losses(outputs: Tensor<2>, labels: impl Into<Labels>) -> Tensor<1> {
    match labels.into() {
        Labels::Classes(classes) => cross_entropy(outputs, classes),
        Labels::Numbers(numbers, loss) => {
            let [batch, _] = outputs.dims();
            let errors = outputs.reshape([batch]) * STEP + MIDDLE - numbers;
            match loss {
                NumberLoss::Squared => errors.square() * 0.5,
                NumberLoss::Huber => {
                    let size = errors.abs();
                    // e²/2 up to δ, δ(|e| − δ/2) beyond: with m = min(|e|, δ) it is m(|e| − m/2).
                    let near = size.clone().clamp_max(HUBER);
                    near.clone() * (size - near * 0.5)
                }
            }
        }
        Labels::Sets(sets) => {
            let [batch, _] = outputs.dims();
            // ln(1 + eˣ) − x·y, without overflow.
            let tail = outputs.clone().abs().neg().exp().log1p();
            let each = outputs.clone().clamp_min(0.0) + tail - outputs * sets;
            each.sum_dim(1).reshape([batch])
        }
    }
}

fn cross_entropy(logits: Tensor<2>, labels: Tensor<1, Int>) -> Tensor<1> {
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
