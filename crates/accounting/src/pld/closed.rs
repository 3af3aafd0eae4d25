//! Bounds in closed form: a composition of Gaussians is a Gaussian.
//!
//! Leaving rounds out is post-processing, so the full rounds alone bound a ledger from below. Drawing
//! records is too (what is not drawn is replaced by nothing), so all rounds as if they were full bound
//! it from above. Where there are full rounds only, both are the exact profile, to its rounding.

use super::steps::{Side, Steps};
use crate::gaussian;
use crate::special::ROUNDOFF;

/// Squares of larger numbers overflow.
const LARGEST: f64 = 1e154;

/// Which Gaussians a ledger lies between: their μ, sensitivity over noise.
#[derive(Debug, Clone, Copy)]
pub(super) struct Between {
    /// None if every round is sampled.
    least: Option<f64>,
    most: f64,
}

impl Between {
    /// Those of a ledger.
    pub(super) fn of(steps: &Steps) -> Self {
        let full = (steps.kinds.iter()).find(|step| step.rate.is_none());
        let mut precision = 0.0;
        for step in &steps.kinds {
            let records = step.rate.map_or(1.0, |_| f64::from(steps.records));
            // Too small to square, and to matter to any δ.
            let sensitivity = (records / step.noise(Side::Upper)).max(1e-150);
            precision += step.times as f64 * sensitivity * sensitivity;
        }
        let rounding = 1.0 + (steps.kinds.len() as f64 + 8.0) * ROUNDOFF;
        Self {
            least: full.map(|step| step.noise(Side::Lower).recip().min(LARGEST)),
            most: precision.sqrt() * rounding,
        }
    }

    /// A bracket of ε at δ.
    pub(super) fn epsilon(&self, delta: f64) -> (f64, f64) {
        let least = (self.least).map_or(0.0, |mu| gaussian::epsilon_down(delta, mu));
        (least, gaussian::epsilon_up(delta, self.most))
    }

    /// A bracket of δ at ε.
    pub(super) fn delta(&self, epsilon: f64) -> (f64, f64) {
        let least = (self.least).map_or(0.0, |mu| gaussian::delta_down(epsilon, mu));
        (least, gaussian::delta_up(epsilon, self.most))
    }
}
