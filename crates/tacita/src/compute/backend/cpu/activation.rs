//! Functions of each value.

use super::{Derivative, Input, Values, apply};
use crate::compute::backend::function::Function;
use burn::tensor::Tensor;
use tacita_kernels::activation;

/// The output, from which most derivatives are cheapest; for GELU the input.
#[derive(Debug, Clone)]
struct Kept {
    function: Function,
    values: Values,
}

impl<const D: usize> Derivative<1> for (Kept, [usize; D]) {
    fn gradients(self, dy: Values, _: [bool; 1]) -> [Option<Values>; 1] {
        let (Kept { function, values }, shape) = self;
        let (kept, dy) = (values.slice(), dy.slice());
        let dx = match function {
            Function::Relu => activation::relu_gradient(kept, dy),
            Function::Tanh => activation::tanh_gradient(kept, dy),
            Function::Sigmoid => activation::sigmoid_gradient(kept, dy),
            Function::Gelu => activation::gelu_gradient(kept, dy),
        };
        [Some(Values::new(dx, shape))]
    }
}

/// The function of each value.
pub(crate) fn activate<const D: usize>(x: &Tensor<D>, function: Function) -> Option<Tensor<D>> {
    let shape = x.dims();
    Some(apply([Input::of(x)?], |[x]| {
        let of = match function {
            Function::Relu => activation::relu,
            Function::Tanh => activation::tanh,
            Function::Sigmoid => activation::sigmoid,
            Function::Gelu => activation::gelu,
        };
        let y = Values::new(of(x.slice()), shape);
        let values = match function {
            Function::Gelu => x,
            _ => y.clone(),
        };
        (y, (Kept { function, values }, shape))
    }))
}
