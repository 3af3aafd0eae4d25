//! Squared norms of per-sample gradients, as they are computed. What rounding may have taken from them is
//! bounded by `sensitivity/gradient/norm.rs`, from the additions that are reported here.

use super::{Convolution, cpu, gpu};
use burn::tensor::Tensor;

/// Squares and sums of squares, `[batch]`.
pub(crate) struct Squares {
    pub value: Tensor<1>,
    /// Additions in f32, one after the other, that made a value. Sums in f64 that are rounded once have none.
    pub additions: usize,
}

/// Squared norms whose terms may cancel, and Σₜ ‖aₜ‖‖bₜ‖, which does not. Both `[batch]`.
pub(crate) struct Measured {
    pub squares: Tensor<1>,
    pub reach: Tensor<1>,
}

/// Lengths of the partial sums of long rows.
const BLOCKS: [usize; 5] = [1024, 512, 256, 128, 64];

/// Σ of the last dimension, in two passes so that the error grows as the square root of its length.
/// Returns the sums and the additions of a chain.
pub(crate) fn sum_last(rows: Tensor<2>) -> (Tensor<1>, usize) {
    let [batch, length] = rows.dims();
    let block = BLOCKS
        .into_iter()
        .find(|block| length % block == 0 && length / block > 1);
    match block {
        Some(block) => {
            let partial = rows.reshape([batch, length / block, block]).sum_dim(2);
            let sums = partial.reshape([batch, length / block]).sum_dim(1);
            (sums.reshape([batch]), block + length / block)
        }
        None => (rows.sum_dim(1).reshape([batch]), length),
    }
}

/// ‖row‖² of each row.
///
/// # Shapes
/// - `rows`: `[batch, elements]`
pub(crate) fn row_squares(rows: Tensor<2>) -> Squares {
    gpu::row_squares(&rows)
        .or_else(|| cpu::row_squares(&rows))
        .unwrap_or_else(|| {
            // Not a matrix product of the row with itself: tensor cores would round its values first.
            let (value, additions) = sum_last(rows.clone() * rows);
            Squares { value, additions }
        })
}

/// ‖a‖²‖b‖² of each sample, if one kernel makes both.
///
/// # Shapes
/// - `[batch, 1, 1, d]` and `[batch, 1, 1, p]`
pub(crate) fn outer_squares(left: &Tensor<4>, right: &Tensor<4>) -> Option<Squares> {
    gpu::outer_squares(left, right)
}

/// Whether [`gram_norms`], [`outer_norms`] and sums of outer products have kernels here, which neither write
/// gradients nor need to keep them.
pub(crate) fn has_outer_kernels(left: &Tensor<4>) -> bool {
    cpu::has_outer_kernels(left)
}

/// ‖Σₜ aₜ ⊗ bₜ‖² from inner products between positions, in one block.
pub(crate) fn gram_norms(
    left: &Tensor<4>,
    right: &Tensor<4>,
    cache: &mut cpu::GramCache,
) -> Option<Measured> {
    cpu::gram_norms(left, right, cache)
}

/// ‖Σₜ aₜ ⊗ bₜ‖² of gradients that are formed part by part and dropped, in one block.
pub(crate) fn outer_norms(left: &Tensor<4>, right: &Tensor<4>) -> Option<Measured> {
    cpu::outer_norms(left, right)
}

/// The per-sample gradients of a convolution, `[batch, elements]`.
pub(crate) fn convolution_gradients(convolution: &Convolution) -> Option<Tensor<2>> {
    cpu::convolution_gradients(convolution)
}

/// The norms of per-sample gradients of a convolution that are formed and dropped.
pub(crate) fn convolution_norms(convolution: &Convolution) -> Option<Measured> {
    cpu::convolution_norms(convolution)
}

/// The norms of a convolution from inner products between positions.
pub(crate) fn convolution_gram_norms(convolution: &Convolution) -> Option<Measured> {
    cpu::convolution_gram_norms(convolution)
}
