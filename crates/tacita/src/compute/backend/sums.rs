//! Weighted sums of per-sample gradients, each sample rounded to a grid by itself. Where there is no kernel,
//! `sensitivity/gradient/sum.rs` forms the gradients and rounds them.

use super::{Convolution, GpuSteps, Rows, cpu, gpu};
use burn::tensor::{Int, Tensor};
use tacita_kernels::exact::{Grid, Sum};

/// Σᵢ cᵢ rowᵢ.
pub(crate) fn row_sum(rows: &Tensor<2>, factors: &Tensor<1>, grid: Grid) -> Option<Sum> {
    cpu::row_sum(rows, factors, grid)
}

/// Σᵢ cᵢ Σₜ aₜ ⊗ bₜ, in one block.
pub(crate) fn outer_sum(
    left: &Tensor<4>,
    right: &Tensor<4>,
    factors: &Tensor<1>,
    grid: Grid,
) -> Option<Sum> {
    cpu::outer_sum(left, right, factors, grid)
}

/// The same for a table that is an embedding and, transposed, an output layer. Either use may be longer than both
/// together: they are added modulo 2³².
pub(crate) fn tied_sum(
    rows: &Rows,
    left: &Tensor<4>,
    right: &Tensor<4>,
    factors: &Tensor<1>,
    grid: Grid,
) -> Option<Sum> {
    match rows {
        Rows::Host(rows) => cpu::tied_sum(rows, left, right, factors, grid),
        Rows::Gpu(_) => None,
    }
}

/// Σᵢ cᵢ gᵢ of a convolution's weight, `[elements]`.
pub(crate) fn convolution_sum(
    convolution: &Convolution,
    factors: &Tensor<1>,
    grid: Grid,
) -> Option<Sum> {
    cpu::convolution_sum(convolution, factors, grid)
}

/// Σᵢ cᵢ gᵢ of gradients that were formed, left on a GPU.
pub(crate) fn formed_steps(
    gradients: &Tensor<2>,
    factors: &Tensor<1>,
    grid: Grid,
) -> Option<GpuSteps> {
    gpu::formed_steps(gradients, factors, grid)
}

/// Σᵢ cᵢ gᵢ of vectors that are added to rows of a table, left on a GPU. A record one of whose vectors is too
/// long for the grid is left out.
pub(crate) fn scattered_steps(
    rows: &Tensor<2, Int>,
    vectors: &Tensor<3>,
    factors: &Tensor<1>,
    grid: Grid,
    table: usize,
) -> Option<GpuSteps> {
    gpu::scattered_steps(rows, vectors, factors, grid, table)
}
