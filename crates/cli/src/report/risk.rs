//! The guarantee as risks: what attackers find, what suspicions become, what can be reconstructed.
//!
//! Everything follows from the certified curve, for the unit of privacy of the plan: a record, or a person where the plan
//! counts persons.

use super::figures::CurvePoint;
use super::odds;
use serde::Serialize;
use tacita_accounting::decimal::{count, exact, percent_up, up};
use tacita_audit::Curve;
use tacita_audit::risk::{found_lower, found_upper, gaussian_mu, reconstruction_upper};
use tacita_audit::trade_off::Point;

/// False-alarm rates of the attacks that are bounded.
const FALSE_ALARMS: [f64; 4] = [0.0001, 0.001, 0.01, 0.1];
/// Beliefs before.
const BELIEFS: [f64; 4] = [0.01, 0.1, 0.5, 0.9];
/// How likely a record is guessed from all else that is known.
const GUESSES: [f64; 3] = [1e-6, 1e-4, 1e-2];
/// How much more than a Gaussian of the stated μ an attack may find.
const TOLERANCE: f64 = 1e-3;

/// What a plan means to somebody.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Risk {
    /// The best attack at several rates of false alarms.
    pub membership: Vec<Membership>,
    /// The whole curve in one number; none if there is none.
    pub gaussian: Option<GaussianMu>,
    /// Beliefs before and after.
    pub beliefs: Vec<Belief>,
    /// Reconstruction of a record.
    pub reconstruction: Vec<Reconstruction>,
}

/// What the best attack finds.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Membership {
    /// Share of outsiders that it wrongly names.
    pub false_alarms: f64,
    /// It finds at least this share of the members, if it knows all else and sees every release; the false alarms alone
    /// if no more is proved.
    pub found_lower: f64,
    /// It finds at most this share.
    pub found_upper: f64,
}

/// No attack finds more than one on μ-GDP does, and `tolerance` on top.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct GaussianMu {
    /// μ.
    pub mu_upper: f64,
    /// What comes on top, at any false alarms.
    pub tolerance: f64,
}

/// A suspicion about a record.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Belief {
    /// Before anything is seen.
    pub prior: f64,
    /// After, at most, except with probability δ.
    pub posterior_upper: f64,
}

/// Somebody who guesses a record.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Reconstruction {
    /// The probability of guessing it from all else that is known.
    pub prior: f64,
    /// The probability of guessing it from the release as well, at most.
    pub success_upper: f64,
}

/// The risks of a certified curve; none if there is none.
pub fn risk(curve: &[CurvePoint], delta: f64) -> Option<Risk> {
    if curve.is_empty() {
        return None;
    }
    let of = |delta: fn(&CurvePoint) -> f64| -> Vec<Point> {
        let points = curve.iter();
        points
            .map(|point| Point {
                epsilon: point.epsilon,
                delta: delta(point),
            })
            .collect()
    };
    let lower = of(|point| point.delta_lower);
    let upper = Curve::of(&of(|point| point.delta_upper));
    let exponent = odds::odds_exponent(curve, delta);
    let beliefs = exponent.into_iter().flat_map(|exponent| {
        BELIEFS.map(|prior| Belief {
            prior,
            posterior_upper: odds::posterior_upper(prior, exponent),
        })
    });
    Some(Risk {
        membership: FALSE_ALARMS
            .map(|false_alarms| Membership {
                false_alarms,
                found_lower: found_lower(&lower, false_alarms),
                found_upper: found_upper(&upper, false_alarms),
            })
            .to_vec(),
        gaussian: gaussian_mu(&upper, TOLERANCE).map(|mu_upper| GaussianMu {
            mu_upper,
            tolerance: TOLERANCE,
        }),
        beliefs: beliefs.collect(),
        reconstruction: GUESSES
            .map(|prior| Reconstruction {
                prior,
                success_upper: reconstruction_upper(&upper, prior),
            })
            .to_vec(),
    })
}

impl Risk {
    /// A sentence for each.
    pub fn sentences(&self) -> Vec<String> {
        let percent = |share: f64| format!("{} %", exact((1e8 * share).round() / 1e6));
        let mut sentences: Vec<String> = (self.membership.iter())
            .map(|attack| {
                format!(
                    "an attacker who accepts {} false alarms finds at most {} of the members",
                    percent(attack.false_alarms),
                    percent_up(attack.found_upper)
                )
            })
            .collect();
        sentences.extend(self.gaussian.iter().map(|gaussian| {
            format!(
                "no attack finds more than one on Gaussian noise of μ = {} does, and {} of the members on top",
                up(gaussian.mu_upper, 4),
                percent(gaussian.tolerance)
            )
        }));
        sentences.extend(self.beliefs.iter().map(|belief| {
            format!(
                "a suspicion of {} becomes one of at most {}, except with probability δ",
                percent(belief.prior),
                percent_up(belief.posterior_upper)
            )
        }));
        sentences.extend(self.reconstruction.iter().map(|record| {
            format!(
                "whoever guesses a record with a chance of 1 in {} guesses it with at most {} if they see the release as well",
                count((1.0 / record.prior).round() as u64),
                percent_up(record.success_upper)
            )
        }));
        sentences
    }
}
