//! Rows brought to mean 0 and variance 1: one cube a row.

#![allow(clippy::assign_op_pattern)]

use super::cube::sum_in_cube;
use super::{THREADS, cube_per_row, empty, empty_like, input};
use crate::compute::backend::graph::{Derivative, apply};
use burn::backend::Cuda;
use burn::backend::tensor::FloatTensor;
use burn::cubecl::{self, prelude::*};
use burn::tensor::Tensor;
use burn_cubecl::kernel::into_contiguous;

#[derive(Debug, Clone)]
struct Normalised {
    y: FloatTensor<Cuda>,
    inverse_deviations: FloatTensor<Cuda>,
}

impl Derivative<Cuda, 1> for Normalised {
    fn gradients(self, dy: FloatTensor<Cuda>, _: [bool; 1]) -> [Option<FloatTensor<Cuda>>; 1] {
        let dy = into_contiguous(dy);
        let dx = empty_like(&dy);
        let (count, dim, width) = cube_per_row(&dx);
        gradient_kernel::launch(
            &dx.client,
            count,
            dim,
            self.y.into_buffer_arg(),
            self.inverse_deviations.into_buffer_arg(),
            dy.into_buffer_arg(),
            dx.clone().into_buffer_arg(),
            width,
        );
        [Some(dx)]
    }
}

/// (x − mean) / √(variance + ε) of each row, if a CUDA GPU holds them.
pub(crate) fn normalise(x: &Tensor<2>, epsilon: f64) -> Option<Tensor<2>> {
    let batch = x.dims()[0];
    let input = input(x)?;
    Some(apply([input], |[x]| {
        let x = into_contiguous(x);
        let y = empty_like(&x);
        let inverse_deviations = empty(&x, [batch]);
        let (count, dim, width) = cube_per_row(&y);
        normalise_kernel::launch(
            &y.client,
            count,
            dim,
            x.into_buffer_arg(),
            y.clone().into_buffer_arg(),
            inverse_deviations.clone().into_buffer_arg(),
            width,
            epsilon as f32,
        );
        let kept = Normalised {
            y: y.clone(),
            inverse_deviations,
        };
        (y, kept)
    }))
}

#[cube(launch)]
fn normalise_kernel(x: &[f32], y: &mut [f32], inverses: &mut [f32], width: u32, epsilon: f32) {
    let first = (CUBE_POS_X * width) as usize;
    let share = 1.0f32 / f32::cast_from(width);
    let mut sum = 0.0f32;
    let mut index = UNIT_POS;
    while index < width {
        sum = sum + x[first + index as usize];
        index += comptime!(THREADS);
    }
    let mean = sum_in_cube::<f32>(sum) * share;
    let mut squares = 0.0f32;
    let mut index = UNIT_POS;
    while index < width {
        let off = x[first + index as usize] - mean;
        squares = squares + off * off;
        index += comptime!(THREADS);
    }
    let inverse = 1.0f32 / (sum_in_cube::<f32>(squares) * share + epsilon).sqrt();
    let mut index = UNIT_POS;
    while index < width {
        y[first + index as usize] = (x[first + index as usize] - mean) * inverse;
        index += comptime!(THREADS);
    }
    if UNIT_POS == 0 {
        inverses[CUBE_POS_X as usize] = inverse;
    }
}

#[cube(launch)]
fn gradient_kernel(y: &[f32], inverses: &[f32], dy: &[f32], dx: &mut [f32], width: u32) {
    let first = (CUBE_POS_X * width) as usize;
    let share = 1.0f32 / f32::cast_from(width);
    let mut sum = 0.0f32;
    let mut product = 0.0f32;
    let mut index = UNIT_POS;
    while index < width {
        let place = first + index as usize;
        sum = sum + dy[place];
        product = product + y[place] * dy[place];
        index += comptime!(THREADS);
    }
    let mean = sum_in_cube::<f32>(sum) * share;
    let along = sum_in_cube::<f32>(product) * share;
    let inverse = inverses[CUBE_POS_X as usize];
    let mut index = UNIT_POS;
    while index < width {
        let place = first + index as usize;
        dx[place] = inverse * (dy[place] - mean - y[place] * along);
        index += comptime!(THREADS);
    }
}
