//! Norms and weighted sums of sums of outer products, without forming them sample by sample.
use crate::product::{Into, Matrix, Workers, multiply};
use crate::vector::{round_up, squares, total, vectorised};
use rayon::prelude::*;

/// Squared norms of each sample, and what bounds their rounding error.
#[derive(Debug, Clone, PartialEq)]
pub struct Norms {
    /// ‖Σₜ aₜ ⊗ bₜ‖² = ⟨AAᵀ, BBᵀ⟩. Terms cancel: the error is that of d + p + 2·positions roundings
    /// (plus a few) of reach².
    pub squares: Vec<f32>,
    /// Σₜ ‖aₜ‖‖bₜ‖.
    pub reach: Vec<f32>,
}

/// Inner products between the positions of each sample: AAᵀ, of which only what lies on and below the
/// diagonal is meant.
#[derive(Debug, Clone, PartialEq)]
pub struct Grams {
    values: Vec<f32>,
    positions: usize,
}

/// Rows of a Gram matrix computed at once, up to their last column: a multiple of the product's own
/// tile, so that what lies above the diagonal is mostly left out.
const ROWS: usize = 64;

/// The Gram matrix of each sample.
///
/// # Shapes
/// - `factor`: `[batch, positions, width]`
///
/// # Panics
/// If the values do not divide among `batch` samples of `positions`.
pub fn grams(factor: &[f32], batch: usize, positions: usize) -> Grams {
    let entries = batch * positions;
    let width = factor.len() / entries.max(1);
    assert_eq!(factor.len(), entries * width, "{entries} positions");
    let mut values = vec![0.0; entries * positions];
    if width == 0 {
        return Grams { values, positions };
    }
    values
        .par_chunks_mut((positions * positions).max(1))
        .zip(factor.par_chunks(positions * width))
        .for_each(|(gram, sample)| {
            for first in (0..positions).step_by(ROWS) {
                let last = positions.min(first + ROWS);
                let rows = &sample[first * width..last * width];
                let rows = Matrix::new(rows, last - first, width);
                let columns = Matrix::new(&sample[..last * width], last, width).transposed();
                let into = &mut gram[first * positions..];
                multiply(into, positions, Into::Replace, rows, columns, Workers::One);
            }
        });
    Grams { values, positions }
}

/// The norm of each sample's Σₜ aₜ ⊗ bₜ from inner products between positions (Li et al. 2022, §4).
///
/// # Panics
/// If the samples or positions of both differ.
pub fn gram_norms(left: &Grams, right: &Grams) -> Norms {
    let positions = left.positions;
    assert_eq!(positions, right.positions, "positions of both factors");
    assert_eq!(left.values.len(), right.values.len(), "samples of both");
    let size = (positions * positions).max(1);
    let (squares, reach) = left
        .values
        .par_chunks(size)
        .zip(right.values.par_chunks(size))
        .map(|(a, b)| {
            vectorised(
                #[inline(always)]
                || {
                    let (mut square, mut reach) = (0.0, 0.0);
                    for t in 0..positions {
                        let row = t * positions..t * positions + t;
                        // Row by row, so that the chain of roundings is that of one row.
                        let below = total(
                            &a[row.clone()],
                            &b[row.clone()],
                            #[inline(always)]
                            |a, b| a * b,
                        );
                        let diagonal = f64::from(a[row.end]) * f64::from(b[row.end]);
                        square += 2.0 * below + diagonal;
                        reach += diagonal.sqrt();
                    }
                    (square as f32, reach as f32)
                },
            )
        })
        .unzip();
    Norms { squares, reach }
}

/// Values of a part of a gradient that stay in the cache until they are squared.
const FORMED: usize = 1 << 15;

/// The norm of each sample's Σₜ aₜ ⊗ bₜ, formed part by part and dropped. `squares` are those of the
/// sums as formed, in f32, never below them; the sums' own error is that of `positions` roundings of
/// reach.
///
/// # Shapes
/// - `left`: `[batch, positions, d]`; `right`: `[batch, positions, p]`
///
/// # Panics
/// If the lengths do not agree.
pub fn formed_norms(left: &[f32], right: &[f32], positions: usize, [d, p]: [usize; 2]) -> Norms {
    let batch = left.len() / (positions * d).max(1);
    assert_eq!(left.len(), batch * positions * d, "left factors");
    assert_eq!(right.len(), batch * positions * p, "right factors");
    if left.is_empty() || right.is_empty() {
        let zeros = vec![0.0; batch];
        return Norms {
            squares: zeros.clone(),
            reach: zeros,
        };
    }
    let rows = (FORMED / p).clamp(1, d);
    let (squares, reach) = left
        .par_chunks(positions * d)
        .zip(right.par_chunks(positions * p))
        .map_init(
            || vec![0.0; rows * p],
            |formed, (left, right)| {
                let columns = Matrix::new(right, positions, p);
                let mut square = 0.0;
                for first in (0..d).step_by(rows) {
                    let count = rows.min(d - first);
                    let part = Matrix::spaced(&left[first..], positions, count, d).transposed();
                    multiply(formed, p, Into::Replace, part, columns, Workers::One);
                    square += squares_of(&formed[..count * p]);
                }
                let lengths = left.chunks_exact(d).zip(right.chunks_exact(p));
                let reach: f64 = lengths
                    .map(|(a, b)| (squares_of(a) * squares_of(b)).sqrt())
                    .sum();
                (round_up(square, d * p), round_up(reach, positions))
            },
        )
        .unzip();
    Norms { squares, reach }
}

fn squares_of(values: &[f32]) -> f64 {
    vectorised(
        #[inline(always)]
        || squares(values),
    )
}

/// Values of scaled rows that stay in the cache while they are multiplied.
const SCALED: usize = 1 << 17;

/// Σᵢ `factors[i]` Σₜ aᵢₜ ⊗ bᵢₜ, `[d, p]`.
///
/// A factor of exactly 0 leaves its sample out, whatever stands there.
///
/// # Shapes
/// - `left`: `[batch, positions, d]`; `right`: `[batch, positions, p]`
///
/// # Panics
/// If the lengths do not agree.
pub fn weighted_sum(
    left: &[f32],
    right: &[f32],
    factors: &[f32],
    positions: usize,
    [d, p]: [usize; 2],
) -> Vec<f32> {
    let entries = factors.len() * positions;
    assert_eq!(left.len(), entries * d, "left factors of {entries}");
    assert_eq!(right.len(), entries * p, "right factors of {entries}");
    let mut sum = vec![0.0; d * p];
    let narrow = d.min(p).max(1);
    let run = (SCALED / (positions * narrow).max(1)).max(1);
    let mut scaled = Vec::with_capacity((run * positions * narrow).min(entries * narrow));
    let mut mode = Into::Replace;
    let mut first = 0;
    for kept in factors.chunk_by(|a, b| (*a == 0.0) == (*b == 0.0)) {
        for factors in kept.chunks(run) {
            let rows = first * positions..(first + factors.len()) * positions;
            first += factors.len();
            if factors[0] == 0.0 || rows.is_empty() {
                continue;
            }
            let left = &left[rows.start * d..rows.end * d];
            let right = &right[rows.start * p..rows.end * p];
            // The factors go onto the narrower side.
            scale_into(&mut scaled, if d < p { left } else { right }, factors);
            let (left, right) = if d < p {
                (scaled.as_slice(), right)
            } else {
                (left, scaled.as_slice())
            };
            let left = Matrix::new(left, rows.len(), d).transposed();
            let right = Matrix::new(right, rows.len(), p);
            multiply(&mut sum, p, mode, left, right, Workers::All);
            mode = Into::Add;
        }
    }
    sum
}

/// Each sample's values times its factor.
fn scale_into(scaled: &mut Vec<f32>, values: &[f32], factors: &[f32]) {
    scaled.clear();
    let size = (values.len() / factors.len()).max(1);
    for (values, factor) in values.chunks_exact(size).zip(factors) {
        scaled.extend(values.iter().map(|value| value * factor));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::source;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn norms_are_those_of_the_formed_sums(
            batch in 0usize..4, positions in 1usize..140, d in 1usize..40, p in 1usize..20, seed: u64,
        ) {
            let mut values = source(seed);
            let (left, right) = (values(batch * positions * d), values(batch * positions * p));
            let grams = |factor: &[f32]| grams(factor, batch, positions);
            let Norms { squares, reach } = gram_norms(&grams(&left), &grams(&right));
            let formed = formed_norms(&left, &right, positions, [d, p]);
            prop_assert_eq!((squares.len(), reach.len(), formed.squares.len()), (batch, batch, batch));
            for sample in 0..batch {
                let mut sum = vec![0.0f64; d * p];
                let mut expected_reach = 0.0;
                for t in 0..positions {
                    let a = &left[(sample * positions + t) * d..][..d];
                    let b = &right[(sample * positions + t) * p..][..p];
                    for (at, sum) in sum.iter_mut().enumerate() {
                        *sum += f64::from(a[at / p]) * f64::from(b[at % p]);
                    }
                    let norm = |v: &[f32]| v.iter().map(|&v| f64::from(v).powi(2)).sum::<f64>().sqrt();
                    expected_reach += norm(a) * norm(b);
                }
                let expected: f64 = sum.iter().map(|v| v * v).sum();
                let roundings = (d + p + 2 * positions + 4) as f64 / (1u64 << 24) as f64;
                let error = (f64::from(squares[sample]) - expected).abs();
                prop_assert!(error <= 1.01 * roundings * expected_reach.powi(2));
                prop_assert!((f64::from(reach[sample]) / expected_reach - 1.0).abs() < 1e-4);
                let error = 1.01 * (positions as f64) / (1u64 << 24) as f64 * expected_reach;
                let formed = f64::from(formed.squares[sample]).sqrt();
                prop_assert!((formed - expected.sqrt()).abs() <= error + 1e-7 * formed);
            }
        }

        #[test]
        fn weighted_sum_equals_the_loop(
            batch in 0usize..6, positions in 0usize..40, d in 1usize..40, p in 1usize..40, seed: u64,
        ) {
            let mut values = source(seed);
            let (left, right) = (values(batch * positions * d), values(batch * positions * p));
            let mut factors = values(batch);
            if let Some(factor) = factors.get_mut(2) { *factor = 0.0; }
            let sum = weighted_sum(&left, &right, &factors, positions, [d, p]);
            prop_assert_eq!(sum.len(), d * p);
            for (at, &sum) in sum.iter().enumerate() {
                let expected: f64 = (0..batch * positions)
                    .map(|row| f64::from(factors[row / positions])
                        * f64::from(left[row * d + at / p]) * f64::from(right[row * p + at % p]))
                    .sum();
                prop_assert!((f64::from(sum) - expected).abs() <= 5e-5);
            }
        }
    }

    #[test]
    fn a_gradient_formed_in_parts_is_squared_whole() {
        // 100 × 700 values are three parts.
        let (d, p) = (100, 700);
        let norms = formed_norms(&vec![2.0; 2 * 3 * d], &vec![1.0; 2 * 3 * p], 3, [d, p]);
        assert_eq!(norms.squares, [36.0 * 70_000.0; 2]);
    }

    #[test]
    fn many_rows_are_summed_run_by_run() {
        // 700 samples of one position and width 512 are three runs.
        let (batch, d, p) = (700, 3, 512);
        let (left, right) = (vec![1.0; batch * d], vec![1.0; batch * p]);
        let factors: Vec<f32> = (0..batch).map(|i| (i % 3) as f32).collect();
        let sum = weighted_sum(&left, &right, &factors, 1, [d, p]);
        assert!(sum.iter().all(|&sum| sum == factors.iter().sum::<f32>()));
        let sum = weighted_sum(&right, &right, &factors, 1, [p, p]);
        assert!(sum.iter().all(|&sum| sum == factors.iter().sum::<f32>()));
    }

    #[test]
    fn a_sample_that_is_not_finite_stays_alone() {
        let mut left = vec![1.0; 3 * 2 * 4];
        left[9] = f32::NAN;
        left[10] = f32::INFINITY;
        let right = vec![1.0; 3 * 2 * 5];
        let norms = gram_norms(&grams(&left, 3, 2), &grams(&right, 3, 2));
        assert!(norms.squares[1].is_nan() && norms.reach[1].is_nan());
        assert_eq!([norms.squares[0], norms.squares[2]], [80.0, 80.0]);
        let norms = formed_norms(&left, &right, 2, [4, 5]);
        assert!(norms.squares[1].is_nan() && norms.reach[1].is_nan());
        assert_eq!([norms.squares[0], norms.squares[2]], [80.0, 80.0]);
        let sum = weighted_sum(&left, &right, &[1.0, 0.0, 2.0], 2, [4, 5]);
        assert_eq!(sum, [6.0; 20]);
        let sum = weighted_sum(&right, &left, &[1.0, -0.0, 2.0], 2, [5, 4]);
        assert_eq!(sum, [6.0; 20]);
    }
}
