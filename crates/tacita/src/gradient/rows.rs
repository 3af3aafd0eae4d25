//! Embeddings: row `rows[i, t]` of g_i gets right_{i,t}, and equal rows add up before the norm.

#[cfg(feature = "cuda")]
use super::norm::sum_last;
use super::norm::{SquaredNorm, gamma, operand_error};
use crate::card::is_card;
#[cfg(feature = "cuda")]
use crate::gpu::rows::CardRows;
use burn::tensor::{Device, Element, IndexingUpdateOp, Int, Tensor, TensorData};
use std::ops::Range;
use tacita_kernels::exact::{Grid, Sum, Vectors, add_scattered};
use tacita_kernels::rows as kernels;

/// Rows and their vectors.
#[derive(Debug)]
pub(crate) enum Rows {
    Host(HostRows),
    #[cfg(feature = "cuda")]
    Card(Box<CardRows>),
}

impl Rows {
    /// Left on a GPU that has kernels for them, moved to the host otherwise.
    pub fn new(rows: Tensor<2, Int>, right: Tensor<3>) -> Self {
        #[cfg(feature = "cuda")]
        if let Some(card) = CardRows::new(&rows, &right) {
            return Self::Card(Box::new(card));
        }
        Self::Host(HostRows::new(rows, right))
    }

    pub fn width(&self) -> usize {
        match self {
            Self::Host(rows) => rows.width,
            #[cfg(feature = "cuda")]
            Self::Card(rows) => rows.width(),
        }
    }

    pub fn bytes(&self) -> usize {
        match self {
            Self::Host(rows) => rows.bytes(),
            #[cfg(feature = "cuda")]
            Self::Card(rows) => rows.bytes(),
        }
    }

    /// Only the given samples.
    pub fn select(&self, samples: &[usize], #[allow(unused)] indices: &Tensor<1, Int>) -> Self {
        match self {
            Self::Host(rows) => Self::Host(rows.select(samples)),
            #[cfg(feature = "cuda")]
            Self::Card(rows) => Self::Card(Box::new(rows.select(indices))),
        }
    }

    /// ‖g_i‖², equal rows added up first.
    pub fn squared_norm(&self) -> SquaredNorm {
        let (norm, reach, positions) = match self {
            Self::Host(rows) => {
                let (norm, reach) = rows.squared_norm();
                (norm, reach, rows.positions())
            }
            #[cfg(feature = "cuda")]
            Self::Card(rows) => {
                let (value, operations) = sum_last(rows.squares());
                let norm = SquaredNorm::relative(value, operations + 2);
                (norm, rows.reach(), rows.positions())
            }
        };
        norm.summed(reach, positions)
    }

    /// Both as tensors: `[batch, positions]` and `[batch, positions, width]`.
    pub fn tensors(&self) -> (Tensor<2, Int>, Tensor<3>) {
        match self {
            Self::Host(rows) => rows.tensors(),
            #[cfg(feature = "cuda")]
            Self::Card(rows) => rows.tensors(),
        }
    }

    /// Positions of each sample.
    pub fn positions(&self) -> usize {
        match self {
            Self::Host(rows) => rows.positions(),
            #[cfg(feature = "cuda")]
            Self::Card(rows) => rows.positions(),
        }
    }

    /// Σᵢ cᵢ gᵢ on a grid, `[table · width]`.
    pub fn weighted_sum(&self, factors: &Tensor<1>, grid: Grid, table: usize) -> Sum {
        match self {
            Self::Host(rows) => rows.weighted_sum(factors, grid, table),
            #[cfg(feature = "cuda")]
            Self::Card(rows) => {
                let (rows, right) = rows.tensors();
                super::sum::sum_of_rows(&rows, &right, factors, grid, table)
            }
        }
    }
}

/// Rows and their vectors, on the host. An embedding's gradient is a scatter by integers: there is
/// no arithmetic to speak of, and one pass in f64 replaces six over temporaries.
#[derive(Debug)]
pub(crate) struct HostRows {
    rows: Vec<i64>,
    /// `[batch, positions, width]`, or `[batch, width]` where all positions share one vector.
    right: Vec<f32>,
    shared: bool,
    batch: usize,
    width: usize,
    device: Device,
}

/// The values, moved rather than copied where they have the type already.
fn to_vec<E: Element>(data: TensorData) -> Vec<E> {
    data.convert::<E>().try_into_vec().unwrap_or_default()
}

/// `[batch, positions, width]` whose positions are one vector in memory, as that vector.
fn shared(right: &Tensor<3>) -> Option<Tensor<2>> {
    #[cfg(feature = "cpu")]
    return crate::cpu::rows::shared(right);
    #[cfg(not(feature = "cpu"))]
    None
}

impl HostRows {
    /// Moves both to the host.
    pub fn new(rows: Tensor<2, Int>, right: Tensor<3>) -> Self {
        let [batch, _, width] = right.dims();
        let device = right.device();
        let shared = shared(&right);
        Self {
            // A forward pass that succeeded has no index below zero or outside the table.
            rows: to_vec(rows.into_data()),
            shared: shared.is_some(),
            right: to_vec(shared.map_or_else(|| right.into_data(), Tensor::into_data)),
            batch,
            width,
            device,
        }
    }

    pub fn bytes(&self) -> usize {
        4 * self.right.len() + 8 * self.rows.len()
    }

    fn positions(&self) -> usize {
        self.rows.len() / self.batch.max(1)
    }

    fn tensors(&self) -> (Tensor<2, Int>, Tensor<3>) {
        let (batch, positions, width) = (self.batch, self.positions(), self.width);
        let given = if self.shared { 1 } else { positions };
        let rows = TensorData::new(self.rows.clone(), [batch, positions]);
        let right = TensorData::new(self.right.clone(), [batch, given, width]);
        let right: Tensor<3> = Tensor::from_data(right, &self.device);
        (
            Tensor::from_data(rows, &self.device),
            right.expand([batch, positions, width]),
        )
    }

    /// Only the given samples.
    pub fn select(&self, samples: &[usize]) -> Self {
        let pick = |values: usize| {
            samples
                .iter()
                .flat_map(move |sample| sample * values..(sample + 1) * values)
        };
        let vectors = self.right.len() / self.batch.max(1);
        Self {
            rows: pick(self.positions())
                .map(|index| self.rows[index])
                .collect(),
            right: pick(vectors).map(|index| self.right[index]).collect(),
            batch: samples.len(),
            device: self.device.clone(),
            ..*self
        }
    }

    /// ‖g_i‖² by adding the vectors of equal rows: time and memory linear in the positions, where the
    /// equal-token Gram matrix is quadratic. In f64, so only the final rounding is left to bound.
    /// And Σₜ ‖right_{i,t}‖ over rows that repeat.
    fn squared_norm(&self) -> (SquaredNorm, Tensor<1>) {
        let squares = match self.shared {
            true => kernels::per_sample_squares_shared,
            false => kernels::per_sample_squares,
        };
        let positions = self.positions();
        let (squares, reach) = squares(&self.rows, &self.right, self.batch, positions, self.width);
        let tensor = |values: Vec<f32>| Tensor::from_data(values.as_slice(), &self.device);
        (SquaredNorm::relative(tensor(squares), 2), tensor(reach))
    }

    /// Σᵢ cᵢ gᵢ on a grid, `[table · width]`.
    fn weighted_sum(&self, factors: &Tensor<1>, grid: Grid, table: usize) -> Sum {
        let factors: Vec<f32> = to_vec(factors.to_data());
        Sum::of_records(grid, table * self.width, factors.len(), |some, steps| {
            self.add_steps(steps, &factors[some.clone()], some, grid);
        })
    }

    /// Adds the steps of some samples.
    pub fn add_steps(&self, steps: &mut [u32], factors: &[f32], samples: Range<usize>, grid: Grid) {
        let of = |each: usize| samples.start * each..samples.end * each;
        let vectors = &self.right[of(self.right.len() / self.batch.max(1))];
        let vectors = match self.shared {
            true => Vectors::EachSample(vectors),
            false => Vectors::EachPosition(vectors),
        };
        let rows = &self.rows[of(self.positions())];
        add_scattered(steps, self.width, rows, vectors, factors, grid);
    }
}

/// The same rows and vectors, where a row outside the table is given nothing. The CPU refuses such a row in
/// the forward pass; a GPU does not, and moved into the table it could meet another whose norm was counted
/// apart, or another record's.
pub(crate) fn inside(
    rows: Tensor<2, Int>,
    right: Tensor<3>,
    table: usize,
) -> (Tensor<2, Int>, Tensor<3>) {
    match is_card(&right.device()) {
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
            * (gamma(width + positions + steps + 4) + 2.01 * operand_error(&left.device())),
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
