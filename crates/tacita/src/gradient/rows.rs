//! Embeddings: row `rows[i, t]` of g_i gets right_{i,t}, and equal rows add up before the norm.

use super::norm::{SquaredNorm, gamma};
use burn::tensor::{Device, Element, IndexingUpdateOp, Int, Tensor, TensorData};
use rayon::prelude::*;
use std::ops::Range;

/// Rows and their vectors, on the host. An embedding's gradient is a scatter by integers: there is
/// no arithmetic to speak of, and one pass in f64 replaces six over temporaries.
#[derive(Debug)]
pub(crate) struct Rows {
    rows: Vec<i64>,
    right: Vec<f32>,
    positions: usize,
    width: usize,
    device: Device,
}

/// The values, moved rather than copied where they have the type already.
fn to_vec<E: Element>(data: TensorData) -> Vec<E> {
    data.convert::<E>().try_into_vec().unwrap_or_default()
}

impl Rows {
    /// Moves both to the host.
    pub fn new(rows: Tensor<2, Int>, right: Tensor<3>) -> Self {
        let [_, positions, width] = right.dims();
        let device = right.device();
        Self {
            // A forward pass that succeeded has no index below zero or outside the table.
            rows: to_vec(rows.into_data()),
            right: to_vec(right.into_data()),
            positions,
            width,
            device,
        }
    }

    pub fn width(&self) -> usize {
        self.width
    }

    pub fn bytes(&self) -> usize {
        4 * self.right.len() + 8 * self.rows.len()
    }

    fn batch(&self) -> usize {
        self.rows.len() / self.positions.max(1)
    }

    fn sample(&self, sample: usize) -> impl Iterator<Item = (usize, &[f32])> {
        let first = sample * self.positions;
        let rows = &self.rows[first..first + self.positions];
        let right = &self.right[first * self.width..(first + self.positions) * self.width];
        rows.iter()
            .map(|row| *row as usize)
            .zip(right.chunks_exact(self.width))
    }

    /// Only the given samples.
    pub fn select(&self, samples: &[usize]) -> Self {
        let (positions, width) = (self.positions, self.width);
        let pick = |values: usize| {
            samples
                .iter()
                .flat_map(move |sample| sample * values..(sample + 1) * values)
        };
        Self {
            rows: pick(positions).map(|index| self.rows[index]).collect(),
            right: pick(positions * width)
                .map(|index| self.right[index])
                .collect(),
            positions,
            width,
            device: self.device.clone(),
        }
    }

    /// ‖g_i‖² by adding the vectors of equal rows: time and memory linear in the positions, where the
    /// equal-token Gram matrix is quadratic. In f64, so only the final rounding is left to bound.
    pub fn squared_norm(&self, table: usize) -> SquaredNorm {
        let (positions, width) = (self.positions, self.width);
        let arch = pulp::Arch::new();
        let norms: Vec<f32> = (0..self.batch())
            .into_par_iter()
            .map_init(
                // Where a row was first seen, valid only for the sample stamped beside it.
                || {
                    (
                        vec![(usize::MAX, 0usize); table],
                        vec![0.0f64; positions * width],
                    )
                },
                |(first_seen, sums), sample| {
                    arch.dispatch(|| self.sample_norm(sample, first_seen, sums))
                },
            )
            .collect();
        SquaredNorm::relative(Tensor::from_data(norms.as_slice(), &self.device), 2)
    }

    #[inline(always)]
    fn sample_norm(
        &self,
        sample: usize,
        first_seen: &mut [(usize, usize)],
        sums: &mut [f64],
    ) -> f32 {
        let width = self.width;
        let mut used = 0;
        for (row, vector) in self.sample(sample) {
            let seen = &mut first_seen[row];
            let fresh = seen.0 != sample;
            if fresh {
                *seen = (sample, used);
                used += width;
            }
            let sums = &mut sums[seen.1..seen.1 + width];
            for (sum, value) in sums.iter_mut().zip(vector) {
                let before = if fresh { 0.0 } else { *sum };
                *sum = before + f64::from(*value);
            }
        }
        sums[..used].iter().map(|sum| sum * sum).sum::<f64>() as f32
    }

    #[inline(always)]
    fn add_to(&self, sum: &mut [f32], mine: Range<usize>, factors: &[f32]) {
        let width = self.width;
        for (sample, factor) in factors.iter().enumerate() {
            for (row, vector) in self.sample(sample) {
                if mine.contains(&row) {
                    let sum = &mut sum[(row - mine.start) * width..][..width];
                    for (sum, value) in sum.iter_mut().zip(vector) {
                        *sum += factor * value;
                    }
                }
            }
        }
    }

    /// Σᵢ cᵢ gᵢ, `[table · width]`.
    pub fn weighted_sum(&self, factors: Tensor<1>, table: usize) -> Tensor<1> {
        let width = self.width;
        let mut sum = vec![0.0f32; table * width];
        let factors: Vec<f32> = to_vec(factors.into_data());
        let arch = pulp::Arch::new();
        // Each thread owns a part of the table and looks for its rows.
        let part = table.div_ceil(rayon::current_num_threads()).max(1);
        sum.par_chunks_mut(part * width)
            .enumerate()
            .for_each(|(index, sum)| {
                let mine = index * part..(index + 1) * part;
                arch.dispatch(|| self.add_to(sum, mine, &factors));
            });
        Tensor::from_data(TensorData::new(sum, [table * width]), &self.device)
    }
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
