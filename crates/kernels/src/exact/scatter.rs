//! Embedding rows: row `rows[i, t]` of a table is given a vector of sample i.

use super::Grid;
use super::rows::add_row;
use crate::vector::{PIECE, largest_magnitudes, vectorised};
use rayon::prelude::*;

/// The vectors that are added to rows of a table.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Vectors<'a> {
    /// One for each position, `[batch, positions, width]`.
    EachPosition(&'a [f32]),
    /// One for all positions of a sample, `[batch, width]`.
    EachSample(&'a [f32]),
}

impl<'a> Vectors<'a> {
    #[inline(always)]
    fn get(self, sample: usize, position: usize, width: usize) -> &'a [f32] {
        match self {
            Self::EachPosition(values) => &values[position * width..][..width],
            Self::EachSample(values) => &values[sample * width..][..width],
        }
    }
}

/// Adds the steps of `factors[i]` times the vectors of sample i to the rows that `rows` names, each
/// vector rounded by itself.
///
/// A factor of exactly 0 contributes exactly nothing, even if the sample's gradient is not a number.
///
/// # Shapes
/// - `into`: `[table, width]`; `rows`: `[batch, positions]`; `factors`: `[batch]`
///
/// # Panics
/// If a row lies outside the table, or the lengths do not agree.
pub fn add_scattered(
    into: &mut [u32],
    width: usize,
    rows: &[i64],
    vectors: Vectors<'_>,
    factors: &[f32],
    grid: Grid,
) {
    let positions = rows.len().checked_div(factors.len()).unwrap_or(0);
    assert_eq!(rows.len(), positions * factors.len(), "rows of each factor");
    let expected = match vectors {
        Vectors::EachPosition(values) => (values.len(), rows.len() * width),
        Vectors::EachSample(values) => (values.len(), factors.len() * width),
    };
    assert_eq!(expected.0, expected.1, "values of the vectors");
    let row_count = into.len().checked_div(width).unwrap_or(0);
    for &row in rows {
        assert!(
            usize::try_from(row).is_ok_and(|row| row < row_count),
            "row {row} of a table of {row_count} rows"
        );
    }
    if into.is_empty() || rows.is_empty() {
        return;
    }
    // Vectors of a token that repeats may cancel, so that each is longer than the whole.
    let limit = grid.spacing() * f64::from(1 << 22);
    let largest = match vectors {
        Vectors::EachPosition(values) => largest_magnitudes(values, positions * width),
        Vectors::EachSample(values) => largest_magnitudes(values, width),
    };
    let short: Vec<bool> = largest
        .iter()
        .zip(factors)
        .map(|(&value, factor)| f64::from(value) * f64::from(factor.abs()) < limit)
        .collect();
    let threads = match rows.len() * width {
        small if small <= PIECE => 1,
        _ => rayon::current_num_threads(),
    };
    // Each thread has its own part of the table: no two write to one row.
    let part = row_count.div_ceil(threads);
    into.par_chunks_mut(part * width)
        .enumerate()
        .for_each(|(index, table)| {
            let start = index * part;
            let here = table.len() / width;
            vectorised(
                #[inline(always)]
                || {
                    let mut once = vec![0; width];
                    for (sample, rows) in rows.chunks(positions).enumerate() {
                        let factor = factors[sample];
                        if factor == 0.0 {
                            continue;
                        }
                        let shared = matches!(vectors, Vectors::EachSample(_));
                        if shared {
                            once.fill(0);
                            let vector = vectors.get(sample, 0, width);
                            add_vector(&mut once, vector, factor, grid, short[sample]);
                        }
                        for (position, &row) in rows.iter().enumerate() {
                            // Rows of earlier parts wrap around to huge numbers.
                            let row = (row as usize).wrapping_sub(start);
                            if row >= here {
                                continue;
                            }
                            let row = &mut table[row * width..][..width];
                            if shared {
                                add_steps(row, &once);
                            } else {
                                let position = sample * positions + position;
                                let vector = vectors.get(sample, position, width);
                                add_vector(row, vector, factor, grid, short[sample]);
                            }
                        }
                    }
                },
            );
        });
}

/// Adds the steps of `factor · vector`, which may be long.
#[inline(always)]
fn add_vector(into: &mut [u32], vector: &[f32], factor: f32, grid: Grid, short: bool) {
    match short {
        true => add_row(into, vector, factor, grid),
        false => add_long_row(into, vector, factor, grid),
    }
}

/// Adds steps that are known.
#[inline(always)]
fn add_steps(into: &mut [u32], steps: &[u32]) {
    const WIDE: usize = 16;
    let (into, into_rest) = into.as_chunks_mut::<WIDE>();
    let (steps, steps_rest) = steps.as_chunks::<WIDE>();
    for (into, steps) in into.iter_mut().zip(steps) {
        // A value of its own: the compiler cannot tell that the two do not overlap.
        let mut sums = *into;
        for lane in 0..WIDE {
            sums[lane] = sums[lane].wrapping_add(steps[lane]);
        }
        *into = sums;
    }
    for (into, steps) in into_rest.iter_mut().zip(steps_rest) {
        *into = into.wrapping_add(*steps);
    }
}

#[inline(always)]
fn add_long_row(into: &mut [u32], row: &[f32], factor: f32, grid: Grid) {
    for (into, &value) in into.iter_mut().zip(row) {
        *into = into.wrapping_add(grid.steps_of_long_product(value, factor));
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::testkit::{indices, values};
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_sum_is_that_of_each_vector_rounded_alone(
            batch in 1usize..6, positions in 1usize..20, width in 1usize..40, shared: bool, seed: u64,
        ) {
            let (grid, table) = (Grid::for_bound(1.0).unwrap(), 7);
            let rows = indices(batch * positions, table, seed);
            // Some products are far longer than the bound.
            let mut all = values(batch * width * if shared { 1 } else { positions }, !seed);
            all.iter_mut().step_by(5).for_each(|value| *value *= 1e6);
            let mut factors = values(batch, seed ^ 5);
            factors[0] = 0.0;
            let vectors = if shared { Vectors::EachSample(&all) } else { Vectors::EachPosition(&all) };
            let mut sum = vec![0u32; table * width];
            add_scattered(&mut sum, width, &rows, vectors, &factors, grid);
            let mut expected = vec![0i64; table * width];
            for (position, &row) in rows.iter().enumerate() {
                let sample = position / positions;
                for (column, &value) in vectors.get(sample, position, width).iter().enumerate() {
                    let product = f64::from(value) * f64::from(factors[sample]);
                    expected[row as usize * width + column] +=
                        (product / grid.spacing()).round_ties_even() as i64;
                }
            }
            for (&sum, expected) in sum.iter().zip(expected) {
                prop_assert_eq!(sum, expected as u32);
            }
        }
    }

    #[test]
    fn nan_sample_of_factor_zero_contributes_nothing() {
        let grid = Grid::for_bound(8.0).unwrap();
        let vectors = [1.0, f32::NAN, 3.0];
        let mut sum = vec![0; 2];
        let each = Vectors::EachSample(&vectors);
        add_scattered(&mut sum, 1, &[0, 1, 0], each, &[1.0, 0.0, 1.0], grid);
        assert_eq!(sum, [4 * grid.steps(1.0), 0]);
    }
}
