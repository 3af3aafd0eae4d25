//! g_i = Σₜ aₜ ⊗ bₜ: its norm and its weighted sum.

use super::norm::{SquaredNorm, gamma, operand_error, sum_last, sum_of_squares};
use super::strategy::{Performance, Size};
use super::sum::sum_of_formed;
use crate::ops::matmul;
use burn::tensor::Tensor;
use tacita_kernels::exact::{FEW_POSITIONS, Grid, Sum};

pub(crate) fn size(left: &Tensor<4>, right: &Tensor<4>) -> Size {
    let [batch, blocks, positions, d] = left.dims();
    Size {
        batch,
        blocks,
        positions,
        left: d,
        right: right.dims()[3],
    }
}

/// One position: ‖a ⊗ b‖² = ‖a‖²‖b‖² (Goodfellow 2015). Two sums of positive terms: no cancellation.
pub(crate) fn ghost(left: &Tensor<4>, right: &Tensor<4>) -> SquaredNorm {
    let Size { batch, blocks, .. } = size(left, right);
    let rows = |factor: &Tensor<4>| {
        let width = factor.dims()[3];
        factor.clone().reshape([batch * blocks, width])
    };
    let square = |factor: &Tensor<4>| sum_of_squares(rows(factor));
    #[cfg(feature = "cuda")]
    if blocks == 1
        && let Some(norm) = crate::gpu::norms::outer_squares(&rows(left), &rows(right))
    {
        return norm;
    }
    let norm = square(left).times(square(right));
    if blocks == 1 {
        return norm;
    }
    norm.over_blocks(batch, blocks)
}

/// ⟨AAᵀ, BBᵀ⟩ (Li et al. 2022, §4). The terms cancel, so the error is bounded on (Σₜ ‖aₜ‖‖bₜ‖)².
pub(crate) fn gram(left: &Tensor<4>, right: &Tensor<4>) -> SquaredNorm {
    let Size {
        batch,
        blocks,
        positions,
        left: d,
        right: p,
    } = size(left, right);
    let gram = |factor: &Tensor<4>| factor.clone().matmul(factor.clone().swap_dims(2, 3));
    let products = (gram(left) * gram(right)).reshape([batch * blocks * positions, positions]);
    let (value, row_operations) = sum_last(products);
    let (value, operations) = sum_last(value.reshape([batch, blocks * positions]));
    let reach = reach(left, right);
    let operations = d + p + row_operations + operations + 4;
    // Each of the two Gram matrices is made of operands that may have been rounded.
    let error = gamma(operations) + 4.1 * operand_error(&left.device());
    let slack = reach.clone() * reach.clone() * error;
    let norm = SquaredNorm::within(value.clamp_min(0.0), slack);
    summed_otherwise(norm.summed(reach.clone(), positions), reach, left)
}

/// With room for operands that the weighted sum rounds otherwise than the norm did: each aₜ ⊗ bₜ by at
/// most two operand errors more.
fn summed_otherwise(norm: SquaredNorm, reach: Tensor<1>, left: &Tensor<4>) -> SquaredNorm {
    match operand_error(&left.device()) {
        0.0 => norm,
        error => norm.off_by(reach * (3.0 * error)),
    }
}

/// Σₜ ‖aₜ‖‖bₜ‖ over blocks and positions, a bound on ‖g_i‖ that does not cancel.
pub(crate) fn reach(left: &Tensor<4>, right: &Tensor<4>) -> Tensor<1> {
    let Size {
        batch,
        blocks,
        positions,
        ..
    } = size(left, right);
    let square = |factor: &Tensor<4>| (factor.clone() * factor.clone()).sum_dim(3);
    let norms = (square(left) * square(right)).sqrt();
    norms
        .reshape([batch, blocks * positions])
        .sum_dim(1)
        .reshape([batch])
}

/// The per-sample gradients themselves, `[batch, blocks · d · p]`.
pub(crate) fn materialise(left: &Tensor<4>, right: &Tensor<4>) -> Tensor<2> {
    let Size {
        batch,
        blocks,
        left: d,
        right: p,
        ..
    } = size(left, right);
    matmul(left.clone().swap_dims(2, 3), right.clone()).reshape([batch, blocks * d * p])
}

/// The norm of per-sample gradients that are formed a few samples at a time and dropped.
pub(crate) fn recompute(left: &Tensor<4>, right: &Tensor<4>, workspace: usize) -> SquaredNorm {
    #[cfg(feature = "cpu")]
    if let Some(norm) = crate::cpu::outer::recompute(left, right) {
        return norm;
    }
    let size = size(left, right);
    let chunk = size.samples_within(workspace, size.gradient_bytes() / size.batch.max(1));
    over_samples(size.batch, chunk, |first, count| {
        let left = left.clone().narrow(0, first, count);
        let right = right.clone().narrow(0, first, count);
        let norm = sum_of_squares(materialise(&left, &right));
        let reach = reach(&left, &right);
        let norm = norm.recomputed(reach.clone(), size.positions);
        summed_otherwise(norm, reach, &left)
    })
}

/// Norms computed for runs of samples and joined.
pub(crate) fn over_samples(
    batch: usize,
    chunk: usize,
    norm: impl Fn(usize, usize) -> SquaredNorm,
) -> SquaredNorm {
    // Joined even if there is one run only: joining rounds, and the bound of a sample must not depend on
    // how many others there are.
    let parts: Vec<_> = (0..batch)
        .step_by(chunk.max(1))
        .map(|first| norm(first, chunk.min(batch - first)))
        .collect();
    SquaredNorm::join(parts)
}

/// AᵀB over many rows, in `pieces` that divide `samples`: a GPU gives every tile of the result to one
/// of its processors, so few tiles of long sums would leave most of them idle.
#[cfg(feature = "cuda")]
pub(crate) fn long_product(left: Tensor<2>, right: Tensor<2>, samples: usize) -> Tensor<2> {
    const TILE: usize = 128;
    const PROCESSORS: usize = 512;
    let ([rows, d], [_, p]) = (left.dims(), right.dims());
    let tiles = d.div_ceil(TILE) * p.div_ceil(TILE);
    let wanted = (PROCESSORS / tiles).clamp(1, (rows / 256).max(1));
    let pieces = (1..=wanted)
        .rev()
        .find(|pieces| samples.is_multiple_of(*pieces));
    match pieces.unwrap_or(1) {
        1 => matmul(left.transpose(), right),
        pieces => {
            let left = left.reshape([pieces, rows / pieces, d]);
            let right = right.reshape([pieces, rows / pieces, p]);
            let parts = matmul(left.swap_dims(1, 2), right);
            parts.sum_dim(0).reshape([d, p])
        }
    }
}

/// Σᵢ cᵢ gᵢ on a grid, `[blocks · d · p]`; whole contributions.
pub(crate) fn weighted_sum(
    left: &Tensor<4>,
    right: &Tensor<4>,
    factors: &Tensor<1>,
    grid: Grid,
    performance: &Performance,
) -> Sum {
    #[cfg(feature = "cpu")]
    if let Some(sum) = crate::cpu::outer::weighted_sum(left, right, factors, grid) {
        return sum;
    }
    formed_sum(left, right, factors, grid, performance)
}

/// The same from gradients that are formed a few at a time.
pub(super) fn formed_sum(
    left: &Tensor<4>,
    right: &Tensor<4>,
    factors: &Tensor<1>,
    grid: Grid,
    performance: &Performance,
) -> Sum {
    let size = size(left, right);
    let elements = size.blocks * size.left * size.right;
    sum_of_formed(factors, grid, elements, performance, |first, count| {
        let left = left.clone().narrow(0, first, count);
        let right = right.clone().narrow(0, first, count);
        materialise(&left, &right)
    })
}

/// How often an entry of one sample is rounded to the grid, at most.
pub(crate) fn roundings(positions: usize) -> usize {
    match positions {
        few if few <= FEW_POSITIONS => few.max(1),
        _ => 1,
    }
}
