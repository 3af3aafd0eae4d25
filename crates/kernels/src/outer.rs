//! Norms of sums of outer products, without forming them.
use crate::product::{Into, Matrix, Workers, multiply};
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

/// The norm of each sample's Σₜ aₜ ⊗ bₜ from inner products between positions (Li et al. 2022, §4).
///
/// # Shapes
/// - `left`: `[batch, positions, d]`; `right`: `[batch, positions, p]`
///
/// # Panics
/// If the lengths do not agree.
pub fn gram_norms(left: &[f32], right: &[f32], batch: usize, positions: usize) -> Norms {
    let mut squares = vec![0.0; batch];
    let mut reach = vec![0.0; batch];
    let entries = batch * positions;
    if entries == 0 {
        return Norms { squares, reach };
    }
    let (d, p) = (left.len() / entries, right.len() / entries);
    assert_eq!(
        left.len(),
        entries * d,
        "left factors of {entries} positions"
    );
    assert_eq!(
        right.len(),
        entries * p,
        "right factors of {entries} positions"
    );
    let share = batch.div_ceil(4 * rayon::current_num_threads()).max(1);
    squares
        .par_chunks_mut(share)
        .zip(reach.par_chunks_mut(share))
        .enumerate()
        .for_each(|(index, (squares, reach))| {
            let mut grams = [(); 2].map(|()| vec![0.0; positions * positions]);
            for (offset, (square, reach)) in squares.iter_mut().zip(reach).enumerate() {
                let sample = index * share + offset;
                for (gram, (factor, width)) in grams.iter_mut().zip([(left, d), (right, p)]) {
                    let size = positions * width;
                    let rows = Matrix::new(&factor[sample * size..][..size], positions, width);
                    let columns = rows.transposed();
                    multiply(gram, positions, Into::Replace, rows, columns, Workers::One);
                }
                let [a, b] = &grams;
                // Row by row, so that the chain of roundings is twice the positions, not their square.
                let rows = a.chunks_exact(positions).zip(b.chunks_exact(positions));
                *square = rows
                    .map(|(a, b)| a.iter().zip(b).map(|(a, b)| a * b).sum::<f32>())
                    .sum::<f32>();
                *reach = (0..positions)
                    .map(|t| t * (positions + 1))
                    .map(|at| (a[at] * b[at]).sqrt())
                    .sum();
            }
        });
    Norms { squares, reach }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::source;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn norms_are_those_of_the_formed_sums(
            batch in 0usize..5, positions in 1usize..20, d in 1usize..20, p in 1usize..20, seed: u64,
        ) {
            let mut values = source(seed);
            let (left, right) = (values(batch * positions * d), values(batch * positions * p));
            let Norms { squares, reach } = gram_norms(&left, &right, batch, positions);
            prop_assert_eq!((squares.len(), reach.len()), (batch, batch));
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
            }
        }
    }
}
