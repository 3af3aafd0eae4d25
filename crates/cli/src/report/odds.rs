//! What the privacy curve means for someone who attacks the model.
//!
//! (ε, δ) at one point does *not* say that odds move by at most e^ε except with probability δ. The
//! whole curve does say such a thing, for a slightly larger exponent, and bounds every attack.

use super::figures::CurvePoint;
use serde::Serialize;

/// Rounding of a handful of operations, upwards.
const UP: f64 = 1.0 + 1e-12;

/// A bound on every membership attack.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Attack {
    /// Share of outsiders that the attack wrongly names.
    pub false_alarms: f64,
    /// It finds at most this share of the records that took part.
    pub found_upper: f64,
}

/// Two points on the curve of anything that is (ε, δ)-private: its own, and that at ε = 0, where δ is at
/// most (e^ε − 1 + 2δ) / (e^ε + 1) (Kairouz, Oh & Viswanath 2015, Theorem 2.1).
pub fn curve_through(epsilon: f64, delta: f64) -> Vec<CurvePoint> {
    // (e^ε − 1) / (e^ε + 1), without overflow.
    let distance = (0.5 * epsilon).tanh() + 2.0 * delta / (epsilon.exp() + 1.0);
    vec![
        CurvePoint {
            epsilon: 0.0,
            delta_upper: (distance * UP).min(1.0),
            delta_lower: 0.0,
        },
        CurvePoint {
            epsilon,
            delta_upper: delta,
            delta_lower: 0.0,
        },
    ]
}

/// The least known a ≥ ε such that, except with probability `delta` over the noise and the draws,
/// nobody's odds move towards the truth by more than the factor e^a.
///
/// With L the privacy loss, δ(ε) = E[(1 − e^(ε−L))₊] ≥ P[L > a] (1 − e^(ε−a)) for a > ε, so
/// P[L > a] ≤ δ where a = ε − ln(1 − δ(ε)/δ). Any ε of the curve will do; the best is taken.
pub fn odds_exponent(curve: &[CurvePoint], delta: f64) -> Option<f64> {
    let usable = curve.iter().filter(|point| point.delta_upper < delta);
    usable
        .map(|point| (point.epsilon - (-point.delta_upper / delta).ln_1p()) * UP)
        .min_by(f64::total_cmp)
}

/// The largest probability that a belief of `prior` in the truth can become under odds that move by
/// at most e^`exponent`.
pub fn posterior_upper(prior: f64, exponent: f64) -> f64 {
    // p / (p + (1 − p) e^(−a)): no overflow for large a.
    (prior / (prior + (1.0 - prior) * (-exponent).exp()) * UP).min(1.0)
}

/// The most any attack with these false alarms can find.
///
/// Every point (ε, δ) of the curve bounds a test with false alarms α: its power is at most e^ε α + δ,
/// and also at most 1 − e^(−ε) (1 − δ − α) (Kairouz, Oh & Viswanath 2015, Theorem 2.1).
pub fn attack(curve: &[CurvePoint], false_alarms: f64) -> Attack {
    let bound = |point: &CurvePoint| {
        let direct = point.epsilon.exp() * false_alarms + point.delta_upper;
        let reverse = 1.0 - (-point.epsilon).exp() * (1.0 - point.delta_upper - false_alarms);
        direct.min(reverse)
    };
    let found = curve.iter().map(bound).fold(1.0, f64::min);
    Attack {
        false_alarms,
        found_upper: (found * UP).min(1.0),
    }
}

/// Someone who must say "in" or "out" of a record that is in with probability one half is right at
/// most this often: (1 + δ(0)) / 2.
pub fn coin_guess_upper(curve: &[CurvePoint]) -> f64 {
    let distance = curve.first().filter(|point| point.epsilon == 0.0);
    distance.map_or(1.0, |point| (0.5 * (1.0 + point.delta_upper) * UP).min(1.0))
}
