//! The point at which the graph yields an output gradient, without a pass over the output.

use super::operation::apply_to_tensors;
use super::{Derivative, Input, Values};
use burn::tensor::Tensor;

/// Both the output and the leaf have the output's gradient.
#[derive(Debug, Clone)]
struct SameGradient;

impl Derivative<2> for SameGradient {
    fn gradients(self, output_gradient: Values, wanted: [bool; 2]) -> [Option<Values>; 2] {
        wanted.map(|wanted| wanted.then(|| output_gradient.clone()))
    }
}

/// `y` as it is, with `leaf` receiving its gradient. The leaf's values are not looked at.
pub(crate) fn probe<const D: usize>(y: &Tensor<D>, leaf: &Tensor<D>) -> Option<Tensor<D>> {
    let inputs = [Input::of(y)?, Input::of(leaf)?];
    Some(apply_to_tensors(inputs, |[y, _]| (y, SameGradient)))
}
