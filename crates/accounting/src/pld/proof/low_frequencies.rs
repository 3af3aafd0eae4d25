//! The lowest coefficients of a long transform, from moments of blocks of its points.
//!
//! After a few rounds all but the lowest frequencies of a composition have died out, and a whole
//! transform of each further round would be spent on coefficients nobody reads. For a frequency k
//! far below the number of blocks, the phase hardly turns within a block of B points; with y in
//! [−1, 1] the place in the block and θ = πkB/N,
//!
//! Σⱼ xⱼ e^(−2πijk/N) = turn · Σₚ (−iθ)ᵖ/p! · Σ_blocks e^(−2πi·block·k/M) Σ x yᵖ,
//!
//! so a transform of the M = N/B block moments for each of a few p is enough.

use super::transform::{Transform, real_transform};
use crate::special::ROUNDOFF;
use realfft::RealToComplex;
use realfft::num_complex::Complex64;
use std::sync::Arc;

/// Powers kept. With θ ≤ 0.2 the first one left out weighs 0.2¹²/12! < 1e-17.
const POWERS: usize = 12;
const LARGEST_ANGLE: f64 = 0.2;
/// Points summed one after the other before their sum is added to a block's: keeps the rounding
/// of sums small.
const RUN: usize = 32;

/// A plan for the lowest coefficients of transforms of one length.
pub(super) struct LowFrequencies {
    length: usize,
    block: usize,
    frequencies: usize,
    transform: Arc<dyn RealToComplex<f64>>,
    /// Moments of every power, block by block.
    moments: Vec<[f64; POWERS]>,
    /// One power's moments, and their transform.
    line: Vec<f64>,
    spectrum: Vec<Complex64>,
    scratch: Vec<Complex64>,
}

impl LowFrequencies {
    /// A plan, if it is worth having: for at least this many coefficients of a transform of
    /// `length`.
    pub(super) fn plan(length: usize, frequencies: usize) -> Option<Self> {
        Self::blocks(length, frequencies).map(|blocks| {
            let transform = real_transform(blocks);
            Self {
                length,
                block: length / blocks,
                frequencies,
                moments: vec![[0.0; POWERS]; blocks],
                line: vec![0.0; blocks],
                spectrum: vec![Complex64::default(); blocks / 2 + 1],
                scratch: vec![Complex64::default(); transform.get_scratch_len()],
                transform,
            }
        })
    }

    /// The number of blocks of such a plan.
    pub(super) fn blocks(length: usize, frequencies: usize) -> Option<usize> {
        // θ = πkB/N for k < frequencies.
        let longest = LARGEST_ANGLE * length as f64 / (std::f64::consts::PI * frequencies as f64);
        let power_of_two = 1 << (longest.max(1.0).log2() as u32).min(length.trailing_zeros() - 1);
        (power_of_two >= 16).then(|| length / power_of_two)
    }

    /// The plan still fits: not many more coefficients are computed than these.
    pub(super) fn fits(&self, length: usize, frequencies: usize) -> bool {
        self.length == length
            && frequencies <= self.frequencies
            && (2 * frequencies > self.frequencies || self.moments.len() <= 256)
    }

    /// Error of every coefficient, relative to the sum of the moduli of the points (PROOF.md,
    /// §4): that of the short transform, of summing each block in runs, of the powers of y, and
    /// what the powers left out weigh, all times e^θ.
    pub(super) fn relative_error(&self) -> f64 {
        let blocks = self.moments.len() as f64;
        let runs = self.block as f64 / RUN as f64;
        let sums = RUN as f64 + runs + 2.0 * POWERS as f64 + 16.0;
        1.3 * (Transform::error_of_length(blocks) + sums * ROUNDOFF)
    }

    /// The coefficients of points (place on the circle, mass), each place below the length.
    pub(super) fn run(&mut self, points: impl Iterator<Item = (usize, f64)>) -> Vec<Complex64> {
        self.collect(points);
        let count = self.frequencies;
        let mut coefficients = vec![Complex64::default(); count];
        let angle = std::f64::consts::PI * self.block as f64 / self.length as f64;
        // (−iθ)ᵖ/p! for each frequency: a real size and a quarter turn per power.
        let mut sizes = vec![1.0; count];
        for power in 0..POWERS {
            for (place, moments) in self.line.iter_mut().zip(&self.moments) {
                *place = moments[power];
            }
            let done = self.transform.process_with_scratch(
                &mut self.line,
                &mut self.spectrum,
                &mut self.scratch,
            );
            debug_assert!(done.is_ok(), "lengths are those of the plan");
            for (k, coefficient) in coefficients.iter_mut().enumerate() {
                let term = self.spectrum[k] * sizes[k];
                *coefficient += match power % 4 {
                    0 => term,
                    1 => Complex64::new(term.im, -term.re),
                    2 => -term,
                    _ => Complex64::new(-term.im, term.re),
                };
                sizes[k] *= angle * k as f64 / (power + 1) as f64;
            }
        }
        let centre = std::f64::consts::PI * (self.block - 1) as f64 / self.length as f64;
        for (k, coefficient) in coefficients.iter_mut().enumerate() {
            *coefficient *= Complex64::from_polar(1.0, -centre * k as f64);
        }
        coefficients
    }

    fn collect(&mut self, points: impl Iterator<Item = (usize, f64)>) {
        self.moments.fill([0.0; POWERS]);
        let shift = self.block.trailing_zeros();
        let scale = 2.0 / self.block as f64;
        let middle = 0.5 * (self.block - 1) as f64;
        let mut run = [0.0; POWERS];
        let (mut current, mut left) = (usize::MAX, 0);
        for (place, mass) in points {
            let block = place >> shift;
            if block != current || left == 0 {
                self.add(current, &mut run);
                (current, left) = (block, RUN);
            }
            left -= 1;
            let y = ((place & (self.block - 1)) as f64 - middle) * scale;
            let (square, cube) = (y * y, y * y * y);
            let fourth = square * square;
            let mut term = [mass, mass * y, mass * square, mass * cube];
            for powers in run.chunks_exact_mut(4) {
                for (sum, value) in powers.iter_mut().zip(&mut term) {
                    *sum += *value;
                    *value *= fourth;
                }
            }
        }
        self.add(current, &mut run);
    }

    fn add(&mut self, block: usize, run: &mut [f64; POWERS]) {
        if let Some(moments) = self.moments.get_mut(block) {
            for (sum, value) in moments.iter_mut().zip(run.iter()) {
                *sum += value;
            }
        }
        *run = [0.0; POWERS];
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn low_frequencies_are_those_of_the_whole_transform() {
        for length in [4096, 5 * 4096, 3 << 14] {
            let mut whole = Transform::new(length);
            let mut points = Vec::new();
            for index in 0..length {
                let mass = ((index * 7919 % 1009) as f64 / 1009.0).powi(8);
                whole.line[index] = mass;
                points.push((index, mass));
            }
            let total: f64 = whole.line.iter().sum();
            whole.run_forward();
            let frequencies = 13;
            let Some(mut low) = LowFrequencies::plan(length, frequencies) else {
                panic!("a plan for few frequencies of {length}");
            };
            let found = low.run(points.into_iter());
            let error = low.relative_error() + whole.relative_error();
            for (k, coefficient) in found.iter().enumerate() {
                let off = (coefficient - whole.spectrum[k]).norm();
                assert!(off <= error * total, "{length} {k}: {off:e}");
            }
        }
    }
}
