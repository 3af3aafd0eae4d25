//! Gaussian noise: the only place that draws any.
//!
//! The normal at (key, step, query, tensor, index) is a pure function of those numbers, so threads
//! share the work freely and the result does not depend on how many there are. What generator,
//! what tail, and which floating-point attacks are answered how: `docs/src/understanding/noise.md`.

mod normal;

use rayon::prelude::*;
use tacita_kernels::exact::Sum;
use thiserror::Error;

use crate::chacha::{GROUP, LANES, ROWS, Subkey};
use crate::keys::Keys;

/// How the noise is protected against attacks that use the gaps between floating-point numbers.
///
/// Both modes add in f64 and round the noisy value to a public grid, a power of two between 1/32
/// and 1/16 of the noise's standard deviation, so what is released has the same possible values
/// whatever the data (against Mironov 2012, Jin et al. 2022 and Haney et al. 2022). Rounding is
/// post-processing; it raises the variance by less than 0.04 %.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum NoiseHardening {
    /// One normal for each value. The default.
    #[default]
    Grid,
    /// Half the sum of four independent normals for each value (Holohan & Braghin 2021), so that
    /// no single call of the sampler can be inverted even where the grid is somehow undone.
    /// Costs four times as many normals.
    GridAndSumOfFour,
}

impl NoiseHardening {
    fn normals_per_value(self) -> u32 {
        match self {
            Self::Grid => 1,
            Self::GridAndSumOfFour => 4,
        }
    }
}

/// Why noise was not drawn.
#[derive(Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum NoiseError {
    /// A standard deviation that f32 gradients cannot carry.
    #[error(
        "noise standard deviation must be between 1e-30 and 1e30, got {noise_std}; check the clipping threshold; nothing was released"
    )]
    StandardDeviation {
        /// The value seen.
        noise_std: f64,
    },
    /// The same noise would have been used twice, which would reveal the difference of two sums.
    #[error(
        "noise for tensor {tensor} was asked for after tensor {last}: numbers must increase, so that none is used twice; nothing was released"
    )]
    TensorOrder {
        /// The tensor asked for.
        tensor: u32,
        /// The last tensor that got noise.
        last: u32,
    },
}

/// The noise of one query of one step.
pub struct NoiseStream {
    subkey: Subkey,
    hardening: NoiseHardening,
    last_tensor: Option<u32>,
}

/// Values one thread works on at a time: 64 KiB, far more work than handing it over.
const VALUES_PER_TASK: usize = 32 * GROUP;

impl NoiseStream {
    /// The stream of `query` (the gradient is 0, side queries follow) of `step`.
    ///
    /// A step must be opened once only under the same keys; the ledger's order sees to it.
    pub fn new(keys: &Keys, step: u64, query: u32, hardening: NoiseHardening) -> Self {
        let position = [step as u32, (step >> 32) as u32, query, 0];
        Self {
            subkey: Subkey::derive(&keys.noise, position),
            hardening,
            last_tensor: None,
        }
    }

    /// `values[i] += noise_std * normal(i)`, rounded to the grid of `noise_std`.
    ///
    /// Tensors of one query must come in increasing order, each once: using a number twice would
    /// add the same noise twice.
    pub fn add_normals(
        &mut self,
        tensor: u32,
        noise_std: f64,
        values: &mut [f32],
    ) -> Result<(), NoiseError> {
        self.add_normals_then_scale(tensor, noise_std, 1.0, values)
    }

    /// [`Self::add_normals`], then each noisy value times `factor` in the same pass. The factor must be
    /// public: scaling what is released is post-processing.
    pub fn add_normals_then_scale(
        &mut self,
        tensor: u32,
        noise_std: f64,
        factor: f32,
        values: &mut [f32],
    ) -> Result<(), NoiseError> {
        let grid = Grid::of(noise_std, self.hardening)?;
        self.take_number(tensor)?;
        self.add(tensor, grid, factor, values);
        Ok(())
    }

    fn add(&self, tensor: u32, grid: Grid, factor: f32, values: &mut [f32]) {
        self.fill(
            tensor,
            grid,
            factor,
            values,
            #[inline(always)]
            |_, values: &[f32], exact: &mut [f64]| {
                for (exact, value) in exact.iter_mut().zip(values) {
                    *exact = f64::from(*value);
                }
            },
            #[inline(always)]
            |noisy| noisy,
        );
    }

    /// Writes noisy values; `exact(first, old, into)` tells those without noise from `first` on, and
    /// `stored` how a noisy value is kept where an old one was.
    fn fill<T: Copy + Send>(
        &self,
        tensor: u32,
        grid: Grid,
        factor: f32,
        values: &mut [T],
        exact: impl Fn(usize, &[T], &mut [f64]) + Sync,
        stored: impl Fn(f32) -> T + Copy + Sync,
    ) {
        let arch = pulp::Arch::new();
        let add = |(task, values): (usize, &mut [T])| {
            arch.dispatch(AddNormals {
                stream: &self.subkey,
                tensor,
                parts: self.hardening.normals_per_value(),
                first_group: (task * (VALUES_PER_TASK / GROUP)) as u64,
                grid,
                factor,
                values,
                exact: &exact,
                stored,
            });
        };
        if values.len() <= VALUES_PER_TASK {
            add((0, values));
        } else {
            values
                .par_chunks_mut(VALUES_PER_TASK)
                .enumerate()
                .for_each(add);
        }
    }

    /// The sum with noise, each noisy value times a public factor. Noise is added to the exact sum in
    /// f64; rounding what comes out is post-processing.
    pub fn noisy_sum(
        &mut self,
        tensor: u32,
        noise_std: f64,
        sum: Sum,
        factor: f32,
    ) -> Result<Vec<f32>, NoiseError> {
        let grid = Grid::of(noise_std, self.hardening)?;
        self.take_number(tensor)?;
        let sums = sum.grid();
        // A noisy value takes the place of the steps it was made from: fresh memory costs much beside the
        // noise itself.
        match sum.into_short_steps() {
            Ok(mut steps) => {
                self.fill(
                    tensor,
                    grid,
                    factor,
                    &mut steps,
                    #[inline(always)]
                    |_, steps, exact| {
                        for (exact, steps) in exact.iter_mut().zip(steps) {
                            *exact = sums.value(*steps);
                        }
                    },
                    f32::to_bits,
                );
                Ok(steps.into_iter().map(f32::from_bits).collect())
            }
            Err(sum) => {
                let mut noisy = vec![0.0; sum.len()];
                self.fill(
                    tensor,
                    grid,
                    factor,
                    &mut noisy,
                    #[inline(always)]
                    |first, _, exact| sum.read(first, exact),
                    #[inline(always)]
                    |noisy| noisy,
                );
                Ok(noisy)
            }
        }
    }

    /// The same for a short vector of f64: a sum over all records of a data set has more digits than
    /// f32 holds, and rounding it first would add to its sensitivity.
    pub fn add_normals_to_f64(
        &mut self,
        tensor: u32,
        noise_std: f64,
        values: &mut [f64],
    ) -> Result<(), NoiseError> {
        let grid = Grid::of(noise_std, self.hardening)?;
        self.take_number(tensor)?;
        let parts = self.hardening.normals_per_value();
        for (group, values) in values.chunks_mut(GROUP).enumerate() {
            let sum = sum_of_normals(&self.subkey, group as u64, tensor, parts);
            for (value, normal) in values.iter_mut().zip(sum.as_flattened()) {
                *value = grid.noisy(*value, *normal);
            }
        }
        Ok(())
    }

    /// `values[i] += noise_std * normal(i)` rounded to a whole number, modulo 2^64: a share of the noise of a sum that
    /// several parties make together on one public grid, of which `noise_std` counts the steps.
    ///
    /// What is added is spaced by 1, not by a part of the standard deviation, so it hides the last digit of a value
    /// as well as the first.
    pub fn add_whole_normals(
        &mut self,
        tensor: u32,
        noise_std: f64,
        values: &mut [i64],
    ) -> Result<(), NoiseError> {
        Grid::of(noise_std, self.hardening)?;
        self.take_number(tensor)?;
        for (group, values) in values.chunks_mut(GROUP).enumerate() {
            let normals = sum_of_normals(&self.subkey, group as u64, tensor, 1);
            for (value, normal) in values.iter_mut().zip(normals.as_flattened()) {
                *value = value.wrapping_add((noise_std * normal).round() as i64);
            }
        }
        Ok(())
    }

    /// Takes a tensor's number, which must be above the last.
    fn take_number(&mut self, tensor: u32) -> Result<(), NoiseError> {
        if let Some(last) = self.last_tensor.filter(|&last| tensor <= last) {
            return Err(NoiseError::TensorOrder { tensor, last });
        }
        self.last_tensor = Some(tensor);
        Ok(())
    }
}

/// Where noisy values may lie: the multiples of a power of two that depends on `noise_std` alone.
#[derive(Clone, Copy)]
struct Grid {
    /// The standard deviation of each normal that is added.
    scale: f64,
    /// Adding and subtracting 1.5 · 2^52 spacings rounds to a multiple of the spacing (ties to
    /// even), exactly for values below 2^51 spacings; beyond that it still is a function of the
    /// noisy value alone.
    rounder: f64,
}

impl Grid {
    fn of(noise_std: f64, hardening: NoiseHardening) -> Result<Self, NoiseError> {
        if !(1e-30..=1e30).contains(&noise_std) {
            return Err(NoiseError::StandardDeviation { noise_std });
        }
        const MANTISSA: u64 = (1 << 52) - 1;
        let power_of_two = f64::from_bits(noise_std.to_bits() & !MANTISSA);
        let spacing = power_of_two / 16.0;
        Ok(Self {
            scale: match hardening {
                NoiseHardening::Grid => noise_std,
                NoiseHardening::GridAndSumOfFour => noise_std / 2.0,
            },
            rounder: 1.5 * (1u64 << 52) as f64 * spacing,
        })
    }

    #[inline(always)]
    fn noisy(self, value: f64, normals: f64) -> f64 {
        let noisy = value + self.scale * normals;
        (noisy + self.rounder) - self.rounder
    }
}

/// The work of one thread, compiled for each instruction set and chosen at run time.
struct AddNormals<'a, T, E, W> {
    stream: &'a Subkey,
    tensor: u32,
    parts: u32,
    first_group: u64,
    grid: Grid,
    factor: f32,
    values: &'a mut [T],
    exact: &'a E,
    stored: W,
}

impl<T, E: Fn(usize, &[T], &mut [f64]), W: Fn(f32) -> T> pulp::WithSimd
    for AddNormals<'_, T, E, W>
{
    type Output = ();

    #[inline(always)]
    fn with_simd<S: pulp::Simd>(self, _: S) {
        let mut exact = [0f64; GROUP];
        let mut noisy = [0f32; GROUP];
        for (group, values) in self.values.chunks_mut(GROUP).enumerate() {
            let group = self.first_group + group as u64;
            (self.exact)(group as usize * GROUP, values, &mut exact[..values.len()]);
            let sum = sum_of_normals(self.stream, group, self.tensor, self.parts);
            // Whole groups, so that the loops have constant lengths.
            for ((noisy, exact), normal) in noisy.iter_mut().zip(&exact).zip(sum.as_flattened()) {
                *noisy = self.grid.noisy(*exact, *normal) as f32 * self.factor;
            }
            for (value, noisy) in values.iter_mut().zip(noisy) {
                *value = (self.stored)(noisy);
            }
        }
    }
}

/// For each value of a group the sum of its `parts` normals.
#[inline(always)]
fn sum_of_normals(stream: &Subkey, group: u64, tensor: u32, parts: u32) -> [[f64; LANES]; ROWS] {
    let mut sum = normal::normals(stream, group, tensor, 0);
    for part in 1..parts {
        let normals = normal::normals(stream, group, tensor, part);
        for (sum, normals) in sum.iter_mut().zip(&normals) {
            for (sum, normal) in sum.iter_mut().zip(normals) {
                *sum += normal;
            }
        }
    }
    sum
}

/// The share of a plan's δ that pays for the tail of the normal distribution which the noise generator
/// cannot reach ([`missing_tail_delta`]).
///
/// Accountants get the rest, δ (1 − `TAIL_SHARE`). Whoever composes plans by other means, as a private
/// search does, sets the same share aside.
pub const TAIL_SHARE: f64 = 1e-6;

/// What to add to δ for the part of the normal distribution that the generator cannot reach.
///
/// A radius has 128 bits, so a pair of normals misses the event R > √(2 · 128 ln 2) = 13.3, of
/// probability 2^-128. If each of two distributions moves by τ in total variation, (ε, δ) becomes
/// (ε, δ + (1 + e^ε) τ). `normals` counts all that a run draws.
///
/// ```
/// // A million parameters, a hundred thousand steps: far below any δ in use.
/// assert!(tacita_mechanism::noise::missing_tail_delta(100_000_000_000, 8.0) < 1e-23);
/// ```
pub fn missing_tail_delta(normals: u64, epsilon: f64) -> f64 {
    const PER_PAIR: f64 = TWO_TO_MINUS_64 * TWO_TO_MINUS_64;
    const TWO_TO_MINUS_64: f64 = 1.0 / (1u128 << 64) as f64;
    let pairs = normals as f64 / 2.0 + 1.0;
    (1.0 + epsilon.exp()) * pairs * PER_PAIR * (1.0 + 1e-9)
}

/// Adds normals of a *fixed seed* to `values`, to measure how fast the generator is.
///
/// This is no mechanism: anyone can compute the same numbers. Private noise is drawn only by a
/// session, after the ledger has been written.
///
/// ```
/// use tacita_mechanism::noise::{NoiseHardening, add_fixed_seed_normals_for_benchmark};
/// let mut values = [0.0; 1000];
/// add_fixed_seed_normals_for_benchmark(1, NoiseHardening::Grid, &mut values);
/// assert!(values.iter().any(|&value| value > 2.0));
/// ```
pub fn add_fixed_seed_normals_for_benchmark(
    seed: u64,
    hardening: NoiseHardening,
    values: &mut [f32],
) {
    let drawn =
        NoiseStream::new(&Keys::fixed_seed(seed), 0, 0, hardening).add_normals(0, 1.0, values);
    debug_assert!(drawn.is_ok());
}

#[cfg(test)]
mod tests;
