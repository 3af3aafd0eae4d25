//! Functions of each value, and their derivatives, in one launch each.

// `erf` is of CubeCL here; Rust may have one some day.
#![allow(unstable_name_collisions)]

use super::{cubes, empty_like, in_one_order, input};
use crate::compute::backend::function::Function;
use crate::compute::backend::graph::{Derivative, apply};
use burn::backend::Cuda;
use burn::backend::tensor::FloatTensor;
use burn::cubecl::{self, prelude::*};
use burn::tensor::Tensor;

/// The output, from which most derivatives are cheapest; for GELU the input.
#[derive(Debug, Clone)]
struct Kept {
    function: Function,
    values: FloatTensor<Cuda>,
}

impl Derivative<Cuda, 1> for Kept {
    fn gradients(self, dy: FloatTensor<Cuda>, _: [bool; 1]) -> [Option<FloatTensor<Cuda>>; 1] {
        let [kept, dy] = in_one_order([self.values, dy]);
        let dx = empty_like(&dy);
        let (count, dim) = cubes(dx.meta.num_elements());
        derivative_kernel::launch(
            &dx.client,
            count,
            dim,
            kept.into_buffer_arg(),
            dy.into_buffer_arg(),
            dx.clone().into_buffer_arg(),
            self.function,
        );
        [Some(dx)]
    }
}

/// The function of each value, if a CUDA GPU holds them.
pub(crate) fn activate<const D: usize>(x: &Tensor<D>, function: Function) -> Option<Tensor<D>> {
    let input = input(x)?;
    Some(apply([input], |[x]| {
        let [x] = in_one_order([x]);
        let y = empty_like(&x);
        let (count, dim) = cubes(y.meta.num_elements());
        function_kernel::launch(
            &y.client,
            count,
            dim,
            x.clone().into_buffer_arg(),
            y.clone().into_buffer_arg(),
            function,
        );
        let values = match function {
            Function::Gelu => x,
            _ => y.clone(),
        };
        (y, Kept { function, values })
    }))
}

#[cube(launch)]
fn function_kernel(x: &[f32], y: &mut [f32], #[comptime] function: Function) {
    if ABSOLUTE_POS < y.len() {
        let x = x[ABSOLUTE_POS];
        y[ABSOLUTE_POS] = match function {
            // Not `max`, which turns NaN into 0.
            Function::Relu => select(x <= 0.0f32, 0.0f32, x),
            Function::Tanh => x.tanh(),
            Function::Sigmoid => 1.0f32 / (1.0f32 + (-x).exp()),
            Function::Gelu => 0.5f32 * x * (1.0f32 + (x * 0.70710677f32).erf()),
        };
    }
}

#[cube(launch)]
fn derivative_kernel(kept: &[f32], dy: &[f32], dx: &mut [f32], #[comptime] function: Function) {
    if ABSOLUTE_POS < dx.len() {
        let kept = kept[ABSOLUTE_POS];
        let dy = dy[ABSOLUTE_POS];
        dx[ABSOLUTE_POS] = match function {
            Function::Relu => select(kept <= 0.0f32, 0.0f32, dy),
            Function::Tanh => dy * (1.0f32 - kept * kept),
            Function::Sigmoid => dy * kept * (1.0f32 - kept),
            // Φ(x) + x φ(x).
            Function::Gelu => {
                let below = 0.5f32 * (1.0f32 + (kept * 0.70710677f32).erf());
                let density = 0.3989423f32 * (-0.5f32 * kept * kept).exp();
                dy * (below + kept * density)
            }
        };
    }
}
