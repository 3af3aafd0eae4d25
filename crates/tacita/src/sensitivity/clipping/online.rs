//! Online sensitivity optimisation: the threshold as one more thing to learn
//! (Galli, Palamidessi & Cucinotta 2024, arXiv:2310.00829).
//!
//! The derivative of the loss after a step in the threshold of that step is −ρ g̃ₜᵀ q̃ₜ₋₁ (eq. 12):
//! the gradient now against the mean direction of the gradients that were clipped before. Both are
//! released, so C is post-processing.

use serde::{Deserialize, Serialize};

/// Learns C from the released gradient and the released directions of clipped gradients.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Online {
    /// C₀.
    #[serde(default = "Online::default_initial")]
    pub initial: f64,
    /// ρ_c: the learning rate of C.
    #[serde(default = "Online::default_rate")]
    pub rate: f64,
    /// How a derivative moves C.
    #[serde(default)]
    pub rule: OnlineRule,
    /// The noise of the directions.
    #[serde(default)]
    pub noise: DirectionNoise,
}

/// How the derivative of the loss moves C.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum OnlineRule {
    /// C exp(ρ_c sign(g̃ᵀq̃)): eq. 20.
    #[default]
    SignExponential,
    /// C (1 + ρ_c cos(g̃, q̃)): eq. 19.
    ScaleInvariant,
    /// C + ρ_c g̃ᵀq̃: eq. 13, with the learning rate of the parameters in ρ_c. Where that would make
    /// C negative it is halved instead.
    Additive,
}

/// How the budget of a round is shared between the gradient and the directions.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum DirectionNoise {
    /// This share more noise on the gradient pays for the directions: 0.01 gives them ν_q = 7.124 ν.
    GradientIncrease(f64),
    /// Noise multiplier ν_q of the directions, whatever the gradient's.
    Multiplier(f64),
}

impl Default for DirectionNoise {
    fn default() -> Self {
        Self::GradientIncrease(0.01)
    }
}

impl Default for Online {
    fn default() -> Self {
        Self {
            initial: Self::default_initial(),
            rate: Self::default_rate(),
            rule: OnlineRule::default(),
            noise: DirectionNoise::default(),
        }
    }
}

impl Online {
    fn default_initial() -> f64 {
        0.1
    }

    fn default_rate() -> f64 {
        2.5e-3
    }

    /// C after a step in which the gradient g̃ was released, q̃ being the directions of the step
    /// before.
    pub(crate) fn next(&self, threshold: f64, products: &Products) -> f64 {
        match self.rule {
            OnlineRule::SignExponential => threshold * (self.rate * sign(products.inner)).exp(),
            OnlineRule::ScaleInvariant => {
                let lengths = products.first.sqrt() * products.second.sqrt();
                let cosine = if lengths > 0.0 {
                    products.inner / lengths
                } else {
                    0.0
                };
                threshold * (1.0 + self.rate * cosine)
            }
            OnlineRule::Additive => {
                let next = threshold + self.rate * products.inner;
                if next > 0.0 { next } else { threshold / 2.0 }
            }
        }
    }
}

/// −1, 0 or 1: nothing moves where there is no evidence. (`f64::signum(0.0)` is 1.)
pub(crate) fn sign(value: f64) -> f64 {
    if value > 0.0 {
        1.0
    } else if value < 0.0 {
        -1.0
    } else {
        0.0
    }
}

/// The inner product of two released vectors and their squared lengths.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct Products {
    pub inner: f64,
    pub first: f64,
    pub second: f64,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn products(g: [f64; 2], q: [f64; 2]) -> Products {
        let dot = |a: [f64; 2], b: [f64; 2]| a[0] * b[0] + a[1] * b[1];
        Products {
            inner: dot(g, q),
            first: dot(g, g),
            second: dot(q, q),
        }
    }

    #[test]
    fn rules_are_the_papers_equations() {
        let seen = products([3.0, 4.0], [1.0, 0.0]);
        let with = |rule| Online {
            rule,
            rate: 0.5,
            ..Online::default()
        };
        let exponential = with(OnlineRule::SignExponential).next(2.0, &seen);
        assert_eq!(exponential, 2.0 * 0.5f64.exp());
        let invariant = with(OnlineRule::ScaleInvariant).next(2.0, &seen);
        assert!((invariant - 2.0 * (1.0 + 0.5 * 0.6)).abs() < 1e-15);
        let additive = with(OnlineRule::Additive).next(2.0, &seen);
        assert_eq!(additive, 2.0 + 0.5 * 3.0);
    }

    #[test]
    fn no_evidence_moves_nothing_and_the_threshold_stays_positive() {
        for rule in [
            OnlineRule::SignExponential,
            OnlineRule::ScaleInvariant,
            OnlineRule::Additive,
        ] {
            let online = Online {
                rule,
                ..Online::default()
            };
            assert_eq!(online.next(0.3, &Products::default()), 0.3);
        }
        let online = Online {
            rule: OnlineRule::Additive,
            rate: 1.0,
            ..Online::default()
        };
        assert_eq!(online.next(1.0, &products([-5.0, 0.0], [1.0, 0.0])), 0.5);
    }
}
