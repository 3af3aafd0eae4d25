//! The sum of one vector per record, exact whatever their number and order.
//!
//! A running total in floating point moves by more than a record's vector when that record is
//! removed: all later roundings change with it (Casacuberta et al. 2022, "Widespread underestimation
//! of sensitivity in differentially private libraries and how to fix it"). Here a record becomes whole
//! multiples of a public grid whose norm is checked in whole numbers, and whole numbers are added.
//!
//! # Why one record moves the sum by at most 1
//!
//! 1. *One record.* What is added is a vector m of whole numbers with Σ mᵢ² ≤ 4ᵏ, which is tested
//!    exactly, so m/2ᵏ has norm at most 1. How m was found cannot matter.
//! 2. *The total* is a sum of whole numbers, which has no rounding and no order; 128 bits hold more
//!    records than there are.
//! 3. *The value* that noise is added to is the total held within ±2^52, which moves no two totals apart,
//!    over 2ᵏ. Both are exact in f64. So the sum with noise, rounded to f64 and to its public spacing,
//!    is a function of the exact value plus noise alone: post-processing.
//!
//! k is public: the plan's record count leaves room for a thousand times as many records, and for 2^40 at
//! least. Beyond, the value is wrong, and as private.

use super::SessionError;

/// Finest and coarsest grid: multiples of 2^−30 and of 2^−12.
const FINEST: u32 = 30;
const COARSEST: u32 = 12;
/// Whole numbers up to 2^52 are f64 numbers.
const EXACT: u32 = 52;
/// There is room for 2^10 times as many records as the plan counts.
const ROOM: u32 = 10;

/// A sum of vectors, each scaled to norm at most 1, in multiples of 2^−`grid`.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct ExactSum {
    totals: Vec<i128>,
    /// k: the grid is the multiples of 2^−k.
    grid: u32,
}

impl ExactSum {
    /// The sum of no vectors of `length` values, of about as many records as the public count.
    pub(super) fn new(length: usize, public_record_count: u64) -> Self {
        let records = u64::BITS - public_record_count.leading_zeros();
        Self {
            totals: vec![0; length],
            grid: EXACT.saturating_sub(records + ROOM).clamp(COARSEST, FINEST),
        }
    }

    /// Adds a record's vector, scaled to norm 1 if it is longer. One with a value that is no finite
    /// number adds nothing.
    ///
    /// # Guarantee
    /// The total moves by at most 1, exactly. Checked by `removing_a_record_moves_the_total_by_at_most_one`.
    pub(super) fn add(&mut self, values: &[f64]) -> Result<(), SessionError> {
        if values.len() != self.totals.len() {
            return Err(SessionError::StatisticLength {
                seen: values.len(),
                expected: self.totals.len(),
            });
        }
        let most = 1_u128 << (2 * self.grid);
        let Some(steps) = on_grid(values, self.grid).filter(|steps| squares(steps) <= most) else {
            return Ok(());
        };
        for (total, step) in self.totals.iter_mut().zip(steps) {
            *total += i128::from(step);
        }
        Ok(())
    }

    /// The totals, to be added to those of so many ranks in all: 64 bits hold the sum. Holding a total within a range
    /// moves no two totals apart.
    pub(super) fn to_steps(&self, ranks: usize) -> Vec<i64> {
        let most = i128::from(i64::MAX) / ranks as i128;
        let held = self.totals.iter().map(|total| (*total).clamp(-most, most));
        held.map(|total| total as i64).collect()
    }

    /// Takes the totals over all ranks.
    pub(super) fn replace(&mut self, steps: Vec<i64>) {
        self.totals = steps.into_iter().map(i128::from).collect();
    }

    /// The values that noise is added to.
    pub(super) fn into_values(self) -> Vec<f64> {
        const MOST: i128 = 1 << EXACT;
        let unit = (1_u64 << self.grid) as f64;
        let values = self.totals.iter().map(|total| *total.clamp(&-MOST, &MOST));
        values.map(|total| total as f64 / unit).collect()
    }
}

/// The vector in multiples of 2^−k, of norm at most 2^k as far as f64 can tell; none if a value is not
/// finite or no scaling brings it down.
fn on_grid(values: &[f64], grid: u32) -> Option<Vec<i64>> {
    let largest = values
        .iter()
        .fold(0.0_f64, |most, value| most.max(value.abs()));
    // The maximum passes over NaN.
    if !largest.is_finite() || values.iter().any(|value| value.is_nan()) {
        return None;
    }
    // Relative to the largest value, or squares of large ones would overflow. Small ones need no
    // scaling, and dividing by the least of them would overflow as well.
    let largest = largest.max(1.0);
    let relative = values.iter().map(|value| (value / largest).powi(2));
    let norm = largest * relative.sum::<f64>().sqrt();
    let unit = (1_u64 << grid) as f64;
    let most = 1_u128 << (2 * grid);
    let scaled = |factor: f64, round: fn(f64) -> f64| -> Vec<i64> {
        // Multiplied one after the other: the product of the factors may be too small a number.
        (values.iter())
            .map(|value| round(value * factor * unit) as i64)
            .collect()
    };
    let factor = if norm > 1.0 { norm.recip() } else { 1.0 };
    let nearest = scaled(factor, f64::round);
    if squares(&nearest) <= most {
        return Some(nearest);
    }
    // Rounding towards 0 lengthens nothing; what is still too long is so by the roundings of the norm.
    (0..8)
        .map(|attempt| factor * (1.0 - 1e-12 * 10_f64.powi(attempt)))
        .map(|factor| scaled(factor, f64::trunc))
        .find(|steps| squares(steps) <= most)
}

/// Σ mᵢ², at most the largest number.
fn squares(steps: &[i64]) -> u128 {
    let square = |step: &i64| u128::from(step.unsigned_abs()).pow(2);
    (steps.iter().map(square)).fold(0, u128::saturating_add)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests;
