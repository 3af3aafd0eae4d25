//! Softmax over the last dimension.

use super::{Derivative, Input, Values, apply};
use burn::tensor::Tensor;
use tacita_kernels::softmax;

#[derive(Debug, Clone)]
struct Softmax<const D: usize> {
    y: Values,
    shape: [usize; D],
    logarithm: bool,
}

impl<const D: usize> Derivative<1> for Softmax<D> {
    fn gradients(self, dy: Values, _: [bool; 1]) -> [Option<Values>; 1] {
        let width = self.shape[D - 1];
        let gradient = match self.logarithm {
            true => softmax::log_softmax_gradient,
            false => softmax::softmax_gradient,
        };
        let dx = gradient(self.y.slice(), dy.slice(), width);
        [Some(Values::new(dx, self.shape))]
    }
}

/// The softmax of the last dimension, or its logarithm.
pub(crate) fn softmax<const D: usize>(x: &Tensor<D>, logarithm: bool) -> Option<Tensor<D>> {
    let shape = x.dims();
    Some(apply([Input::of(x)?], |[x]| {
        let forward = match logarithm {
            true => softmax::log_softmax,
            false => softmax::softmax,
        };
        let y = Values::new(forward(x.slice(), shape[D - 1]), shape);
        let kept = Softmax {
            y: y.clone(),
            shape,
            logarithm,
        };
        (y, kept)
    }))
}
