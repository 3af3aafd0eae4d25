//! A bias for each column, whose gradient is a sum over rows by the whole GPU.

use super::{cubes, empty_like, input, sums};
use crate::compute::backend::graph::{Derivative, apply};
use burn::backend::Cuda;
use burn::backend::tensor::FloatTensor;
use burn::cubecl::{self, prelude::*};
use burn::tensor::Tensor;
use burn_cubecl::kernel::into_contiguous;

#[derive(Debug, Clone)]
struct Added {
    dims: [usize; 2],
}

impl Derivative<Cuda, 2> for Added {
    fn gradients(self, dy: FloatTensor<Cuda>, wanted: [bool; 2]) -> [Option<FloatTensor<Cuda>>; 2] {
        [
            wanted[0].then(|| dy.clone()),
            wanted[1].then(|| sums::rows(into_contiguous(dy), self.dims)),
        ]
    }
}

/// `output + bias` for each row, if a CUDA GPU holds both.
pub(super) fn add(output: Tensor<2>, bias: &Tensor<1>) -> Option<Tensor<2>> {
    let dims = output.dims();
    let inputs = [input(&output)?, input(bias)?];
    Some(apply(inputs, |[output, bias]| {
        let output = into_contiguous(output);
        let sum = empty_like(&output);
        let (count, dim) = cubes(dims[0] * dims[1]);
        add_kernel::launch(
            &sum.client,
            count,
            dim,
            output.into_buffer_arg(),
            into_contiguous(bias).into_buffer_arg(),
            sum.clone().into_buffer_arg(),
            dims[1] as u32,
        );
        (sum, Added { dims })
    }))
}

#[cube(launch)]
fn add_kernel(output: &[f32], bias: &[f32], sum: &mut [f32], width: u32) {
    if ABSOLUTE_POS < sum.len() {
        let column = ABSOLUTE_POS % width as usize;
        sum[ABSOLUTE_POS] = output[ABSOLUTE_POS] + bias[column];
    }
}
