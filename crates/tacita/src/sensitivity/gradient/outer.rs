//! g_i = Σₜ aₜ ⊗ bₜ: its norm and its weighted sum.

use super::method::Performance;
use super::norm::{SquaredNorm, sum_of_squares};
use super::runs::runs;
use super::sum::sum_of_formed;
use crate::compute::backend::ops::matmul;
use crate::compute::backend::{self, OuterSize};
use crate::sensitivity::rounding::{
    OPERANDS_MADE_TWICE, OPERANDS_OF_TWO_GRAMS, gamma, operand_error,
};
use burn::tensor::Tensor;
use tacita_kernels::exact::{FEW_POSITIONS, Grid, Sum};

pub(crate) fn size(left: &Tensor<4>, right: &Tensor<4>) -> OuterSize {
    let [batch, blocks, positions, d] = left.dims();
    OuterSize {
        batch,
        blocks,
        positions,
        left: d,
        right: right.dims()[3],
    }
}

/// One position: ‖a ⊗ b‖² = ‖a‖²‖b‖² (Goodfellow 2015). Two sums of positive terms: no cancellation.
pub(crate) fn ghost(left: &Tensor<4>, right: &Tensor<4>) -> SquaredNorm {
    let OuterSize { batch, blocks, .. } = size(left, right);
    if blocks == 1
        && let Some(squares) = backend::outer_squares(left, right)
    {
        return squares.into();
    }
    let square = |factor: &Tensor<4>| {
        let width = factor.dims()[3];
        sum_of_squares(factor.clone().reshape([batch * blocks, width]))
    };
    let norm = square(left).times(square(right));
    if blocks == 1 {
        return norm;
    }
    norm.over_blocks(batch, blocks)
}

/// ⟨AAᵀ, BBᵀ⟩ (Li et al. 2022, §4). The terms cancel, so the error is bounded on (Σₜ ‖aₜ‖‖bₜ‖)².
pub(crate) fn gram(left: &Tensor<4>, right: &Tensor<4>) -> SquaredNorm {
    let OuterSize {
        batch,
        blocks,
        positions,
        left: d,
        right: p,
    } = size(left, right);
    let gram = |factor: &Tensor<4>| factor.clone().matmul(factor.clone().swap_dims(2, 3));
    let products = (gram(left) * gram(right)).reshape([batch * blocks * positions, positions]);
    let (value, row_operations) = backend::sum_last(products);
    let (value, operations) = backend::sum_last(value.reshape([batch, blocks * positions]));
    let reach = reach(left, right);
    let operations = d + p + row_operations + operations + 4;
    let error = gamma(operations) + OPERANDS_OF_TWO_GRAMS * operand_error(&left.device());
    let slack = reach.clone() * reach.clone() * error;
    let norm = SquaredNorm::within(value.clamp_min(0.0), slack);
    allowing_other_operands(
        norm.allowing_summation(reach.clone(), positions),
        || reach,
        left,
    )
}

/// Allows for operands that the weighted sum rounds otherwise than the norm did.
pub(super) fn allowing_other_operands(
    norm: SquaredNorm,
    reach: impl FnOnce() -> Tensor<1>,
    left: &Tensor<4>,
) -> SquaredNorm {
    match operand_error(&left.device()) {
        0.0 => norm,
        error => norm.allowing_absolute(reach() * (OPERANDS_MADE_TWICE * error)),
    }
}

/// Σₜ ‖aₜ‖‖bₜ‖ over blocks and positions, a bound on ‖g_i‖ that does not cancel.
pub(crate) fn reach(left: &Tensor<4>, right: &Tensor<4>) -> Tensor<1> {
    let OuterSize {
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
    let OuterSize {
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
    let size = size(left, right);
    if let Some(measured) = backend::outer_norms(left, right) {
        return SquaredNorm::from_formed(measured, size.positions);
    }
    let chunk = size.samples_within(workspace, size.gradient_bytes() / size.batch.max(1));
    over_samples(size.batch, chunk, |first, count| {
        let left = left.clone().narrow(0, first, count);
        let right = right.clone().narrow(0, first, count);
        let norm = sum_of_squares(materialise(&left, &right));
        let reach = reach(&left, &right);
        let norm = norm.allowing_recomputation(reach.clone(), size.positions);
        allowing_other_operands(norm, || reach, &left)
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
    let parts = runs(batch, chunk)
        .map(|run| norm(run.first, run.count).last(run.count - run.again))
        .collect();
    SquaredNorm::join(parts)
}

/// Σᵢ cᵢ gᵢ on a grid, `[blocks · d · p]`; whole contributions.
pub(crate) fn weighted_sum(
    left: &Tensor<4>,
    right: &Tensor<4>,
    factors: &Tensor<1>,
    grid: Grid,
    performance: &Performance,
) -> Sum {
    backend::outer_sum(left, right, factors, grid)
        .unwrap_or_else(|| formed_sum(left, right, factors, grid, performance))
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
