//! Squared norms of rows: one cube a row, sums in f64, so a single rounding is left.

#![allow(clippy::assign_op_pattern)]

use super::cube::sum_in_cube;
use super::{THREADS, empty, in_order};
use crate::compute::backend::norms::Squares;
use burn::backend::Cuda;
use burn::cubecl::{self, prelude::*};
use burn::tensor::Tensor;

/// Values of a row that one cube adds up; longer rows are cut, so that few long rows fill a GPU.
const STRETCH: usize = 1 << 14;

/// ‖row‖² of each row, if a CUDA GPU holds them.
pub(crate) fn row_squares(rows: &Tensor<2>) -> Option<Squares> {
    let [batch, length] = rows.dims();
    let rows = in_order(rows.clone())?;
    let stretches = length.div_ceil(STRETCH).max(1);
    let squares = empty(&rows, [batch, stretches]);
    row_squares_kernel::launch(
        &squares.client,
        CubeCount::Static((batch * stretches) as u32, 1, 1),
        CubeDim::new_1d(THREADS),
        rows.into_buffer_arg(),
        squares.clone().into_buffer_arg(),
        length as u32,
        stretches as u32,
    );
    let squares: Tensor<2> = Tensor::from_primitive::<Cuda>(squares);
    let squares = match stretches {
        1 => squares,
        _ => squares.sum_dim(1),
    };
    Some(Squares {
        value: squares.reshape([batch]),
        additions: stretches,
    })
}

#[cube(launch)]
fn row_squares_kernel(rows: &[f32], squares: &mut [f32], length: u32, stretches: u32) {
    let row = CUBE_POS_X / stretches;
    let first = (CUBE_POS_X % stretches) * comptime!(STRETCH as u32);
    let last = u32::min(first + comptime!(STRETCH as u32), length);
    let square = squares_in_cube(rows, (row * length + first) as usize, last - first);
    if UNIT_POS == 0 {
        squares[CUBE_POS_X as usize] = f32::cast_from(square);
    }
}

/// Σ of the squares of `count` values, known to every thread of the cube.
#[cube]
fn squares_in_cube(values: &[f32], first: usize, count: u32) -> f64 {
    let mut sum = 0.0f64;
    let mut index = UNIT_POS;
    while index < count {
        let value = f64::cast_from(values[first + index as usize]);
        sum = sum + value * value;
        index += comptime!(THREADS);
    }
    sum_in_cube::<f64>(sum)
}

/// ‖a‖²‖b‖² of the outer product of two rows, in one launch.
pub(crate) fn outer_squares(left: &Tensor<4>, right: &Tensor<4>) -> Option<Squares> {
    let ([batch, _, _, d], [_, _, _, p]) = (left.dims(), right.dims());
    let (left, right) = (in_order(left.clone())?, in_order(right.clone())?);
    let squares = empty(&left, [batch]);
    outer_squares_kernel::launch(
        &squares.client,
        CubeCount::Static(batch as u32, 1, 1),
        CubeDim::new_1d(THREADS),
        left.into_buffer_arg(),
        right.into_buffer_arg(),
        squares.clone().into_buffer_arg(),
        d as u32,
        p as u32,
    );
    let squares: Tensor<1> = Tensor::from_primitive::<Cuda>(squares);
    Some(Squares {
        value: squares,
        additions: 0,
    })
}

#[cube(launch)]
fn outer_squares_kernel(left: &[f32], right: &[f32], squares: &mut [f32], d: u32, p: u32) {
    let a = squares_in_cube(left, (CUBE_POS_X * d) as usize, d);
    let b = squares_in_cube(right, (CUBE_POS_X * p) as usize, p);
    if UNIT_POS == 0 {
        squares[CUBE_POS_X as usize] = f32::cast_from(a * b);
    }
}
