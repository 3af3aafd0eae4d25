//! Fused passes over flat parameters and their per-sample gradients.
use crate::vector::{PIECE, piece_of_rows, round_up, squares, total, vectorised};
use rayon::prelude::*;

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
    use crate::testkit::values;
    use proptest::prelude::*;

    proptest! {
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
