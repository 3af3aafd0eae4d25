//! Weighted sums that one record moves by exactly its own contribution.
//!
//! Every record's contribution is rounded to a public grid by itself, and integers are added
//! ([`tacita_kernels::exact`]). On the CPU the kernels do it. On other devices per-sample gradients are
//! formed a few at a time and rounded there; their integers are added there too.

use super::strategy::Performance;
#[cfg(feature = "cuda")]
use burn::tensor::IndexingUpdateOp;
use burn::tensor::{Int, Tensor};
use tacita_kernels::exact::{Grid, Sum};

/// What the samples of a pass are multiplied by in one query, and the grid of each group.
#[derive(Debug, Clone)]
pub struct Weights {
    /// `[batch, groups]`
    pub factors: Tensor<2>,
    /// For each group the grid that its contributions, times their factors, are rounded to. None may be
    /// longer than the bound the grid was made for.
    pub grids: Vec<Grid>,
}

/// Records of one integer sum on a device: their steps fit 32 bits, see [`Sum::from_steps`].
const RECORDS: usize = 511;

/// How many records' gradients of `elements` values are formed at a time.
pub(super) fn records_at_a_time(performance: &Performance, elements: usize) -> usize {
    (performance.workspace_bytes / (4 * elements.max(1))).clamp(1, RECORDS)
}

/// The sum of formed gradients, a few records at a time.
///
/// # Shapes
/// - `factors`: `[batch]`
/// - `gradient(first, count)`: `[count, elements]`
pub(super) fn sum_of_formed(
    factors: &Tensor<1>,
    grid: Grid,
    elements: usize,
    performance: &Performance,
    parts: Parts,
    gradient: impl Fn(usize, usize) -> Tensor<2>,
) -> Sum {
    let [batch] = factors.dims();
    let mut sum = Sum::zeros(grid, elements);
    let chunk = records_at_a_time(performance, elements);
    for first in (0..batch).step_by(chunk) {
        let count = chunk.min(batch - first);
        let factors = factors.clone().narrow(0, first, count);
        let steps = steps(gradient(first, count), factors, grid, parts).sum_dim(0);
        sum.add(on_host(steps.reshape([elements]), grid, count));
    }
    sum
}

/// Whether a formed gradient is all that a record adds to its target, and so within the grid's bound.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Parts {
    Whole,
    One,
}

/// The steps of each row times its factor. A record one of whose parts is longer than the grid's bound,
/// because another part cancels it, is left out: 32 bits might not hold it.
fn steps(rows: Tensor<2>, factors: Tensor<1>, grid: Grid, parts: Parts) -> Tensor<2, Int> {
    let [count, _] = rows.dims();
    // The spacing is a power of two: dividing by it rounds nothing.
    let steps = (rows * factors.reshape([count, 1]) / grid.spacing()).round();
    let steps = match parts {
        Parts::Whole => steps,
        Parts::One => {
            let long = steps.clone().abs().max_dim(1).greater_elem(MOST_STEPS);
            let shape = steps.shape();
            steps.mask_fill(long.expand(shape), 0.0)
        }
    };
    steps.int()
}

const MOST_STEPS: f64 = (1 << 22) as f64;

fn on_host(steps: Tensor<1, Int>, grid: Grid, records: usize) -> Sum {
    let steps = steps.into_data();
    let steps: Vec<u32> = steps.iter::<i64>().map(|steps| steps as u32).collect();
    let elements = steps.len();
    Sum::from_steps(grid, steps, records).unwrap_or_else(|| Sum::zeros(grid, elements))
}

/// The sum of vectors that are added to rows of a table.
///
/// # Shapes
/// - `rows`: `[batch, positions]`; `vectors`: `[batch, positions, width]`; `factors`: `[batch]`
#[cfg(feature = "cuda")]
pub(super) fn sum_of_rows(
    rows: &Tensor<2, Int>,
    vectors: &Tensor<3>,
    factors: &Tensor<1>,
    grid: Grid,
    table: usize,
) -> Sum {
    let [batch, positions, width] = vectors.dims();
    let mut sum = Sum::zeros(grid, table * width);
    for first in (0..batch).step_by(RECORDS) {
        let count = RECORDS.min(batch - first);
        let vectors = vectors.clone().narrow(0, first, count);
        let factors = factors.clone().narrow(0, first, count);
        let flat = vectors.reshape([count, positions * width]);
        let steps = steps(flat, factors, grid, Parts::One).reshape([count * positions, width]);
        let rows = rows.clone().narrow(0, first, count);
        let table = Tensor::<2, Int>::zeros([table, width], &rows.device()).select_assign(
            0,
            rows.reshape([count * positions]),
            steps,
            IndexingUpdateOp::Add,
        );
        let [rows, width] = table.dims();
        sum.add(on_host(table.reshape([rows * width]), grid, count));
    }
    sum
}
