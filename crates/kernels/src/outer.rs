//! Norms of sums of outer products, without keeping them.
use crate::gram::gram;
use crate::product::{Destination, Matrix, Workers, multiply};
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

/// Inner products between the positions of each sample: AAᵀ, with zeros above the diagonal.
#[derive(Debug, Clone, PartialEq)]
pub struct Grams {
    values: Vec<f32>,
    positions: usize,
}

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
        .for_each(|(into, sample)| gram(into, sample, width));
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
                    let below = total(
                        a,
                        b,
                        #[inline(always)]
                        |a, b| a * b,
                    );
                    let (mut diagonal, mut reach) = (0.0, 0.0);
                    for at in (0..positions).map(|t| t * (positions + 1)) {
                        let product = f64::from(a[at]) * f64::from(b[at]);
                        diagonal += product;
                        reach += product.sqrt();
                    }
                    // What lies above the diagonal is what lies below it.
                    ((2.0 * below - diagonal) as f32, reach as f32)
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
                    multiply(formed, p, Destination::Replace, part, columns, Workers::One);
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testkit::source;
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
    }

    #[test]
    fn a_gradient_formed_in_parts_is_squared_whole() {
        // 100 × 700 values are three parts.
        let (d, p) = (100, 700);
        let norms = formed_norms(&vec![2.0; 2 * 3 * d], &vec![1.0; 2 * 3 * p], 3, [d, p]);
        // Rounded up.
        let up = (36.0 * 70_000.0f32).next_up();
        assert_eq!(norms.squares, [up; 2]);
    }
}
