//! Weighted sums that one record moves by exactly its own contribution.
//!
//! Every record's contribution is rounded to a public grid by itself, and integers are added
//! ([`tacita_kernels::exact`]). On the CPU the kernels do it. On other devices per-sample gradients are
//! formed a few at a time and rounded there; their integers are added there too, on CUDA GPUs by kernels of
//! our own.

use super::method::Performance;
use super::runs::{Run, runs};
use crate::compute::backend::{self, GpuSteps};
use burn::tensor::{IndexingUpdateOp, Int, Tensor};
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

/// Records of one integer sum of Burn's operations. Their steps fit 32 bits, which is all that integers have on a
/// GPU.
const RECORDS: usize = Sum::MOST_SHORT_RECORDS;

/// Steps that one record may take in a coordinate.
const MOST_STEPS: f64 = Grid::MOST_STEPS as f64;

/// How many records' gradients of `elements` values are formed at a time.
fn records_at_a_time(performance: &Performance, elements: usize) -> usize {
    performance.workspace_bytes / (4 * elements.max(1))
}

/// The sum of formed gradients, a few records at a time. A formed gradient must be all that its record adds
/// to the target: parts that cancel have to be added first.
///
/// # Shapes
/// - `factors`: `[batch]`
/// - `gradient(first, count)`: `[count, elements]`
pub(super) fn sum_of_formed(
    factors: &Tensor<1>,
    grid: Grid,
    elements: usize,
    performance: &Performance,
    gradient: impl Fn(usize, usize) -> Tensor<2>,
) -> Sum {
    let [batch] = factors.dims();
    let mut sum = Sum::zeros(grid, elements);
    let mut on_gpu: Option<GpuSteps> = None;
    for run in runs(batch, records_at_a_time(performance, elements)) {
        let formed = gradient(run.first, run.count);
        let factors = factors_of(run, factors);
        match backend::formed_steps(&formed, &factors, grid) {
            Some(steps) => {
                on_gpu = Some(match on_gpu {
                    Some(others) => others.plus(steps),
                    None => steps,
                });
            }
            None => sum.add(generic_sum(formed, factors, grid)),
        }
    }
    if let Some(steps) = on_gpu {
        sum.add(steps.into_sum(grid));
    }
    sum
}

/// The factors of a run: 0 for those that were in the run before.
fn factors_of(run: Run, factors: &Tensor<1>) -> Tensor<1> {
    let new = factors
        .clone()
        .narrow(0, run.first + run.again, run.count - run.again);
    match run.again {
        0 => new,
        again => Tensor::cat(vec![Tensor::zeros([again], &factors.device()), new], 0),
    }
}

/// Σᵢ cᵢ rowᵢ in Burn's operations.
fn generic_sum(rows: Tensor<2>, factors: Tensor<1>, grid: Grid) -> Sum {
    let [batch, elements] = rows.dims();
    let mut sum = Sum::zeros(grid, elements);
    for first in (0..batch).step_by(RECORDS) {
        let count = RECORDS.min(batch - first);
        let rows = rows.clone().narrow(0, first, count);
        let factors = factors.clone().narrow(0, first, count);
        let steps = steps(rows, factors, grid).sum_dim(0);
        sum.add(on_host(steps.reshape([elements]), grid, count));
    }
    sum
}

/// The steps of each row times its factor.
///
/// # Guarantee
/// No step is beyond ±[`Grid::MOST_STEPS`], so that 32 bits hold the sum of [`RECORDS`] records. A row with a
/// longer one, or with one that is not a number, is left out as a whole. Checked by
/// `a_part_beyond_the_bound_leaves_its_record_out`.
fn steps(rows: Tensor<2>, factors: Tensor<1>, grid: Grid) -> Tensor<2, Int> {
    let [count, _] = rows.dims();
    // The spacing is a power of two, and so is its inverse: multiplying by it rounds nothing.
    let steps = (rows * factors.reshape([count, 1]) * (1.0 / grid.spacing())).round();
    // No comparison holds for NaN.
    let short = steps.clone().abs().lower_equal_elem(MOST_STEPS);
    let left_out = short.all_dim(1).bool_not().expand(steps.shape());
    steps.mask_fill(left_out, 0.0).int()
}

fn on_host(steps: Tensor<1, Int>, grid: Grid, records: usize) -> Sum {
    let steps = steps.into_data();
    let steps: Vec<u32> = steps.iter::<i64>().map(|steps| steps as u32).collect();
    let elements = steps.len();
    Sum::from_steps(grid, steps, records).unwrap_or_else(|| Sum::zeros(grid, elements))
}

/// The sum of vectors that are added to rows of a table. Every row must lie inside the table.
///
/// Vectors of one record that are added to the same row may cancel. If one of them alone is longer than the
/// grid's bound, the record is left out.
///
/// # Shapes
/// - `rows`: `[batch, positions]`; `vectors`: `[batch, positions, width]`; `factors`: `[batch]`
pub(super) fn sum_of_rows(
    rows: &Tensor<2, Int>,
    vectors: &Tensor<3>,
    factors: &Tensor<1>,
    grid: Grid,
    table: usize,
) -> Sum {
    if let Some(steps) = backend::scattered_steps(rows, vectors, factors, grid, table) {
        return steps.into_sum(grid);
    }
    let [batch, positions, width] = vectors.dims();
    let mut sum = Sum::zeros(grid, table * width);
    for first in (0..batch).step_by(RECORDS) {
        let count = RECORDS.min(batch - first);
        let vectors = vectors.clone().narrow(0, first, count);
        let factors = factors.clone().narrow(0, first, count);
        let flat = vectors.reshape([count, positions * width]);
        let steps = steps(flat, factors, grid).reshape([count * positions, width]);
        let rows = rows.clone().narrow(0, first, count);
        // On the way a row may take more than 32 bits and wrap around; the whole sum does not.
        let sums = Tensor::<2, Int>::zeros([table, width], &rows.device()).select_assign(
            0,
            rows.reshape([count * positions]),
            steps,
            IndexingUpdateOp::Add,
        );
        sum.add(on_host(sums.reshape([table * width]), grid, count));
    }
    sum
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::super::rows::without_outside;
    use super::*;
    use crate::training::testkit::device;
    use burn::tensor::TensorData;
    use proptest::prelude::*;
    use tacita_kernels::exact::{Vectors, add_scattered};

    fn tensor<const D: usize>(values: &[f32], shape: [usize; D]) -> Tensor<D> {
        Tensor::from_data(TensorData::new(values.to_vec(), shape), &device())
    }

    fn indices(values: &[i64], shape: [usize; 2]) -> Tensor<2, Int> {
        Tensor::from_data(TensorData::new(values.to_vec(), shape), &device())
    }

    fn values(sum: &Sum) -> Vec<f64> {
        (0..sum.len()).map(|index| sum.value(index)).collect()
    }

    /// Values in [−1, 1).
    fn spread(count: usize, seed: u64) -> Vec<f32> {
        let mut state = seed;
        let mut next = || {
            state = state
                .wrapping_mul(6364136223846793005)
                .wrapping_add(1442695040888963407);
            (state >> 40) as f32 / (1 << 23) as f32 - 1.0
        };
        (0..count).map(|_| next()).collect()
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 32, ..ProptestConfig::default() })]

        #[test]
        fn the_sum_of_rows_is_that_of_the_host(
            batch in 1usize..1200, positions in 1usize..5, width in 1usize..5, exponent in -4i32..3, seed: u64,
        ) {
            let (grid, table) = (Grid::for_bound(1.0).unwrap(), 3);
            let rows: Vec<i64> = spread(batch * positions, !seed)
                .iter()
                .map(|value| ((value + 1.0) * 1.5) as i64)
                .collect();
            // A power of two, so that the product is not rounded before the grid does it. Some are beyond
            // the bound.
            let factor = 2f32.powi(exponent);
            let vectors = spread(batch * positions * width, seed);
            let long = |sample: usize| {
                let own = &vectors[sample * positions * width..][..positions * width];
                own.iter().any(|value| (value * factor).abs() > 1.0)
            };
            let factors: Vec<f32> = (0..batch)
                .map(|sample| if long(sample) { 0.0 } else { factor })
                .collect();
            let expected = Sum::of_records(grid, table * width, batch, |some, steps| {
                let of = |each: usize| some.start * each..some.end * each;
                let vectors = Vectors::EachPosition(&vectors[of(positions * width)]);
                add_scattered(steps, width, &rows[of(positions)], vectors, &factors[some.clone()], grid);
            });
            let sum = sum_of_rows(
                &indices(&rows, [batch, positions]),
                &tensor(&vectors, [batch, positions, width]),
                &tensor(&vec![factor; batch], [batch]),
                grid,
                table,
            );
            prop_assert_eq!(values(&sum), values(&expected));
        }

        #[test]
        fn a_sum_does_not_depend_on_how_many_are_formed_at_a_time(
            batch in 0usize..1200, elements in 1usize..4, workspace in 1usize..20_000, seed: u64,
        ) {
            let grid = Grid::for_bound(1.0).unwrap();
            let rows = spread(batch * elements, seed);
            let factors = vec![0.5; batch];
            let mut expected = vec![0.0; elements];
            for (place, value) in rows.iter().enumerate() {
                expected[place % elements] += f64::from(grid.steps(0.5 * value) as i32) * grid.spacing();
            }
            let rows = tensor(&rows, [batch, elements]);
            let performance = Performance { workspace_bytes: workspace, ..Performance::default() };
            let sum = sum_of_formed(&tensor(&factors, [batch]), grid, elements, &performance, |first, count| {
                rows.clone().narrow(0, first, count)
            });
            prop_assert_eq!(values(&sum), expected);
        }
    }

    #[test]
    fn a_part_beyond_the_bound_leaves_its_record_out() {
        let grid = Grid::for_bound(1.0).unwrap();
        for part in [1.5, -1.5, 1e30, f32::NAN, f32::INFINITY] {
            // The second of three records has two vectors, one of which is too long.
            let vectors = [0.25, 0.5, part, 0.125, -0.5, 1.0];
            let ones = tensor(&[1.0; 3], [3]);
            let rows = indices(&[0, 1, 0, 1, 1, 0], [3, 2]);
            let sum = sum_of_rows(&rows, &tensor(&vectors, [3, 2, 1]), &ones, grid, 2);
            assert_eq!(values(&sum), [1.25, 0.0], "{part}");
            let formed = tensor(&vectors, [3, 2]);
            let sum = generic_sum(formed, ones.clone(), grid);
            assert_eq!(values(&sum), [-0.25, 1.5], "{part}");
        }
    }

    #[test]
    fn full_records_fill_32_bits_and_no_more() {
        let grid = Grid::for_bound(1.0).unwrap();
        for (records, value) in [(1023, 1.0), (1023, -1.0), (2100, 1.0), (2100, -1.0)] {
            let formed = tensor(&vec![value; records], [records, 1]);
            let ones = tensor(&vec![1.0; records], [records]);
            let sum = sum_of_formed(&ones, grid, 1, &Performance::default(), |first, count| {
                formed.clone().narrow(0, first, count)
            });
            assert_eq!(sum.value(0), records as f64 * f64::from(value));
        }
    }

    #[test]
    fn a_row_outside_the_table_adds_nothing() {
        let grid = Grid::for_bound(1.0).unwrap();
        let rows = indices(&[0, 5, 1, -1], [2, 2]);
        let vectors = tensor(&[0.25, 0.5, 0.125, 1.0], [2, 2, 1]);
        let (rows, vectors) = without_outside(rows, vectors, 2);
        let sum = sum_of_rows(&rows, &vectors, &tensor(&[1.0; 2], [2]), grid, 2);
        assert_eq!(values(&sum), [0.25, 0.125]);
    }
}
