//! Softmax over the last dimension: one cube a row.

#![allow(clippy::assign_op_pattern)]

use super::cube::{largest_in_cube, sum_in_cube};
use super::{THREADS, cube_per_row, empty_like, input};
use crate::compute::backend::graph::{Derivative, apply};
use burn::backend::Cuda;
use burn::backend::tensor::FloatTensor;
use burn::cubecl::{self, prelude::*};
use burn::tensor::Tensor;
use burn_cubecl::kernel::into_contiguous;

#[derive(Debug, Clone)]
struct Softmax {
    y: FloatTensor<Cuda>,
    logarithm: bool,
}

impl Derivative<Cuda, 1> for Softmax {
    fn gradients(self, dy: FloatTensor<Cuda>, _: [bool; 1]) -> [Option<FloatTensor<Cuda>>; 1] {
        let dy = into_contiguous(dy);
        let dx = empty_like(&dy);
        let (count, dim, width) = cube_per_row(&dx);
        gradient_kernel::launch(
            &dx.client,
            count,
            dim,
            self.y.into_buffer_arg(),
            dy.into_buffer_arg(),
            dx.clone().into_buffer_arg(),
            width,
            self.logarithm,
        );
        [Some(dx)]
    }
}

/// The softmax of the last dimension, or its logarithm, if a CUDA GPU holds the values.
pub(crate) fn softmax<const D: usize>(x: &Tensor<D>, logarithm: bool) -> Option<Tensor<D>> {
    let input = input(x)?;
    Some(apply([input], |[x]| {
        let x = into_contiguous(x);
        let y = empty_like(&x);
        let (count, dim, width) = cube_per_row(&y);
        softmax_kernel::launch(
            &y.client,
            count,
            dim,
            x.into_buffer_arg(),
            y.clone().into_buffer_arg(),
            width,
            logarithm,
        );
        let kept = Softmax {
            y: y.clone(),
            logarithm,
        };
        (y, kept)
    }))
}

#[cube(launch)]
fn softmax_kernel(x: &[f32], y: &mut [f32], width: u32, #[comptime] logarithm: bool) {
    let first = (CUBE_POS_X * width) as usize;
    let mut most = f32::min_value();
    let mut index = UNIT_POS;
    while index < width {
        most = f32::max(most, x[first + index as usize]);
        index += comptime!(THREADS);
    }
    let most = largest_in_cube(most);
    let mut sum = 0.0f32;
    let mut index = UNIT_POS;
    while index < width {
        sum = sum + (x[first + index as usize] - most).exp();
        index += comptime!(THREADS);
    }
    let sum = sum_in_cube::<f32>(sum);
    let mut index = UNIT_POS;
    while index < width {
        let above = x[first + index as usize] - most;
        if comptime!(logarithm) {
            y[first + index as usize] = above - sum.ln();
        } else {
            y[first + index as usize] = above.exp() / sum;
        }
        index += comptime!(THREADS);
    }
}

#[cube(launch)]
fn gradient_kernel(y: &[f32], dy: &[f32], dx: &mut [f32], width: u32, #[comptime] logarithm: bool) {
    let first = (CUBE_POS_X * width) as usize;
    let mut sum = 0.0f32;
    let mut index = UNIT_POS;
    while index < width {
        let place = first + index as usize;
        if comptime!(logarithm) {
            sum = sum + dy[place];
        } else {
            sum = sum + y[place] * dy[place];
        }
        index += comptime!(THREADS);
    }
    let sum = sum_in_cube::<f32>(sum);
    let mut index = UNIT_POS;
    while index < width {
        let place = first + index as usize;
        if comptime!(logarithm) {
            dx[place] = dy[place] - y[place].exp() * sum;
        } else {
            dx[place] = y[place] * (dy[place] - sum);
        }
        index += comptime!(THREADS);
    }
}
