//! All methods together: one figure, one confidence.
//!
//! Every method and every number of guesses is a chance to be wrong, so the error that is allowed is divided among them
//! beforehand. Then all bounds hold at once with the confidence stated, and the best of them may be reported.

use crate::{Coins, Curve, Guesses, f_dp, one_run};

/// Shares of the canaries that are guessed about. Fixed: they may not depend on the coins.
const SHARES: [f64; 6] = [1.0, 0.5, 0.25, 0.125, 0.0625, 0.03125];

/// An alarm is raised at this false-alarm rate: one in a million honest runs.
pub const FALSE_ALARM_RATE: f64 = 1e-6;

/// What is asked of an audit.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Question {
    /// The δ at which ε is bounded.
    pub delta: f64,
    /// All bounds hold at once with this probability.
    pub confidence: f64,
}

/// By what a bound is proved.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    /// [`one_run`].
    OneRun,
    /// [`f_dp`] with (ε, δ) as the curve.
    TradeOff,
}

impl Method {
    /// Every method.
    pub const ALL: [Self; 2] = [Self::OneRun, Self::TradeOff];

    /// Its name in files.
    pub fn name(self) -> &'static str {
        match self {
            Self::OneRun => "one-run",
            Self::TradeOff => "f-dp",
        }
    }

    fn epsilon_lower(self, guesses: Guesses, delta: f64, error: f64) -> f64 {
        match self {
            Self::OneRun => one_run::epsilon_lower(guesses, delta, error),
            Self::TradeOff => f_dp::epsilon_lower(guesses, delta, error),
        }
    }
}

/// One bound on ε from below.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bound {
    /// By what it is proved.
    pub method: Method,
    /// What it counts.
    pub guesses: Guesses,
    /// It is wrong with at most this probability.
    pub error: f64,
    /// ε is not below this.
    pub epsilon_lower: f64,
}

/// What canaries prove.
#[derive(Debug, Clone, PartialEq)]
pub struct Measured {
    /// ε is not below this, with the confidence asked for, all methods together.
    pub epsilon_lower: f64,
    /// Every bound.
    pub bounds: Vec<Bound>,
    /// Roughly the ε of a Gaussian that fits: an estimate, which guarantees nothing.
    pub epsilon_estimate: f64,
}

/// Numbers of guesses that are made about so many canaries, each even, the most first.
pub fn guess_counts(canaries: u64) -> Vec<u64> {
    let even = |share: f64| 2 * ((0.5 * share * canaries as f64).round() as u64).max(1);
    let mut counts: Vec<u64> = SHARES
        .iter()
        .map(|share| even(*share).min(canaries))
        .collect();
    counts.dedup();
    counts
}

/// Bounds ε from below by every method.
///
/// # Guarantee
/// With probability at least `confidence` over the coins and the mechanism, no bound exceeds the mechanism's ε at `delta`.
/// Checked by `bounds_exceed_the_truth_no_more_often_than_allowed`.
pub fn measure(coins: &Coins, question: &Question) -> Measured {
    let counts = guess_counts(coins.count());
    let error = (1.0 - question.confidence) / (counts.len() * Method::ALL.len()) as f64;
    let tried = counts.iter().map(|made| coins.guess(*made));
    let bounds: Vec<Bound> = tried
        .flat_map(|guesses| {
            Method::ALL.map(|method| Bound {
                method,
                guesses,
                error,
                epsilon_lower: method.epsilon_lower(guesses, question.delta, error),
            })
        })
        .collect();
    let best = bounds.iter().map(|bound| bound.epsilon_lower);
    Measured {
        epsilon_lower: best.fold(0.0, f64::max),
        epsilon_estimate: estimate(coins, question.delta),
        bounds,
    }
}

/// Roughly the ε of a Gaussian under which as many guesses about all canaries would be right: Φ(μ/2) of them.
fn estimate(coins: &Coins, delta: f64) -> f64 {
    let all = coins.guess(coins.count());
    let share = all.right as f64 / all.made.max(1) as f64;
    let mu = 2.0 * crate::normal::quantile(share.clamp(0.5, 1.0 - 1e-9));
    f_dp::gaussian_epsilon(mu, delta).unwrap_or(0.0)
}

/// How likely right guesses like these are at most, if the mechanism keeps its certified curve: all numbers of guesses
/// together.
///
/// Every point of the curve and the curve as a whole bound the probability of the same event, so the least of these bounds
/// holds; only the numbers of guesses are chances to be wrong.
///
/// # Guarantee
/// For every x, it is at most x with probability at most x, if the curve is kept. So an alarm at
/// [`FALSE_ALARM_RATE`] is false in at most one of a million runs. Checked by `honest_mechanisms_raise_no_alarm`.
pub fn chance_upper(coins: &Coins, curve: &Curve) -> f64 {
    let counts = guess_counts(coins.count());
    let each = counts.iter().map(|made| {
        let guesses = coins.guess(*made);
        let points = curve.points().iter();
        points
            .map(|point| one_run::chance_upper(guesses, point.epsilon, point.delta))
            .fold(f_dp::chance_upper(guesses, curve), f64::min)
    });
    (counts.len() as f64 * each.fold(1.0, f64::min)).min(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_guesses_depend_on_nothing_but_the_number_of_canaries() {
        assert_eq!(guess_counts(1000), [1000, 500, 250, 126, 62, 32]);
        assert_eq!(guess_counts(3), [3, 2]);
        assert_eq!(guess_counts(1), [1]);
    }
}
