//! Weighted sums of the rows of a matrix, without a product whose operands tensor cores would round.

#![allow(clippy::assign_op_pattern)]

use super::{cubes, empty, in_order};
use burn::backend::Cuda;
use burn::backend::tensor::FloatTensor;
use burn::cubecl::{self, prelude::*};
use burn::tensor::Tensor;

/// Threads that keep a card busy.
const THREADS_WANTED: usize = 1 << 17;

/// Rows that one thread adds up at least.
const FEWEST_ROWS: usize = 16;

/// Σᵢ factorᵢ · rowᵢ of `[count, length]`, if a CUDA card holds them.
pub(crate) fn weighted_rows(rows: &Tensor<2>, factors: &Tensor<1>) -> Option<Tensor<1>> {
    let dims = rows.dims();
    let (rows, factors) = (in_order(rows.clone())?, in_order(factors.clone())?);
    Some(Tensor::from_primitive::<Cuda>(sum(
        rows,
        Some(factors),
        dims,
    )))
}

/// Σᵢ rowᵢ of `[count, length]`.
pub(super) fn rows(rows: FloatTensor<Cuda>, dims: [usize; 2]) -> FloatTensor<Cuda> {
    sum(rows, None, dims)
}

fn sum(
    rows: FloatTensor<Cuda>,
    factors: Option<FloatTensor<Cuda>>,
    [count, length]: [usize; 2],
) -> FloatTensor<Cuda> {
    let stretches = (THREADS_WANTED / length.max(1)).clamp(1, count.div_ceil(FEWEST_ROWS).max(1));
    let each = count.div_ceil(stretches).max(1);
    let parts = launch(rows, factors, [count, length], stretches, each);
    match stretches {
        1 => parts,
        _ => launch(parts, None, [stretches, length], 1, stretches),
    }
}

fn launch(
    rows: FloatTensor<Cuda>,
    factors: Option<FloatTensor<Cuda>>,
    [count, length]: [usize; 2],
    stretches: usize,
    each: usize,
) -> FloatTensor<Cuda> {
    let parts = empty(&rows, [stretches * length]);
    let (cubes, dim) = cubes(stretches * length);
    let weighted = factors.is_some();
    // Without factors they are not looked at.
    let factors = factors.unwrap_or_else(|| rows.clone());
    sum_kernel::launch(
        &parts.client,
        cubes,
        dim,
        rows.into_buffer_arg(),
        factors.into_buffer_arg(),
        parts.clone().into_buffer_arg(),
        count as u32,
        length as u32,
        each as u32,
        weighted,
    );
    parts
}

#[cube(launch)]
fn sum_kernel(
    rows: &[f32],
    factors: &[f32],
    parts: &mut [f32],
    count: u32,
    length: u32,
    each: u32,
    #[comptime] weighted: bool,
) {
    if ABSOLUTE_POS < parts.len() {
        let place = ABSOLUTE_POS as u32;
        let column = place % length;
        let first = (place / length) * each;
        let last = u32::min(first + each, count);
        let mut sum = 0.0f32;
        let mut row = first;
        while row < last {
            let value = rows[row as usize * length as usize + column as usize];
            if comptime!(weighted) {
                sum = sum + factors[row as usize] * value;
            } else {
                sum = sum + value;
            }
            row += 1u32;
        }
        parts[ABSOLUTE_POS] = sum;
    }
}
