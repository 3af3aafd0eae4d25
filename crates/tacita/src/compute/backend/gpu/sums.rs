//! Sums of the rows of a matrix, for the bias of an ordinary backward pass.

#![allow(clippy::assign_op_pattern)]

use super::{cubes, empty};
use burn::backend::Cuda;
use burn::backend::tensor::FloatTensor;
use burn::cubecl::{self, prelude::*};

/// Threads that keep a GPU busy.
const THREADS_WANTED: usize = 1 << 17;

/// Rows that one thread adds up at least.
const FEWEST_ROWS: usize = 16;

/// Σᵢ rowᵢ of `[count, length]`.
pub(super) fn rows(rows: FloatTensor<Cuda>, [count, length]: [usize; 2]) -> FloatTensor<Cuda> {
    let stretches = (THREADS_WANTED / length.max(1)).clamp(1, count.div_ceil(FEWEST_ROWS).max(1));
    let each = count.div_ceil(stretches).max(1);
    let parts = launch(rows, [count, length], stretches, each);
    match stretches {
        1 => parts,
        _ => launch(parts, [stretches, length], 1, stretches),
    }
}

fn launch(
    rows: FloatTensor<Cuda>,
    [count, length]: [usize; 2],
    stretches: usize,
    each: usize,
) -> FloatTensor<Cuda> {
    let parts = empty(&rows, [stretches * length]);
    let (cubes, dim) = cubes(stretches * length);
    sum_kernel::launch(
        &parts.client,
        cubes,
        dim,
        rows.into_buffer_arg(),
        parts.clone().into_buffer_arg(),
        count as u32,
        length as u32,
        each as u32,
    );
    parts
}

#[cube(launch)]
fn sum_kernel(rows: &[f32], parts: &mut [f32], count: u32, length: u32, each: u32) {
    if ABSOLUTE_POS < parts.len() {
        let place = ABSOLUTE_POS as u32;
        let column = place % length;
        let first = (place / length) * each;
        let last = u32::min(first + each, count);
        let mut sum = 0.0f32;
        let mut row = first;
        while row < last {
            sum = sum + rows[row as usize * length as usize + column as usize];
            row += 1u32;
        }
        parts[ABSOLUTE_POS] = sum;
    }
}
