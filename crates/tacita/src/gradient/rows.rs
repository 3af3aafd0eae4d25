//! Embeddings: row `rows[i, t]` of g_i gets right_{i,t}, and equal rows add up before the norm.

use super::norm::{SquaredNorm, gamma, sum_of_squares};
use burn::tensor::{IndexingUpdateOp, Int, Tensor, TensorData};

/// ‖g_i‖² by adding the vectors of equal rows: time and memory linear in the positions, where the
/// equal-token Gram matrix is quadratic.
pub(crate) fn squared_norm(rows: &Tensor<2, Int>, right: &Tensor<3>, table: usize) -> SquaredNorm {
    let [batch, positions, width] = right.dims();
    let device = right.device();
    let slots = Tensor::from_data(segment_slots(rows, table), &device);
    let sums = Tensor::<2>::zeros([batch * positions, width], &device).select_assign(
        0,
        slots,
        right.clone().reshape([batch * positions, width]),
        IndexingUpdateOp::Add,
    );
    let mut norm = sum_of_squares(sums.reshape([batch, positions * width]));
    // A segment sum ŝ of at most T vectors is off by γ_T Σ‖bₜ‖ =: e, so ‖s‖² ≤ ‖ŝ‖² + e(2‖ŝ‖ + e).
    let reach = right.clone().square().sum_dim(2).sqrt().sum_dim(1);
    let error = reach.reshape([batch]) * gamma(2 * positions);
    norm.slack = norm.slack + error.clone() * (norm.value.clone().sqrt() * 2.0 + error);
    norm
}

/// For each position, the first slot of its sample's segment that holds the same row.
fn segment_slots(rows: &Tensor<2, Int>, table: usize) -> TensorData {
    let [batch, positions] = rows.dims();
    let rows = rows.to_data();
    // Where a row was first seen, valid only for the sample stamped beside it.
    let mut first_seen = vec![(usize::MAX, 0usize); table];
    let slots: Vec<i64> = rows
        .iter::<i64>()
        .enumerate()
        .map(|(index, row)| {
            let sample = index / positions.max(1);
            // An index outside the table cannot come from a forward pass that succeeded.
            let seen = &mut first_seen[(row.max(0) as usize).min(table - 1)];
            if seen.0 != sample {
                *seen = (sample, index);
            }
            seen.1 as i64
        })
        .collect();
    TensorData::new(slots, [batch * positions])
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
    SquaredNorm {
        value: value.reshape([batch]),
        slack: reach.reshape([batch]) * gamma(width + positions + steps + 4),
    }
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

/// Σᵢ cᵢ gᵢ, `[table · width]`.
pub(crate) fn weighted_sum(
    rows: Tensor<2, Int>,
    right: Tensor<3>,
    factors: Tensor<1>,
    table: usize,
) -> Tensor<1> {
    let [batch, positions, width] = right.dims();
    let device = right.device();
    let scaled = right * factors.reshape([batch, 1, 1]);
    Tensor::<2>::zeros([table, width], &device)
        .select_assign(
            0,
            rows.reshape([batch * positions]),
            scaled.reshape([batch * positions, width]),
            IndexingUpdateOp::Add,
        )
        .reshape([table * width])
}
