//! Independent trials: the same attack on fresh noise, again and again.
//!
//! A trial is a run, or one step, with a single canary that a coin put in or left out; or one canary of a run in which
//! every canary has noise of its own, as in the white-box audit of a Gaussian mechanism with orthogonal canaries. Then
//! false alarms and finds are binomial, and their limits (Clopper & Pearson 1934) hold at every sample size. The
//! threshold of the attack must be fixed beforehand.
//!
//! Nasr et al. 2023 (arXiv:2302.07956) turn the limits into a bound of μ, which is far tighter than one of ε at a small
//! δ, and holds for mechanisms whose trade-off curve is that of a Gaussian.

use crate::Curve;
use crate::binomial::{success_lower, success_upper};
use crate::normal::quantile;

/// What an attack did in independent trials.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Trials {
    /// Trials with the canary in.
    pub inside: u64,
    /// Those of them in which the attack said "in".
    pub found: u64,
    /// Trials without.
    pub outside: u64,
    /// Those of them in which it said "in" as well.
    pub false_alarms: u64,
}

impl Trials {
    /// Counts scores at or above a threshold that was fixed beforehand.
    pub fn above(threshold: f64, scores: &[f64], coins: &[bool]) -> Self {
        let count = |coin: bool, least: f64| {
            let of = scores.iter().zip(coins);
            of.filter(|(score, is)| **is == coin && **score >= least)
                .count() as u64
        };
        let all = f64::NEG_INFINITY;
        Self {
            inside: count(true, all),
            found: count(true, threshold),
            outside: count(false, all),
            false_alarms: count(false, threshold),
        }
    }

    /// The least share found and the largest share of false alarms, both except with probability `error` together.
    fn limits(&self, error: f64) -> (f64, f64) {
        (
            success_lower(self.inside, self.found, 0.5 * error),
            success_upper(self.outside, self.false_alarms, 0.5 * error),
        )
    }

    /// Whether trials like these have a probability of at most `error` under a curve. It should be certified for what
    /// one trial releases.
    ///
    /// ```
    /// use tacita_audit::{Curve, trials::Trials};
    ///
    /// let trials = Trials { inside: 1000, found: 800, outside: 1000, false_alarms: 200 };
    /// assert!(trials.refutes(&Curve::gaussian(1.0)?, 1e-6));
    /// assert!(!trials.refutes(&Curve::gaussian(1.7)?, 1e-6));
    /// # Ok::<(), tacita_accounting::AccountError>(())
    /// ```
    pub fn refutes(&self, curve: &Curve, error: f64) -> bool {
        let (found, false_alarms) = self.limits(error);
        found > curve.most_found(false_alarms)
    }

    /// μ is not smaller, except with probability `error`, if the mechanism's trade-off curve is that of a Gaussian.
    ///
    /// ```
    /// use tacita_audit::trials::Trials;
    ///
    /// // Φ(μ/2) = 0.6915 for μ = 1.
    /// let trials = Trials { inside: 10_000, found: 6_915, outside: 10_000, false_alarms: 3_085 };
    /// assert!(trials.mu_lower(0.05) > 0.94 && trials.mu_lower(0.05) < 1.0);
    /// ```
    pub fn mu_lower(&self, error: f64) -> f64 {
        let (found, false_alarms) = self.limits(error);
        if found <= 0.0 || false_alarms >= 1.0 {
            return 0.0;
        }
        (quantile(found) - quantile(false_alarms) - 1e-9).max(0.0)
    }

    /// ε at `delta` is not smaller, except with probability `error`, whatever the mechanism.
    pub fn epsilon_lower(&self, delta: f64, error: f64) -> f64 {
        let (found, false_alarms) = self.limits(error);
        let direct = ((found - delta) / false_alarms).ln();
        // The same with "in" and "out" exchanged.
        let reverse = ((1.0 - false_alarms - delta) / (1.0 - found)).ln();
        let best = [direct, reverse].into_iter().filter(|e| e.is_finite());
        (best.fold(0.0, f64::max) - 1e-9).max(0.0)
    }
}

/// Roughly the μ of normal scores: the difference of their means over their common standard deviation. An estimate.
pub fn mu_estimate(scores: &[f64], coins: &[bool]) -> f64 {
    let of = |coin: bool| -> Vec<f64> {
        let both = scores.iter().zip(coins);
        both.filter(|(_, is)| **is == coin)
            .map(|(s, _)| *s)
            .collect()
    };
    let (inside, outside) = (of(true), of(false));
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    let squares = |values: &[f64]| {
        let centre = mean(values);
        values.iter().map(|v| (v - centre).powi(2)).sum::<f64>()
    };
    let freedom = (inside.len() + outside.len()) as f64 - 2.0;
    let spread = ((squares(&inside) + squares(&outside)) / freedom).sqrt();
    let mu = (mean(&inside) - mean(&outside)) / spread;
    if mu.is_finite() { mu.max(0.0) } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_those_of_the_threshold() {
        let trials = Trials::above(0.5, &[0.9, 0.5, 0.1, 0.7], &[true, false, true, false]);
        let expected = Trials {
            inside: 2,
            found: 1,
            outside: 2,
            false_alarms: 2,
        };
        assert_eq!(trials, expected);
    }

    #[test]
    fn an_attack_that_knows_nothing_proves_nothing() {
        let blind = Trials {
            inside: 500,
            found: 250,
            outside: 500,
            false_alarms: 250,
        };
        assert_eq!(
            (blind.mu_lower(0.05), blind.epsilon_lower(1e-5, 0.05)),
            (0.0, 0.0)
        );
        let none = Trials {
            inside: 0,
            found: 0,
            outside: 0,
            false_alarms: 0,
        };
        assert_eq!(
            (none.mu_lower(0.05), none.epsilon_lower(1e-5, 0.05)),
            (0.0, 0.0)
        );
    }

    #[test]
    fn the_estimate_is_the_difference_of_means() {
        let scores = [1.0, 3.0, 0.0, 2.0];
        let mu = mu_estimate(&scores, &[true, true, false, false]);
        assert!((mu - 1.0 / 2.0_f64.sqrt()).abs() < 1e-12, "{mu}");
    }
}
