//! Weighted sums of per-sample gradients, each sample rounded to a grid by itself. Where there is no kernel,
//! `sensitivity/gradient/sum.rs` forms the gradients and rounds them.

use super::{Convolution, Rows, cpu};
use burn::tensor::Tensor;
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
