//! Draws the number of runs of a random search, and its candidates.

use super::SearchError;
use crate::mechanism::chacha::{Key, LANES, ROWS, Subkey};
use crate::mechanism::fresh_key::{KeyError, random_key};
use crate::mechanism::keys::Keys;
use tacita_accounting::RandomRuns;
use zeroize::Zeroizing;

/// Longest distribution that is tabulated.
const MOST: usize = 1 << 22;
/// Logarithm of the probability, relative to the largest, that ends the table: 2⁻¹⁰⁰.
const LEAST: f64 = -69.3;

/// The place of a search's stream among those of its key.
const SEARCH: [u32; 4] = [0, 0, 0, 0x5ea7_c4ed];

/// The secret coins of a random search: a stream of its own, from the operating system.
///
/// ```
/// use tacita::SearchDraw;
/// use tacita_accounting::RandomRuns;
///
/// let mut draw = SearchDraw::from_os()?;
/// assert!(draw.number_of_runs(RandomRuns::geometric(3.0)?)? >= 1);
/// assert!(draw.below(5) < 5);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct SearchDraw {
    key: Subkey,
    groups: u64,
    words: Zeroizing<Vec<u64>>,
}

impl SearchDraw {
    /// Coins from the operating system.
    pub fn from_os() -> Result<Self, KeyError> {
        Ok(Self::of(&random_key()?))
    }

    /// Coins that anyone can compute from `seed`: NOT PRIVATE, for experiments that must repeat.
    pub fn fixed_seed(seed: u64) -> Self {
        Self::of(Keys::fixed_seed(seed).draws())
    }

    fn of(key: &Key) -> Self {
        Self {
            key: Subkey::derive(key, SEARCH),
            groups: 0,
            words: Zeroizing::default(),
        }
    }

    /// Refuses a distribution that cannot be drawn from.
    pub fn check(distribution: RandomRuns) -> Result<(), SearchError> {
        stops(distribution).map(|_| ())
    }

    /// The next 64 random bits.
    pub fn word(&mut self) -> u64 {
        loop {
            if let Some(word) = self.words.pop() {
                return word;
            }
            let group = self.key.group_out_of_line(self.groups, 0, 0);
            self.groups += 1;
            for row in 0..ROWS {
                self.words
                    .extend((0..LANES).map(|lane| group.number(row, lane)));
            }
        }
    }

    /// A number below `limit`, each as likely as any other up to 2⁻⁶⁴.
    pub fn below(&mut self, limit: usize) -> usize {
        ((u128::from(self.word()) * limit as u128) >> 64) as usize
    }

    /// A number of runs.
    ///
    /// The distribution is walked through from its least number, stopping at k with P[K = k | K ≥ k]. Each of
    /// these is a fraction of 2⁶⁴ with a relative error near 10⁻¹⁵, so every probability is right to
    /// 10⁻¹¹ of itself for the few thousand numbers that matter. A common factor 1 ± 10⁻¹¹ on the
    /// probabilities moves ε by twice that at most, which [`SearchCertificate`](super::SearchCertificate) pays for.
    pub fn number_of_runs(&mut self, distribution: RandomRuns) -> Result<u64, SearchError> {
        let (first, stops) = stops(distribution)?;
        for (index, stop) in stops.iter().enumerate() {
            if (self.word() as f64) < stop * 2f64.powi(64) {
                return Ok(first + index as u64);
            }
        }
        Ok(first + stops.len() as u64)
    }
}

/// The least number and P[K = k | K ≥ k] from there on.
fn stops(distribution: RandomRuns) -> Result<(u64, Vec<f64>), SearchError> {
    // P[K = k+1] / P[K = k].
    let (first, ratio): (u64, Box<dyn Fn(f64) -> f64>) = match distribution {
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
        if ratios.len() >= MOST {
            return Err(SearchError::TooSpread);
        }
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

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    /// Against the closed forms of the distributions. No false alarms: nothing is drawn.
    #[test]
    fn table_holds_the_distribution() {
        let distributions = [
            RandomRuns::geometric(7.0).unwrap(),
            RandomRuns::logarithmic(10.0).unwrap(),
            RandomRuns::negative_binomial(2.5, 20.0).unwrap(),
            RandomRuns::poisson(4.0).unwrap(),
            RandomRuns::poisson(900.0).unwrap(),
        ];
        for distribution in distributions {
            let (first, stops) = stops(distribution).unwrap();
            let (mut left, mut mean, mut all) = (1.0, 0.0, Vec::new());
            for (index, stop) in stops.iter().enumerate() {
                mean += left * stop * (first + index as u64) as f64;
                all.push(left * stop);
                left *= 1.0 - stop;
            }
            assert!(
                (mean / distribution.mean() - 1.0).abs() < 1e-9,
                "{distribution:?}: {mean}"
            );
            let closed = match distribution {
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
            assert!((all[0] - closed).abs() <= 1e-9 * closed, "{distribution:?}");
        }
    }

    /// 20 000 draws with a fixed seed: six standard errors, a false alarm in 10⁹ seeds.
    #[test]
    fn draws_have_the_mean_of_the_distribution() {
        let mut draw = SearchDraw::fixed_seed(3);
        let distribution = RandomRuns::geometric(5.0).unwrap();
        let sum: u64 = (0..20_000)
            .map(|_| draw.number_of_runs(distribution).unwrap())
            .sum();
        // The standard deviation of a geometric distribution of mean m is √(m(m−1)).
        let error = (20.0_f64 / 20_000.0).sqrt();
        assert!((sum as f64 / 20_000.0 - 5.0).abs() < 6.0 * error);
    }
}
