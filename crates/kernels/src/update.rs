//! Fused passes over flat parameters and their per-sample gradients.
use crate::vector::{PIECE, add_scaled, piece_of_rows, round_up, squares, total, vectorised};
use rayon::prelude::*;

/// Σᵢ `factors[i]` · row i of the `width` values of each sample.
///
/// A factor of exactly 0 skips its row, whatever stands there: a sample that is clipped away
/// contributes nothing even if its gradient is not a number.
///
/// # Panics
/// If there is not one row per factor.
pub fn weighted_row_sum(rows: &[f32], factors: &[f32], width: usize) -> Vec<f32> {
    assert_eq!(rows.len(), factors.len() * width, "one row per factor");
    let kept: Vec<(usize, f32)> = factors
        .iter()
        .copied()
        .enumerate()
        .filter(|&(_, factor)| factor != 0.0)
        .collect();
    // The running sum of these columns stays in the nearest cache while all rows stream by.
    const COLUMNS: usize = 4096;
    let mut out = vec![0.0; width];
    out.par_chunks_mut(COLUMNS)
        .enumerate()
        .for_each(|(block, out)| {
            let columns = out.len();
            let part = |sample: usize| {
                let start = sample * width + block * COLUMNS;
                &rows[start..start + columns]
            };
            vectorised(
                #[inline(always)]
                || {
                    let (fours, rest) = kept.as_chunks::<4>();
                    for &[(i, a), (j, b), (k, c), (l, d)] in fours {
                        let (i, j, k, l) = (part(i), part(j), part(k), part(l));
                        add_four(out, [i, j, k, l], [a, b, c, d]);
                    }
                    for &(sample, factor) in rest {
                        add_scaled(out, part(sample), factor);
                    }
                },
            );
        });
    out
}

/// `out += Σ factors · rows`, reading and writing `out` once for four rows.
#[inline(always)]
fn add_four(out: &mut [f32], rows: [&[f32]; 4], factors: [f32; 4]) {
    let [i, j, k, l] = rows;
    let [a, b, c, d] = factors;
    for ((((out, i), j), k), l) in out.iter_mut().zip(i).zip(j).zip(k).zip(l) {
        *out += (i.mul_add(a, j * b)) + (k.mul_add(c, l * d));
    }
}

/// Σ x² of each row of `width` values, never below the exact sum.
///
/// Summed in f64 and rounded up: at most one f32 step above the exact sum for rows below 10⁸ values.
///
/// # Panics
/// If the values are not whole rows.
pub fn row_squares(rows: &[f32], width: usize) -> Vec<f32> {
    let piece = piece_of_rows(rows.len(), width);
    let mut out = vec![0.0; rows.len() / width.max(1)];
    out.par_chunks_mut(piece / width.max(1))
        .zip(rows.par_chunks(piece))
        .for_each(|(out, rows)| {
            vectorised(
                #[inline(always)]
                || {
                    for (out, row) in out.iter_mut().zip(rows.chunks_exact(width)) {
                        *out = round_up(squares(row), width);
                    }
                },
            );
        });
    out
}

/// The sum of each row.
///
/// # Panics
/// If the values are not whole rows.
pub fn row_sums(rows: &[f32], width: usize) -> Vec<f32> {
    piece_of_rows(rows.len(), width);
    let mut sums = vec![0.0; rows.len() / width.max(1)];
    sums.par_iter_mut()
        .with_min_len(PIECE.div_ceil(width.max(1)))
        .zip(rows.par_chunks(width.max(1)))
        .for_each(|(sum, row)| {
            *sum = vectorised(
                #[inline(always)]
                || total(row, row, |a, _| a),
            ) as f32;
        });
    sums
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::values;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn weighted_row_sum_equals_the_loop(batch in 0usize..12, width in 0usize..9000, seed: u64) {
            let rows = values(batch * width, seed);
            let mut factors = values(batch, !seed);
            if let Some(factor) = factors.get_mut(1) { *factor = 0.0; }
            let sum = weighted_row_sum(&rows, &factors, width);
            prop_assert_eq!(sum.len(), width);
            for (column, &sum) in sum.iter().enumerate() {
                let exact: f64 = (0..batch)
                    .map(|i| f64::from(factors[i]) * f64::from(rows[i * width + column]))
                    .sum();
                prop_assert!((f64::from(sum) - exact).abs() <= 3e-6);
            }
        }

        #[test]
        fn row_squares_are_a_tight_upper_bound(batch in 0usize..12, width in 1usize..3000, seed: u64) {
            let rows = values(batch * width, seed);
            let seen = row_squares(&rows, width);
            prop_assert_eq!(seen.len(), batch);
            for (seen, row) in seen.iter().zip(rows.chunks(width)) {
                // Values are multiples of 2⁻²³ below 1: each square is exact in f64, and 2⁻⁵³
                // relative error per addition is far below an f32 step.
                let exact: f64 = row.iter().map(|&v| f64::from(v) * f64::from(v)).sum();
                prop_assert!(f64::from(*seen) >= exact);
                prop_assert!(f64::from(*seen) <= exact * (1.0 + 1.3e-7) + 1e-44);
            }
        }
    }

    #[test]
    fn nan_sample_of_factor_zero_contributes_nothing() {
        let rows = [1.0, 2.0, f32::NAN, f32::INFINITY, 3.0, 4.0];
        assert_eq!(weighted_row_sum(&rows, &[1.0, 0.0, 2.0], 2), [7.0, 10.0]);
        assert_eq!(weighted_row_sum(&rows, &[1.0, -0.0, 2.0], 2), [7.0, 10.0]);
    }

    #[test]
    fn squares_of_extreme_values_are_not_lost() {
        let seen = row_squares(
            &[1e-30, 0.0, f32::MAX, f32::MAX, f32::NAN, 1.0, 0.0, 0.0],
            2,
        );
        assert_eq!(seen[0], f32::from_bits(1));
        assert_eq!(seen[1], f32::INFINITY);
        assert!(seen[2].is_nan());
        assert_eq!(seen[3], 0.0);
    }
}
