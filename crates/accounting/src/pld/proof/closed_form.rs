//! Bounds in closed form: a composition of Gaussians is a Gaussian.
//!
//! Leaving rounds out is post-processing, so the full rounds alone bound a ledger from below. Drawing
//! records is too (what is not drawn is replaced by nothing), so all rounds as if they were full bound
//! it from above. Where there are full rounds only, both are the exact profile, to its rounding.

use super::rounds::{Rounds, Side};
use crate::gaussian;
use crate::special::ROUNDOFF;

/// Squares of larger numbers overflow.
const LARGEST: f64 = 1e154;

/// Which Gaussians a ledger lies between: their μ, sensitivity over noise.
#[derive(Debug, Clone, Copy)]
pub(crate) struct GaussianBounds {
    /// None if every round is sampled.
    least: Option<f64>,
    most: f64,
}

impl GaussianBounds {
    /// Those of a ledger.
    pub(crate) fn of(rounds: &Rounds) -> Self {
        let full = (rounds.kinds.iter()).find(|kind| kind.rate.is_none());
        let mut precision = 0.0;
        for kind in &rounds.kinds {
            let records = kind.rate.map_or(1.0, |_| f64::from(rounds.records));
            // Too small to square, and to matter to any δ.
            let sensitivity = (records / kind.noise(Side::Upper)).max(1e-150);
            precision += kind.times as f64 * sensitivity * sensitivity;
        }
        let rounding = 1.0 + (rounds.kinds.len() as f64 + 8.0) * ROUNDOFF;
        Self {
            least: full.map(|kind| kind.noise(Side::Lower).recip().min(LARGEST)),
            most: precision.sqrt() * rounding,
        }
    }

    /// A bracket of ε at δ.
    pub(crate) fn epsilon(&self, delta: f64) -> (f64, f64) {
        let least = (self.least).map_or(0.0, |mu| gaussian::epsilon_down(delta, mu));
        (least, gaussian::epsilon_up(delta, self.most))
    }

    /// A bracket of δ at ε.
    pub(crate) fn delta(&self, epsilon: f64) -> (f64, f64) {
        let least = (self.least).map_or(0.0, |mu| gaussian::delta_down(epsilon, mu));
        (least, gaussian::delta_up(epsilon, self.most))
    }
}
