//! Per-sample gradients that have been formed, one row each.

use super::Grid;
use crate::vector::vectorised;
use rayon::prelude::*;

/// Columns whose totals stay in the nearest cache while all rows pass.
const COLUMNS: usize = 4096;

/// Adds the steps of `factors[i]` · row i, each rounded by itself.
///
/// A factor of exactly 0 skips its row, whatever stands there: a sample that is clipped away
/// contributes nothing even if its gradient is not a number.
///
/// # Panics
/// If there is not one row per factor.
pub fn add_rows(into: &mut [u32], rows: &[f32], factors: &[f32], grid: Grid) {
    let width = into.len();
    assert_eq!(rows.len(), factors.len() * width, "one row per factor");
    let kept: Vec<(usize, f32)> = factors
        .iter()
        .copied()
        .enumerate()
        .filter(|&(_, factor)| factor != 0.0)
        .collect();
    into.par_chunks_mut(COLUMNS)
        .enumerate()
        .for_each(|(block, into)| {
            let columns = into.len();
            let part = |sample: usize| &rows[sample * width + block * COLUMNS..][..columns];
            vectorised(
                #[inline(always)]
                || {
                    let (fours, rest) = kept.as_chunks::<4>();
                    for four in fours {
                        let rows = four.map(|(sample, _)| part(sample));
                        add_four(into, rows, four.map(|(_, factor)| factor), grid);
                    }
                    for &(sample, factor) in rest {
                        add_row(into, part(sample), factor, grid);
                    }
                },
            );
        });
}

/// Adds the steps of four rows, reading and writing the sum once.
#[inline(always)]
fn add_four(into: &mut [u32], rows: [&[f32]; 4], factors: [f32; 4], grid: Grid) {
    let [i, j, k, l] = rows;
    let [a, b, c, d] = factors;
    for ((((into, &i), &j), &k), &l) in into.iter_mut().zip(i).zip(j).zip(k).zip(l) {
        let first = grid
            .steps_of_product(i, a)
            .wrapping_add(grid.steps_of_product(j, b));
        let second = grid
            .steps_of_product(k, c)
            .wrapping_add(grid.steps_of_product(l, d));
        *into = into.wrapping_add(first.wrapping_add(second));
    }
}

/// Adds the steps of `factor · row`.
#[inline(always)]
pub(super) fn add_row(into: &mut [u32], row: &[f32], factor: f32, grid: Grid) {
    // In fixed pieces: rows are often 16 to 64 wide, too short for the compiler's unrolled loop.
    const WIDE: usize = 16;
    let (into, into_rest) = into.as_chunks_mut::<WIDE>();
    let (row, row_rest) = row.as_chunks::<WIDE>();
    for (into, row) in into.iter_mut().zip(row) {
        let mut sums = *into;
        for lane in 0..WIDE {
            sums[lane] = sums[lane].wrapping_add(grid.steps_of_product(row[lane], factor));
        }
        *into = sums;
    }
    for (into, &value) in into_rest.iter_mut().zip(row_rest) {
        *into = into.wrapping_add(grid.steps_of_product(value, factor));
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::testkit::values;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_sum_is_that_of_each_row_rounded_alone(batch in 0usize..12, width in 1usize..9000, seed: u64) {
            let grid = Grid::for_bound(1.0).unwrap();
            let rows = values(batch * width, seed);
            let mut factors = values(batch, !seed);
            if let Some(factor) = factors.get_mut(1) { *factor = 0.0; }
            let mut sum = vec![0; width];
            add_rows(&mut sum, &rows, &factors, grid);
            for (column, &sum) in sum.iter().enumerate() {
                let expected = (0..batch).fold(0i64, |sum, i| {
                    let product = f64::from(factors[i]) * f64::from(rows[i * width + column]);
                    sum + (product / grid.spacing()).round_ties_even() as i64
                });
                prop_assert_eq!(i64::from(sum as i32), expected);
            }
        }
    }

    #[test]
    fn nan_sample_of_factor_zero_contributes_nothing() {
        let grid = Grid::for_bound(8.0).unwrap();
        let rows = [1.0, 2.0, f32::NAN, f32::INFINITY, 1.0, 1.0];
        for zero in [0.0, -0.0] {
            let mut sum = vec![0; 2];
            add_rows(&mut sum, &rows, &[1.0, zero, 2.0], grid);
            let one = grid.steps(1.0);
            assert_eq!(sum, [3 * one, 4 * one]);
        }
    }
}
