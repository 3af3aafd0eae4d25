//! What a certified privacy profile means to somebody.
//!
//! Everything here is a bound on *every* attack, whatever it knows, computed from (ε, δ) points that are proved. The
//! figures are what an officer asks for: how many members an attack finds, what a suspicion can become, how likely a
//! record is reconstructed.

use crate::normal::{below, quantile};
use crate::search::boundary;
use crate::trade_off::{Curve, Point};

/// Rounding of a handful of operations, upwards.
const UP: f64 = 1.0 + 1e-12;

/// The most an attack with these false alarms finds.
pub fn found_upper(curve: &Curve, false_alarms: f64) -> f64 {
    (curve.most_found(false_alarms) * UP).min(1.0)
}

/// What the best attack with these false alarms finds at least, if it knows all other records and sees every release: no
/// proof about this plan can promise less. `lower` are points (ε, δ) from below, ε growing from 0.
///
/// The most that is found is the least of e^ε x + δ(ε) and of 1 − e^(−ε) (1 − δ(ε) − x) over *all* ε ≥ 0. Between two
/// points ε is at least that of the first and δ(ε), which falls, at least that of the second.
pub fn found_lower(lower: &[Point], false_alarms: f64) -> f64 {
    let delta_after = |at: usize| lower.get(at + 1).map_or(0.0, |next| next.delta);
    let least = (0..lower.len()).map(|at| {
        let (epsilon, delta) = (lower[at].epsilon, delta_after(at));
        let direct = epsilon.exp() * false_alarms + delta;
        let reverse = 1.0 - (-epsilon).exp() * (1.0 - delta - false_alarms).max(0.0);
        direct.min(reverse)
    });
    // Nobody does worse than by guessing.
    (least.fold(1.0, f64::min) / UP).max(false_alarms)
}

/// The largest probability with which a record is reconstructed by someone who would guess it with probability `prior`
/// from all else they know.
///
/// Let ν be what is released without the record: whatever is guessed from it is right with probability at most `prior`,
/// and since the release with the record z makes no event likelier than F(ν(event)), with F concave, the average over
/// z is at most F(`prior`) (Hayes, Mahloujifar & Balle 2023, arXiv:2302.07225, Theorem 2).
pub fn reconstruction_upper(curve: &Curve, prior: f64) -> f64 {
    found_upper(curve, prior)
}

/// The least μ for which no attack finds more than one on μ-GDP does, and `tolerance` on top, at any false alarms: one
/// number for the whole curve (Gomez, Kaissis & Kulynych 2025, arXiv:2503.10945, report it so). Rounded up. None if
/// there is none up to 40.
///
/// Sampled plans keep no μ without a tolerance: their last tail is that of a record drawn in every step.
pub fn gaussian_mu(curve: &Curve, tolerance: f64) -> Option<f64> {
    // False alarms from 1e-12 to 0.01, evenly in their logarithm, and from there to 1; both curves rise.
    let few = (0..8_000).map(|k| 10_f64.powf(-12.0 + f64::from(k) / 800.0));
    let more = (0..=19_800).map(|k| 0.01 + 5e-5 * f64::from(k));
    let at: Vec<f64> = few.chain(more).map(|alarms| alarms.min(1.0)).collect();
    let found: Vec<f64> = at
        .iter()
        .map(|alarms| found_upper(curve, *alarms))
        .collect();
    let deviations: Vec<f64> = at[..at.len() - 1]
        .iter()
        .map(|alarms| quantile(*alarms) - 1e-9)
        .collect();
    let keeps = |mu: f64| {
        // Below the first: a Gaussian finds something, or nothing.
        found[0] <= tolerance
            && deviations
                .iter()
                .zip(&found[1..])
                .all(|(deviation, found)| *found <= below(deviation + mu) + tolerance)
    };
    keeps(40.0).then(|| boundary(0.0, 40.0, keeps).1)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use tacita_accounting::delta_of_mu;

    fn points(mu: f64) -> Vec<Point> {
        (0..400)
            .map(|k| {
                let epsilon = 0.02 * f64::from(k);
                Point {
                    epsilon,
                    delta: delta_of_mu(mu, epsilon).unwrap(),
                }
            })
            .collect()
    }

    #[test]
    fn the_attack_on_a_gaussian_is_bracketed() {
        let points = points(0.8);
        let curve = Curve::of(&points);
        for false_alarms in [0.001, 0.01, 0.1, 0.5] {
            let exact = below(quantile(false_alarms) + 0.8);
            let (lower, upper) = (
                found_lower(&points, false_alarms),
                found_upper(&curve, false_alarms),
            );
            assert!(lower <= exact && exact <= upper, "{lower} {exact} {upper}");
            assert!(upper - lower < 0.04 * exact + 0.001, "{lower} {upper}");
        }
    }

    #[test]
    fn the_mu_of_a_gaussian_is_its_own() {
        for mu in [0.3, 0.8, 2.0] {
            let found = gaussian_mu(&Curve::gaussian(mu).unwrap(), 1e-3).unwrap();
            assert!((found - mu).abs() < 0.01, "{found} {mu}");
        }
        assert_eq!(gaussian_mu(&Curve::through(0.0, 0.01), 1e-3), None);
    }

    #[test]
    fn nothing_released_tells_nothing() {
        let nothing = Curve::through(0.0, 0.0);
        assert!((found_upper(&nothing, 0.01) - 0.01).abs() < 1e-12);
        assert!((reconstruction_upper(&nothing, 1e-4) - 1e-4).abs() < 1e-12);
        assert_eq!(gaussian_mu(&nothing, 1e-3).map(|mu| mu < 0.01), Some(true));
    }
}
