//! Embeddings: row `rows[i, t]` of g_i gets right_{i,t}, and equal rows add up before the norm.

use super::norm::SquaredNorm;
use super::sum::sum_of_rows;
use crate::compute::backend::{Rows, is_gpu};
use crate::sensitivity::rounding::{OPERANDS_OF_A_PRODUCT, gamma, operand_error};
use burn::tensor::{IndexingUpdateOp, Int, Tensor};
use tacita_kernels::exact::{Grid, Sum};

/// ‖g_i‖², equal rows added up first.
pub(crate) fn squared_norm(rows: &Rows) -> SquaredNorm {
    let (squares, reach) = rows.squares();
    SquaredNorm::from(squares).allowing_summation(reach, rows.positions())
}

/// Σᵢ cᵢ gᵢ on a grid, `[table · width]`.
pub(crate) fn weighted_sum(rows: &Rows, factors: &Tensor<1>, grid: Grid, table: usize) -> Sum {
    rows.sum(factors, grid, table).unwrap_or_else(|| {
        let (rows, right) = rows.tensors();
        sum_of_rows(&rows, &right, factors, grid, table)
    })
}

/// The same rows and vectors, where a row outside the table is given nothing. The CPU refuses such a row in
/// the forward pass; a GPU does not, and moved into the table it could meet another whose norm was counted
/// apart, or another record's.
pub(crate) fn inside(
    rows: Tensor<2, Int>,
    right: Tensor<3>,
    table: usize,
) -> (Tensor<2, Int>, Tensor<3>) {
    match is_gpu(&right.device()) {
        true => without_outside(rows, right, table),
        false => (rows, right),
    }
}

pub(super) fn without_outside(
    rows: Tensor<2, Int>,
    right: Tensor<3>,
    table: usize,
) -> (Tensor<2, Int>, Tensor<3>) {
    let below = rows.clone().lower_elem(0);
    let outside = below.bool_or(rows.clone().greater_equal_elem(table as i64));
    let vectors = outside.clone().unsqueeze_dim::<3>(2).expand(right.shape());
    (rows.mask_fill(outside, 0), right.mask_fill(vectors, 0.0))
}

/// ⟨G_rows, G_outer⟩ for a table that is an embedding and, transposed, an output layer:
/// Σ_{s,t} a_s[row_t] ⟨h_s, b_t⟩. The gradient itself is never formed.
///
/// # Shapes
/// - `left`: `[batch, 1, steps, table]`, `outer_right`: `[batch, 1, steps, width]`
/// - `rows`: `[batch, positions]`, `right`: `[batch, positions, width]`
pub(crate) fn cross_gram(
    rows: &Tensor<2, Int>,
    right: &Tensor<3>,
    left: &Tensor<4>,
    outer_right: &Tensor<4>,
) -> SquaredNorm {
    let [batch, positions, width] = right.dims();
    let [_, _, steps, table] = left.dims();
    let rows = rows.clone().unsqueeze_dim::<3>(1);
    let rows = rows.expand([batch, steps, positions]);
    let picked = left.clone().reshape([batch, steps, table]).gather(2, rows);
    let hidden = outer_right.clone().reshape([batch, steps, width]);
    let inner = hidden.clone().matmul(right.clone().swap_dims(1, 2));
    let value = (picked.clone() * inner).sum_dim(2).sum_dim(1);
    let hidden_norms = hidden.square().sum_dim(2).sqrt();
    let right_norms = right.clone().square().sum_dim(2).sqrt().swap_dims(1, 2);
    let reach = (picked.abs() * hidden_norms * right_norms)
        .sum_dim(2)
        .sum_dim(1);
    SquaredNorm::within(
        value.reshape([batch]),
        reach.reshape([batch])
            * (gamma(width + positions + steps + 4)
                + OPERANDS_OF_A_PRODUCT * operand_error(&left.device())),
    )
}

/// The per-sample gradients themselves, `[batch, table · width]`.
pub(crate) fn materialise(rows: &Tensor<2, Int>, right: &Tensor<3>, table: usize) -> Tensor<2> {
    let [batch, positions, width] = right.dims();
    let device = right.device();
    let offsets = Tensor::<1, Int>::arange(0..batch as i64, &device) * table as i64;
    let rows = (rows.clone() + offsets.unsqueeze_dim(1)).reshape([batch * positions]);
    Tensor::<2>::zeros([batch * table, width], &device)
        .select_assign(
            0,
            rows,
            right.clone().reshape([batch * positions, width]),
            IndexingUpdateOp::Add,
        )
        .reshape([batch, table * width])
}
