//! Bounds of numeric columns, estimated privately from one noisy histogram.
//!
//! The bins are public and the same for every column: zero, and on either side half octaves from
//! 2⁻²⁰ to 2⁴⁰. A record adds one unit to one bin of each column, scaled by 1/√columns, so that the
//! whole vector has norm 1 however many columns there are; the sum over all records therefore has
//! sensitivity 1 for adding or removing a record, and Gaussian noise of the ledger's multiplier
//! makes it private. What follows is post-processing.

use anyhow::{Result, ensure};

/// Exponents of the finest and the coarsest bin.
const LOWEST: i32 = -20;
const HIGHEST: i32 = 40;
/// Bins of an octave.
const FINENESS: i32 = 2;
/// Bins on one side of zero.
const SIDE: usize = ((HIGHEST - LOWEST) * FINENESS) as usize;
/// Bins of a column.
pub const BINS: usize = 2 * SIDE + 1;
/// The share of records clamped at either end.
const TAIL: f64 = 0.01;

/// The bin of a number; numbers beyond the last bin are in the last.
fn bin(value: f64) -> usize {
    let place = ((value.abs().log2() - f64::from(LOWEST)) * f64::from(FINENESS)).floor();
    // Also for zero, whose logarithm is -∞.
    if place < 0.0 {
        return SIDE;
    }
    let place = (place as usize).min(SIDE - 1);
    if value > 0.0 {
        SIDE + 1 + place
    } else {
        SIDE - 1 - place
    }
}

/// The edge below a bin, which is that above the bin before.
fn edge(bin: usize) -> f64 {
    let power = |steps: usize| (f64::from(LOWEST) + steps as f64 / f64::from(FINENESS)).exp2();
    if bin <= SIDE {
        -power(SIDE - bin)
    } else {
        power(bin - SIDE - 1)
    }
}

/// What one record adds to the histogram: one entry a column and bin, none where the value is missing.
///
/// # Guarantee
/// The Euclidean norm is at most 1, whatever the values. Checked by
/// `a_record_adds_a_vector_of_norm_at_most_one`.
pub fn contributions(record: &[f64]) -> Vec<f32> {
    let mut vector = vec![0.0; record.len() * BINS];
    // Rounded down, so that squares of all columns add up to at most 1.
    let unit = ((1.0 / (record.len() as f64).sqrt()) as f32).next_down();
    for (column, &value) in vector.chunks_exact_mut(BINS).zip(record) {
        if !value.is_nan() {
            column[bin(value)] = unit;
        }
    }
    vector
}

/// With how many records, all of them in one bin of their column, the noise just hides the bin: fewer show nothing.
pub fn records_for_bounds(columns: usize, noise_std: f64) -> f64 {
    (columns as f64).sqrt() * least(columns * BINS, noise_std)
}

/// What the greatest of so many values of noise alone comes to (Donoho and Johnstone 1994, the universal threshold).
fn least(entries: usize, noise_std: f64) -> f64 {
    noise_std * (2.0 * (entries as f64).ln()).sqrt()
}

/// Clamping bounds of each column: about 1 % of the records lie below and 1 % above. None where the
/// noise hides the values.
///
/// Bins that noise alone could fill are taken as empty.
pub fn bounds(noisy_histogram: &[f32], noise_std: f64) -> Result<Vec<Option<(f64, f64)>>> {
    ensure!(
        noise_std >= 0.0 && noise_std.is_finite(),
        "the standard deviation of the noise must be a number, got {noise_std}"
    );
    ensure!(
        !noisy_histogram.is_empty() && noisy_histogram.len().is_multiple_of(BINS),
        "a histogram has {BINS} entries for each column, got {} in all",
        noisy_histogram.len()
    );
    let least = least(noisy_histogram.len(), noise_std);
    let columns = noisy_histogram.chunks_exact(BINS);
    Ok(columns.map(|column| quantiles(column, least)).collect())
}

fn quantiles(column: &[f32], least: f64) -> Option<(f64, f64)> {
    let counts: Vec<f64> = column
        .iter()
        .map(|&count| f64::from(count))
        .map(|count| if count > least { count } else { 0.0 })
        .collect();
    let total: f64 = counts.iter().sum();
    if !(total > 0.0 && total.is_finite()) {
        return None;
    }
    let lower = first_above(counts.iter(), TAIL * total)?;
    let upper = BINS - 1 - first_above(counts.iter().rev(), TAIL * total)?;
    Some((edge(lower), edge(upper + 1)))
}

/// Where the running sum first exceeds a limit.
fn first_above<'a>(counts: impl Iterator<Item = &'a f64>, limit: f64) -> Option<usize> {
    let mut sums = counts.scan(0.0, |sum, count| {
        *sum += count;
        Some(*sum)
    });
    sums.position(|sum| sum > limit)
}

#[cfg(test)]
mod tests;
