//! Many canaries of one run against (ε, δ).
//!
//! Steinke, Nasr & Jagielski 2023 (arXiv:2305.08846), Theorem 5.2: m canaries are in or out by fair coins, and
//! whoever sees the output of an (ε, δ)-private mechanism guesses at most r of the coins. With W ~ Bin(r, q) and
//! q = e^ε / (1 + e^ε),
//!
//! > P\[at least v guesses are right\] ≤ P\[W ≥ v\] + 2 m δ · maxᵢ P\[v > W ≥ v − i\] / i,  i = 1, …, m.
//!
//! Both sides are finite sums, so the bound holds at every sample size.

use crate::Guesses;
use crate::binomial::{at_least, ln_mass};
use crate::search::boundary;

/// Above this nothing is measured.
pub const LARGEST_EPSILON: f64 = 60.0;

/// How likely so many right guesses are at most, if the mechanism is (`epsilon`, `delta`)-private. Rounded up.
///
/// ```
/// use tacita_audit::{Guesses, one_run::chance_upper};
///
/// // One guess, right with probability at most e^ε / (1 + e^ε).
/// let one = Guesses { canaries: 1, made: 1, right: 1 };
/// assert!((chance_upper(one, 3_f64.ln(), 0.0) - 0.75).abs() < 1e-6);
/// ```
pub fn chance_upper(guesses: Guesses, epsilon: f64, delta: f64) -> f64 {
    let Guesses {
        canaries,
        made,
        right,
    } = guesses;
    // The odds of a right guess are e^ε.
    let beta = at_least(made, right, epsilon);
    let (mut below, mut steepest) = (0.0_f64, 0.0_f64);
    if delta > 0.0 {
        for i in 1..=right {
            below += ln_mass(made, right - i, epsilon).exp();
            steepest = steepest.max(below / i as f64);
        }
    }
    (beta + steepest * (1.0 + 1e-7) * 2.0 * canaries as f64 * delta).min(1.0)
}

/// The largest ε that so many right guesses refute, except with probability `error`. Rounded down; 0 if none is.
pub fn epsilon_lower(guesses: Guesses, delta: f64, error: f64) -> f64 {
    boundary(0.0, LARGEST_EPSILON, |epsilon| {
        chance_upper(guesses, epsilon, delta) > error
    })
    .0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_larger_epsilon_or_delta_makes_right_guesses_likelier() {
        let guesses = Guesses {
            canaries: 500,
            made: 100,
            right: 80,
        };
        let chances = [0.0, 0.5, 1.0, 2.0, 4.0].map(|epsilon| chance_upper(guesses, epsilon, 1e-6));
        assert!(chances.is_sorted(), "{chances:?}");
        assert!(chance_upper(guesses, 1.0, 1e-3) > chance_upper(guesses, 1.0, 1e-6));
    }

    /// A mechanism that tells all coins with probability δ is (0, δ)-private.
    #[test]
    fn a_mechanism_that_tells_all_with_probability_delta_keeps_the_bound() {
        for canaries in [1, 10, 1000] {
            let all = Guesses {
                canaries,
                made: canaries,
                right: canaries,
            };
            let delta = 1e-3;
            let chance = delta + (1.0 - delta) * 0.5_f64.powf(canaries as f64);
            assert!(chance_upper(all, 0.0, delta) >= chance, "{canaries}");
        }
    }
}
