//! Embeddings: row `rows[i, t]` of g_i gets right_{i,t}. Rows and vectors are left on a GPU that has kernels
//! for them, and moved to the host otherwise.

use super::cpu;
use super::gpu::GpuRows;
use super::norms::{Squares, sum_last};
use burn::tensor::{Device, Element, Int, Tensor, TensorData};
use std::iter::repeat_n;
use std::ops::Range;
use tacita_kernels::exact::{Grid, Sum, Vectors, add_scattered};
use tacita_kernels::rows as kernels;

/// Rows and their vectors.
#[derive(Debug)]
pub(crate) enum Rows {
    Host(HostRows),
    Gpu(Box<GpuRows>),
}

impl Rows {
    /// Where they are treated best. A sample is `records` consecutive rows of both tensors.
    pub fn new(rows: Tensor<2, Int>, right: Tensor<3>, records: usize) -> Self {
        let together = || {
            let (rows, right) = together(rows.clone(), right.clone(), records);
            GpuRows::new(&rows, &right)
        };
        // Side by side on a GPU alone: on the host a vector that a record's positions share is kept once.
        match GpuRows::new(&rows, &right).and_then(|apart| {
            if records == 1 {
                Some(apart)
            } else {
                together()
            }
        }) {
            Some(rows) => Self::Gpu(Box::new(rows)),
            None => Self::Host(HostRows::new(rows, right, records)),
        }
    }

    pub fn width(&self) -> usize {
        match self {
            Self::Host(rows) => rows.width,
            Self::Gpu(rows) => rows.width(),
        }
    }

    /// Positions of each sample.
    pub fn positions(&self) -> usize {
        match self {
            Self::Host(rows) => rows.positions(),
            Self::Gpu(rows) => rows.positions(),
        }
    }

    pub fn bytes(&self) -> usize {
        match self {
            Self::Host(rows) => rows.bytes(),
            Self::Gpu(rows) => rows.bytes(),
        }
    }

    /// Only the given samples.
    pub fn select(&self, samples: &[usize], indices: &Tensor<1, Int>) -> Self {
        match self {
            Self::Host(rows) => Self::Host(rows.select(samples)),
            Self::Gpu(rows) => Self::Gpu(Box::new(rows.select(indices))),
        }
    }

    /// Both as tensors, a sample's records side by side: `[batch, positions]` and `[batch, positions, width]`.
    pub fn tensors(&self) -> (Tensor<2, Int>, Tensor<3>) {
        match self {
            Self::Host(rows) => rows.tensors(),
            Self::Gpu(rows) => rows.tensors(),
        }
    }

    /// ‖g_i‖², equal rows added up in f64 first, and Σₜ ‖right_{i,t}‖ over rows that repeat, or over all.
    pub fn squares(&self) -> (Squares, Tensor<1>) {
        match self {
            Self::Host(rows) => rows.squares(),
            Self::Gpu(rows) => {
                let (value, additions) = sum_last(rows.squares());
                (Squares { value, additions }, rows.reach())
            }
        }
    }

    /// Σᵢ cᵢ gᵢ on a grid, `[table · width]`, if the rows are on the host.
    pub fn sum(&self, factors: &Tensor<1>, grid: Grid, table: usize) -> Option<Sum> {
        match self {
            Self::Host(rows) => Some(rows.sum(factors, grid, table)),
            Self::Gpu(_) => None,
        }
    }
}

/// Rows and their vectors, on the host. An embedding's gradient is a scatter by integers: there is
/// hardly any arithmetic, and one pass in f64 replaces six over temporaries.
#[derive(Debug)]
pub(crate) struct HostRows {
    rows: Vec<i64>,
    /// `[batch, positions, width]`, or `[batch, records, width]` where all positions of a record share one vector.
    right: Vec<f32>,
    shared: bool,
    batch: usize,
    /// Records of a sample.
    records: usize,
    width: usize,
    device: Device,
}

/// The values, moved rather than copied where they have the type already.
fn to_vec<E: Element>(data: TensorData) -> Vec<E> {
    data.convert::<E>().try_into_vec().unwrap_or_default()
}

impl HostRows {
    /// Moves both to the host.
    fn new(rows: Tensor<2, Int>, right: Tensor<3>, records: usize) -> Self {
        let [all_records, _, width] = right.dims();
        let device = right.device();
        let shared = cpu::shared_vector(&right);
        Self {
            // A forward pass that succeeded has no index below zero or outside the table.
            rows: to_vec(rows.into_data()),
            shared: shared.is_some(),
            right: to_vec(shared.map_or_else(|| right.into_data(), Tensor::into_data)),
            batch: all_records / records.max(1),
            records,
            width,
            device,
        }
    }

    fn bytes(&self) -> usize {
        4 * self.right.len() + 8 * self.rows.len()
    }

    fn positions(&self) -> usize {
        self.rows.len() / self.batch.max(1)
    }

    fn tensors(&self) -> (Tensor<2, Int>, Tensor<3>) {
        let (batch, positions, width) = (self.batch, self.positions(), self.width);
        let rows = TensorData::new(self.rows.clone(), [batch, positions]);
        let (runs, run) = match self.shared {
            true => (batch * self.records, positions / self.records.max(1)),
            false => (batch * positions, 1),
        };
        let right = TensorData::new(self.right.clone(), [runs, 1, width]);
        let right: Tensor<3> = Tensor::from_data(right, &self.device);
        (
            Tensor::from_data(rows, &self.device),
            right
                .expand([runs, run, width])
                .reshape([batch, positions, width]),
        )
    }

    fn select(&self, samples: &[usize]) -> Self {
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

    /// Time and memory linear in the positions, where the equal-token Gram matrix is quadratic.
    fn squares(&self) -> (Squares, Tensor<1>) {
        let squares = match self.shared {
            true => kernels::per_sample_squares_shared,
            false => kernels::per_sample_squares,
        };
        let positions = self.positions();
        let (squares, reach) = squares(&self.rows, &self.right, self.batch, positions, self.width);
        let tensor = |values: Vec<f32>| Tensor::from_data(values.as_slice(), &self.device);
        let squares = Squares {
            value: tensor(squares),
            additions: 0,
        };
        (squares, tensor(reach))
    }

    fn sum(&self, factors: &Tensor<1>, grid: Grid, table: usize) -> Sum {
        let factors: Vec<f32> = to_vec(factors.to_data());
        Sum::of_records(grid, table * self.width, factors.len(), |some, steps| {
            self.add_steps(steps, &factors[some.clone()], some, grid);
        })
    }

    /// Adds the steps of some samples.
    pub(super) fn add_steps(
        &self,
        steps: &mut [u32],
        factors: &[f32],
        samples: Range<usize>,
        grid: Grid,
    ) {
        let of = |each: usize| samples.start * each..samples.end * each;
        let vectors = &self.right[of(self.right.len() / self.batch.max(1))];
        let rows = &self.rows[of(self.positions())];
        if !self.shared {
            let vectors = Vectors::EachPosition(vectors);
            return add_scattered(steps, self.width, rows, vectors, factors, grid);
        }
        // Every position is rounded by itself, so a sample's records may be added one by one.
        let each = factors
            .iter()
            .flat_map(|factor| repeat_n(*factor, self.records));
        let of_records: Vec<f32> = each.collect();
        let vectors = Vectors::EachSample(vectors);
        add_scattered(steps, self.width, rows, vectors, &of_records, grid);
    }
}

/// The same rows and vectors with a sample's records side by side.
fn together(rows: Tensor<2, Int>, right: Tensor<3>, records: usize) -> (Tensor<2, Int>, Tensor<3>) {
    if records == 1 {
        return (rows, right);
    }
    let [all_records, positions, width] = right.dims();
    let samples = all_records / records.max(1);
    (
        rows.reshape([samples, records * positions]),
        right.reshape([samples, records * positions, width]),
    )
}
