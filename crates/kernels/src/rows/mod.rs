//! Rows of a table by index: embeddings, and per-sample gradients of them.
//!
//! Sample i's gradient of the table adds `gradient[i, t]` to row `rows[i, t]`. Rows that repeat within
//! a sample add up before a norm is taken. In the `_shared` functions every position of a sample has
//! the same gradient row, which mean pooling produces; it is then given once per sample.
use crate::vector::{PIECE, add_scaled, vectorised};
use rayon::prelude::*;

mod squares;
pub use squares::{per_sample_squares, per_sample_squares_shared};

/// The rows named by `rows`, one after the other.
///
/// ```
/// let table = [1.0, 2.0, 3.0, 4.0];
/// assert_eq!(tacita_kernels::rows::gather(&table, 2, &[1, 0, 1]), [3.0, 4.0, 1.0, 2.0, 3.0, 4.0]);
/// ```
///
/// # Panics
/// If a row lies outside the table.
pub fn gather(table: &[f32], width: usize, rows: &[i64]) -> Vec<f32> {
    let row_count = table.len().checked_div(width).unwrap_or(0);
    let mut out = Vec::with_capacity(rows.len() * width);
    for &row in rows {
        let start = checked(row, row_count) * width;
        out.extend_from_slice(&table[start..start + width]);
    }
    out
}

/// The mean of each sample's rows, `[batch, width]`.
///
/// # Shapes
/// - `rows`: `[batch, positions]`
///
/// # Panics
/// If a row lies outside the table, or a sample has no position.
pub fn gather_mean(table: &[f32], width: usize, rows: &[i64], positions: usize) -> Vec<f32> {
    assert!(positions > 0, "the mean of no rows");
    let row_count = table.len().checked_div(width).unwrap_or(0);
    let mut means = vec![0.0; rows.len() / positions * width];
    let share = 1.0 / positions as f32;
    means
        .par_chunks_mut(width.max(1))
        .zip(rows.par_chunks(positions))
        .with_min_len(PIECE.div_ceil(positions * width.max(1)))
        .for_each(|(mean, rows)| {
            vectorised(
                #[inline(always)]
                || {
                    for &row in rows {
                        let start = checked(row, row_count) * width;
                        add_scaled(mean, &table[start..start + width], 1.0);
                    }
                    mean.iter_mut().for_each(|mean| *mean *= share);
                },
            );
        });
    means
}

/// A table of `row_count` rows: the sum of the gradient rows of each.
///
/// # Panics
/// If a row lies outside the table, or there is not one gradient row per index.
pub fn scatter_add(row_count: usize, width: usize, rows: &[i64], gradient: &[f32]) -> Vec<f32> {
    assert_eq!(
        gradient.len(),
        rows.len() * width,
        "one gradient row per index"
    );
    by_table_part(
        row_count,
        width,
        rows,
        rows.len(),
        #[inline(always)]
        |row, _, position| add_scaled(row, &gradient[position * width..][..width], 1.0),
    )
}

/// The sum over samples of `factors[i]` · gradient of sample i, as a table of `row_count` rows, where all
/// positions of a sample share one gradient row.
///
/// A factor of exactly 0 contributes exactly nothing, even if the sample's gradient is not a number.
///
/// # Shapes
/// - `rows`: `[batch, positions]`; `gradient`: `[batch, width]`; `factors`: `[batch]`.
///
/// # Panics
/// If a row lies outside the table, or the lengths do not agree.
pub fn weighted_scatter_add_shared(
    row_count: usize,
    width: usize,
    rows: &[i64],
    gradient: &[f32],
    factors: &[f32],
) -> Vec<f32> {
    assert_eq!(
        gradient.len(),
        factors.len() * width,
        "one gradient row per sample"
    );
    scatter(
        row_count,
        width,
        rows,
        factors,
        #[inline(always)]
        |sample, _| &gradient[sample * width..][..width],
    )
}

/// Adds `factors[sample]` times the vector of a sample and position to its row.
fn scatter<'a>(
    row_count: usize,
    width: usize,
    rows: &[i64],
    factors: &[f32],
    vector: impl Fn(usize, usize) -> &'a [f32] + Sync,
) -> Vec<f32> {
    by_table_part(
        row_count,
        width,
        rows,
        positions(rows, factors),
        #[inline(always)]
        |row, sample, position| {
            if factors[sample] != 0.0 {
                add_scaled(row, vector(sample, position), factors[sample]);
            }
        },
    )
}

fn positions(rows: &[i64], factors: &[f32]) -> usize {
    let positions = rows.len().checked_div(factors.len()).unwrap_or(0);
    assert_eq!(
        rows.len(),
        positions * factors.len(),
        "as many rows for every factor"
    );
    positions
}

fn checked(row: i64, row_count: usize) -> usize {
    match usize::try_from(row) {
        Ok(row) if row < row_count => row,
        _ => panic!("row {row} of a table of {row_count} rows"),
    }
}

/// Calls `add(row of the table, sample, position among all)` for every index, each thread with its own
/// part of the table: no two write to one row, and the order of additions is always the same.
fn by_table_part(
    row_count: usize,
    width: usize,
    rows: &[i64],
    positions: usize,
    add: impl Fn(&mut [f32], usize, usize) + Sync,
) -> Vec<f32> {
    for &row in rows {
        checked(row, row_count);
    }
    let mut table = vec![0.0; row_count * width];
    if table.is_empty() || rows.is_empty() {
        return table;
    }
    let threads = match rows.len() * width {
        small if small <= PIECE => 1,
        _ => rayon::current_num_threads(),
    };
    let part = row_count.div_ceil(threads);
    table
        .par_chunks_mut(part * width)
        .enumerate()
        .for_each(|(index, table)| {
            let start = index * part;
            let here = table.len() / width;
            vectorised(
                #[inline(always)]
                || {
                    for (sample, rows) in rows.chunks(positions).enumerate() {
                        for (position, &row) in rows.iter().enumerate() {
                            // Rows of earlier parts wrap around to huge numbers.
                            let row = (row as usize).wrapping_sub(start);
                            if row < here {
                                let row = &mut table[row * width..][..width];
                                add(row, sample, sample * positions + position);
                            }
                        }
                    }
                },
            );
        });
    table
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testkit::{close, indices, values};
    use proptest::prelude::*;
    use std::collections::HashMap;

    /// A sample's whole gradient of the table.
    fn table_of(rows: &[i64], gradient: &[f32], width: usize) -> HashMap<i64, Vec<f64>> {
        let mut table = HashMap::new();
        for (row, gradient) in rows.iter().zip(gradient.chunks(width)) {
            let sum = table.entry(*row).or_insert_with(|| vec![0.0; width]);
            for (sum, g) in sum.iter_mut().zip(gradient) {
                *sum += f64::from(*g);
            }
        }
        table
    }

    fn rounded_up(seen: f32, exact: f64) -> bool {
        let seen = f64::from(seen);
        seen >= exact * (1.0 - 1e-15) && seen <= exact * (1.0 + 1.3e-7) + 1e-44
    }

    proptest! {
        #[test]
        fn means_are_the_means_of_gathered_rows(
            batch in 0usize..6, positions in 1usize..30, width in 1usize..40, seed: u64,
        ) {
            let table = values(50 * width, seed);
            let rows = indices(batch * positions, 50, !seed);
            let mut expected = vec![0.0; batch * width];
            for (at, value) in gather(&table, width, &rows).into_iter().enumerate() {
                let (row, column) = (at / width, at % width);
                expected[row / positions * width + column] += f64::from(value) / positions as f64;
            }
            close(&gather_mean(&table, width, &rows, positions), &expected)?;
        }

        #[test]
        fn samples_equal_their_tables(
            batch in 0usize..8, positions in 0usize..40, width in 1usize..40,
            row_count in 1usize..50, seed: u64,
        ) {
            let rows = indices(batch * positions, row_count, seed);
            let gradient = values(rows.len() * width, !seed);
            let (square, reach) = per_sample_squares(&rows, &gradient, batch, positions, width);
            prop_assert_eq!(square.len(), batch);
            let mut plain = vec![0.0; row_count * width];
            for sample in 0..batch {
                let at = sample * positions..(sample + 1) * positions;
                let gradient = &gradient[at.start * width..at.end * width];
                let table = table_of(&rows[at.clone()], gradient, width);
                let exact: f64 = table.values().flatten().map(|v| v * v).sum();
                prop_assert!(rounded_up(square[sample], exact));
                let rows = &rows[at];
                let exact: f64 = gradient
                    .chunks(width)
                    .zip(rows)
                    .filter(|(_, row)| rows.iter().filter(|other| other == row).count() > 1)
                    .map(|(g, _)| g.iter().map(|&g| f64::from(g).powi(2)).sum::<f64>().sqrt())
                    .sum();
                prop_assert!(rounded_up(reach[sample], exact));
                for (row, sum) in table {
                    for (column, sum) in sum.into_iter().enumerate() {
                        plain[row as usize * width + column] += sum;
                    }
                }
            }
            let seen = scatter_add(row_count, width, &rows, &gradient);
            for (seen, plain) in seen.iter().zip(&plain) {
                prop_assert!((f64::from(*seen) - plain).abs() <= 2e-5);
            }
        }

        #[test]
        fn shared_gradients_equal_repeated_ones(
            batch in 0usize..8, positions in 0usize..40, width in 1usize..40,
            row_count in 1usize..50, seed: u64,
        ) {
            let rows = indices(batch * positions, row_count, seed);
            let shared = values(batch * width, !seed);
            let repeated: Vec<f32> = shared
                .chunks(width)
                .flat_map(|g| g.repeat(positions))
                .collect();
            let factors = values(batch, seed ^ 9);
            let close = |a: &[f32], b: &[f32], slack: f32| {
                a.len() == b.len() && a.iter().zip(b).all(|(a, b)| (a - b).abs() <= slack * (1.0 + b.abs()))
            };
            let (square, reach) = per_sample_squares(&rows, &repeated, batch, positions, width);
            let (square_shared, reach_shared) =
                per_sample_squares_shared(&rows, &shared, batch, positions, width);
            prop_assert!(close(&square_shared, &square, 1.3e-7));
            prop_assert!(close(&reach_shared, &reach, 1.3e-7));
            let weighted: Vec<f32> = repeated
                .chunks((positions * width).max(1))
                .zip(&factors)
                .flat_map(|(row, factor)| row.iter().map(move |value| value * factor))
                .collect();
            let sum = scatter_add(row_count, width, &rows, &weighted);
            let sum_shared = weighted_scatter_add_shared(row_count, width, &rows, &shared, &factors);
            prop_assert!(close(&sum_shared, &sum, 1e-4));
        }
    }

    proptest! {
        #[test]
        fn runs_that_share_gradients_equal_repeated_ones(
            batch in 0usize..5, runs in 1usize..5, run in 1usize..20, width in 1usize..20, seed: u64,
        ) {
            let positions = runs * run;
            let rows = indices(batch * positions, 12, seed);
            let shared = values(batch * runs * width, !seed);
            let repeated: Vec<f32> = shared.chunks(width).flat_map(|g| g.repeat(run)).collect();
            let close = |a: &[f32], b: &[f32]| {
                a.len() == b.len() && a.iter().zip(b).all(|(a, b)| (a - b).abs() <= 1.3e-7 * (1.0 + b.abs()))
            };
            let (square, reach) = per_sample_squares(&rows, &repeated, batch, positions, width);
            let of_runs = per_sample_squares_shared(&rows, &shared, batch, positions, width);
            prop_assert!(close(&of_runs.0, &square) && close(&of_runs.1, &reach));
        }
    }

    #[test]
    fn large_tables_equal_the_sum_of_halves() {
        let rows = indices(20_000, 700, 3);
        let gradient: Vec<f32> = values(20_000 * 8, 4)
            .iter()
            .map(|v| (v * 16.0).round())
            .collect();
        let whole = scatter_add(700, 8, &rows, &gradient);
        let mut halves = scatter_add(700, 8, &rows[..10_000], &gradient[..80_000]);
        let second = scatter_add(700, 8, &rows[10_000..], &gradient[80_000..]);
        for (a, b) in halves.iter_mut().zip(second) {
            *a += b;
        }
        assert_eq!(whole, halves);
    }

    #[test]
    fn nan_sample_of_factor_zero_contributes_nothing() {
        let rows = [0, 1, 1, 0];
        let factors = [0.0, 2.0];
        let shared = [f32::NAN, 3.0];
        assert_eq!(
            weighted_scatter_add_shared(2, 1, &rows, &shared, &factors),
            [6.0, 6.0]
        );
    }

    #[test]
    fn squares_are_not_too_small_where_equal_rows_cancel() {
        // 1 is lost beside 2⁶⁰ in f64, so the sum comes out as 0 instead of 1.
        let large = 2_f32.powi(60);
        let (square, _) = per_sample_squares(&[0; 3], &[large, 1.0, -large], 1, 3, 1);
        assert!(square[0] >= 1.0);
    }

    #[test]
    fn nan_stays_in_its_sample() {
        let (square, reach) =
            per_sample_squares(&[0, 0, 0, 0], &[f32::NAN, 0.0, 3.0, 4.0], 2, 2, 1);
        assert!(square[0].is_nan() && reach[0].is_nan());
        assert!(rounded_up(square[1], 49.0) && rounded_up(reach[1], 7.0));
    }

    #[test]
    #[should_panic(expected = "row 5 of a table of 5 rows")]
    fn a_row_beyond_the_table_is_refused() {
        scatter_add(5, 1, &[5], &[1.0]);
    }

    #[test]
    #[should_panic(expected = "row -3 of a table")]
    fn a_negative_row_has_no_norm() {
        per_sample_squares(&[1, -3], &[1.0, 1.0], 1, 2, 1);
    }

    #[test]
    #[should_panic(expected = "row -1 of a table of 2 rows")]
    fn a_negative_row_is_refused() {
        gather(&[1.0, 2.0], 1, &[-1]);
    }
}
