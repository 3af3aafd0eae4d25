//! Columns centred and scaled by noisy means and spreads.
//!
//! A linear model learns a column the slower, the smaller its spread is beside its declared bounds. One noisy sum of
//! first and second moments, charged to the ledger, gives the spreads, so that bounds which are too wide cost little.
//! What follows the release is post-processing.

use anyhow::{Result, ensure};
use serde::{Deserialize, Serialize};

/// The length of standardised rows and of rows of counts: long beside the 1 that stands for the bias, whose part of
/// a gradient would otherwise take up the threshold.
pub const ROW_LENGTH: f32 = 4.0;

/// How one cell becomes numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cell {
    /// The cell is a number, used as it is.
    Number,
    /// The cell is the number of one of so many categories: 1 there, 0 elsewhere.
    OneHot(usize),
}

impl Cell {
    /// Numbers that the cell becomes.
    pub fn width(self) -> usize {
        match self {
            Self::Number => 1,
            Self::OneHot(categories) => categories,
        }
    }
}

/// What is subtracted from each number of a row, and what it is then multiplied by. Rows are then scaled to
/// [`ROW_LENGTH`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Standard {
    /// What is subtracted.
    pub mean: Vec<f32>,
    /// One over the spread.
    pub scale: Vec<f32>,
}

/// A column's part of a record's moments: a number in [0, 1] becomes u = 2x − 1 and u², both in [−1, 1]; a category is
/// one 1.
fn squared_length(cells: &[Cell]) -> f64 {
    let part = |cell: &Cell| match cell {
        Cell::Number => 2.0,
        Cell::OneHot(_) => 1.0,
    };
    // One more counts the record.
    1.0 + cells.iter().map(part).sum::<f64>()
}

/// Entries of the moments.
pub fn moments_length(cells: &[Cell]) -> usize {
    let part = |cell: &Cell| match cell {
        Cell::Number => 2,
        Cell::OneHot(categories) => *categories,
    };
    1 + cells.iter().map(part).sum::<usize>()
}

/// What one record adds to the moments.
///
/// # Guarantee
/// The Euclidean norm is at most 1, whatever the row. Checked by `a_record_adds_moments_of_norm_at_most_one`.
pub fn moments(cells: &[Cell], row: &[f32]) -> Vec<f64> {
    // Rounded down by more than the squares below can round up.
    let unit = (1.0 - 1e-9) / squared_length(cells).sqrt();
    let mut vector = vec![unit];
    let mut row = row.iter();
    for cell in cells {
        match cell {
            Cell::Number => {
                let centred = row
                    .next()
                    .map_or(0.0, |value| 2.0 * f64::from(*value) - 1.0);
                let centred = if centred.is_nan() {
                    0.0
                } else {
                    centred.clamp(-1.0, 1.0)
                };
                vector.extend([unit * centred, unit * centred * centred]);
            }
            Cell::OneHot(categories) => {
                let part = row.by_ref().take(*categories);
                vector.extend(part.map(|value| if *value > 0.5 { unit } else { 0.0 }));
            }
        }
    }
    vector
}

impl Standard {
    /// Means and spreads from the noisy sum of the moments of all records.
    ///
    /// A spread that the noise hides is taken as large as the noise could make it, so that a column of noise alone is
    /// not blown up.
    pub fn of(cells: &[Cell], noisy: &[f64], noise_std: f64) -> Result<Self> {
        ensure!(
            noisy.len() == moments_length(cells) && noise_std >= 0.0 && noise_std.is_finite(),
            "the moments have {} entries, not {}",
            noisy.len(),
            moments_length(cells)
        );
        let length = squared_length(cells).sqrt();
        let sum_std = noise_std * length;
        let count = (noisy[0] * length).max(sum_std).max(1.0);
        let error = sum_std / count;
        let spread = |mean: f64, second: f64| {
            let hidden = 2.0 * error * (1.0 + 4.0 * mean * mean).sqrt();
            (second - mean * mean).max(hidden).max(1e-8).sqrt()
        };
        let (mut mean, mut scale) = (Vec::new(), Vec::new());
        let mut sums = noisy[1..].iter().map(|sum| sum * length / count);
        let mut next = |least: f64| sums.next().unwrap_or(0.0).clamp(least, 1.0);
        for cell in cells {
            match cell {
                // Of x rather than u = 2x − 1.
                Cell::Number => {
                    let (first, second) = (next(-1.0), next(0.0));
                    mean.push(((first + 1.0) / 2.0) as f32);
                    scale.push((2.0 / spread(first, second)) as f32);
                }
                Cell::OneHot(categories) => {
                    for _ in 0..*categories {
                        let share = next(0.0);
                        mean.push(share as f32);
                        scale.push((1.0 / spread(share, share)) as f32);
                    }
                }
            }
        }
        Ok(Self { mean, scale })
    }

    /// The row, centred, scaled and brought to one length.
    pub fn apply(&self, row: &mut [f32]) {
        for ((value, mean), scale) in row.iter_mut().zip(&self.mean).zip(&self.scale) {
            *value = (*value - mean) * scale;
        }
        let squares: f64 = row.iter().map(|value| f64::from(*value).powi(2)).sum();
        if squares > 0.0 {
            let factor = f64::from(ROW_LENGTH) / squares.sqrt();
            for value in row {
                *value = (f64::from(*value) * factor) as f32;
            }
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::random::SplitMix;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_record_adds_moments_of_norm_at_most_one(
            numbers in prop::collection::vec(prop::num::f32::ANY, 1..60),
            categories in prop::collection::vec(2usize..9, 0..9),
        ) {
            let mut cells = vec![Cell::Number; numbers.len()];
            let mut row = numbers;
            for width in categories {
                cells.push(Cell::OneHot(width));
                row.extend((0..width).map(|at| if at == 0 { 1.0 } else { 0.0 }));
            }
            let vector = moments(&cells, &row);
            prop_assert_eq!(vector.len(), moments_length(&cells));
            let squares: f64 = vector.iter().map(|entry| entry * entry).sum();
            prop_assert!(squares <= 1.0, "{squares}");
        }
    }

    /// 20,000 records with a number that fills a hundredth of its bounds, and a rare category; noise of standard
    /// deviation 20 on each entry. The greatest of the errors seen must be 5 standard deviations to fail.
    #[test]
    fn spreads_far_smaller_than_the_bounds_are_found() {
        let cells = [Cell::Number, Cell::OneHot(2)];
        let mut random = SplitMix(3);
        let mut sum = vec![0.0; moments_length(&cells)];
        let mut rows = Vec::new();
        for index in 0..20_000 {
            let value = 0.02 + 0.05 * random.standard();
            let rare = f32::from(u8::from(index % 10 == 0));
            let row = vec![value, 1.0 - rare, rare];
            for (total, entry) in sum.iter_mut().zip(moments(&cells, &row)) {
                *total += entry;
            }
            rows.push(row);
        }
        for entry in &mut sum {
            *entry += 20.0 * f64::from(random.standard());
        }
        let standard = Standard::of(&cells, &sum, 20.0).unwrap();
        assert!((standard.mean[0] - 0.035).abs() < 0.02, "{standard:?}");
        assert!((standard.mean[2] - 0.1).abs() < 0.03, "{standard:?}");
        assert!(
            standard.scale[0] > 8.0 && standard.scale[0] < 40.0,
            "{standard:?}"
        );
        for mut row in rows {
            standard.apply(&mut row);
            let length = row.iter().map(|value| value * value).sum::<f32>().sqrt();
            assert!((length - ROW_LENGTH).abs() < 1e-4, "{length}");
        }
    }

    #[test]
    fn noise_alone_blows_no_column_up() {
        let cells = [Cell::Number, Cell::OneHot(3)];
        let mut random = SplitMix(5);
        let noise: Vec<f64> = (0..moments_length(&cells))
            .map(|_| 50.0 * f64::from(random.standard()))
            .collect();
        let standard = Standard::of(&cells, &noise, 50.0).unwrap();
        assert!(
            standard.scale.iter().all(|scale| *scale <= 2.0),
            "{standard:?}"
        );
        assert!(Standard::of(&cells, &noise[1..], 50.0).is_err());
    }
}
