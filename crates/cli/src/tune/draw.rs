//! Draws the number of runs of a random search.

use anyhow::{Result, ensure};
use tacita_accounting::RandomRuns;

/// Longest law that is tabulated.
const MOST: usize = 1 << 22;
/// Logarithm of the probability, relative to the largest, that ends the table: 2⁻¹⁰⁰.
const LEAST: f64 = -69.3;

/// Random words.
pub type Words<'a> = dyn FnMut() -> Result<u64> + 'a;

/// A number of runs.
///
/// The law is walked through from its least number, stopping at k with P[K = k | K ≥ k]. Each of
/// these is a fraction of 2⁶⁴ with a relative error near 10⁻¹⁵, so every probability is right to
/// 10⁻¹¹ of itself for the few thousand numbers that matter. A common factor 1 ± 10⁻¹¹ on the
/// probabilities moves ε by twice that at most, which `certificate.rs` pays for.
pub fn number_of_runs(law: RandomRuns, words: &mut Words) -> Result<u64> {
    let (first, stops) = stops(law)?;
    for (index, stop) in stops.iter().enumerate() {
        if (words()? as f64) < stop * 2f64.powi(64) {
            return Ok(first + index as u64);
        }
    }
    Ok(first + stops.len() as u64)
}

/// Refuses a law that cannot be drawn from.
pub fn check(law: RandomRuns) -> Result<()> {
    stops(law).map(|_| ())
}

/// The least number and P[K = k | K ≥ k] from there on.
fn stops(law: RandomRuns) -> Result<(u64, Vec<f64>)> {
    // P[K = k+1] / P[K = k].
    let (first, ratio): (u64, Box<dyn Fn(f64) -> f64>) = match law {
        RandomRuns::Poisson { mean } => (0, Box::new(move |k| mean / (k + 1.0))),
        RandomRuns::TruncatedNegativeBinomial { shape, gamma } => {
            let ratio = move |k: f64| (1.0 - gamma) * (k + shape) / (k + 1.0);
            (1, Box::new(ratio))
        }
    };
    let mut ratios = Vec::new();
    let (mut logarithm, mut largest) = (0.0, 0.0f64);
    while logarithm > largest + LEAST {
        let next = ratio((first + ratios.len() as u64) as f64);
        logarithm += next.ln();
        largest = largest.max(logarithm);
        ratios.push(next);
        ensure!(
            ratios.len() < MOST,
            "the law of the number of runs is too spread to draw from; use a smaller mean"
        );
    }
    // Rₖ = P[K ≥ k] / P[K = k] = 1 + rₖ Rₖ₊₁: sums of positive terms, so nothing cancels.
    let mut rest = 1.0;
    let mut stops: Vec<f64> = Vec::with_capacity(ratios.len());
    for ratio in ratios.iter().rev() {
        rest = 1.0 + ratio * rest;
        stops.push(rest.recip());
    }
    stops.reverse();
    Ok((first, stops))
}

/// A number below `limit`.
pub fn below(limit: usize, words: &mut Words) -> Result<usize> {
    Ok(((u128::from(words()?) * limit as u128) >> 64) as usize)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::random::SplitMix;

    /// Against the closed forms of the laws. No false alarms: nothing is drawn.
    #[test]
    fn table_holds_the_law() {
        let laws = [
            RandomRuns::geometric(7.0).unwrap(),
            RandomRuns::logarithmic(10.0).unwrap(),
            RandomRuns::negative_binomial(2.5, 20.0).unwrap(),
            RandomRuns::poisson(4.0).unwrap(),
            RandomRuns::poisson(900.0).unwrap(),
        ];
        for law in laws {
            let (first, stops) = stops(law).unwrap();
            let (mut left, mut mean, mut all) = (1.0, 0.0, Vec::new());
            for (index, stop) in stops.iter().enumerate() {
                mean += left * stop * (first + index as u64) as f64;
                all.push(left * stop);
                left *= 1.0 - stop;
            }
            assert!((mean / law.mean() - 1.0).abs() < 1e-9, "{law:?}: {mean}");
            let closed = match law {
                RandomRuns::Poisson { mean } => (-mean).exp(),
                RandomRuns::TruncatedNegativeBinomial { shape: 0.0, gamma } => {
                    (1.0 - gamma) / gamma.recip().ln()
                }
                RandomRuns::TruncatedNegativeBinomial { shape, gamma } => {
                    // (1−γ)ᵏ/(γ^−η − 1) · Γ(k+η)/(Γ(η) k!) at k = 1.
                    shape * (1.0 - gamma) / (gamma.powf(-shape) - 1.0)
                }
            };
            // e⁻⁹⁰⁰ is no number of double precision.
            assert!((all[0] - closed).abs() <= 1e-9 * closed, "{law:?}");
        }
    }

    /// 20 000 draws with a fixed seed: six standard errors, a false alarm in 10⁹ seeds.
    #[test]
    fn draws_have_the_mean_of_the_law() {
        let mut generator = SplitMix(3);
        let mut words = || Ok(generator.next());
        let law = RandomRuns::geometric(5.0).unwrap();
        let sum: u64 = (0..20_000)
            .map(|_| number_of_runs(law, &mut words).unwrap())
            .sum();
        // The standard deviation of a geometric law of mean m is √(m(m−1)).
        let error = (20.0_f64 / 20_000.0).sqrt();
        assert!((sum as f64 / 20_000.0 - 5.0).abs() < 6.0 * error);
    }
}
