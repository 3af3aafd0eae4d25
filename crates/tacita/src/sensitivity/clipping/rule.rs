//! How a sample's gradient is scaled, given its norm.

use crate::sensitivity::gradient::Norms;
use crate::sensitivity::rounding;
use burn::tensor::{Tensor, TensorData};
use serde::{Deserialize, Serialize};

/// The factor a per-sample gradient is multiplied by.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "rule", deny_unknown_fields)]
pub enum ClipRule {
    /// min(1, C / ‖g‖): Abadi et al. 2016.
    Abadi,
    /// C / (‖g‖ + γ): Bu et al. 2023, eq. 4.1. γ = 0 is AUTO-V, γ > 0 AUTO-S. Every gradient is
    /// scaled, so C only rescales the learning rate and needs no tuning.
    Auto {
        /// The stability constant γ.
        gamma: f64,
    },
}

impl ClipRule {
    /// AUTO-S with the default stability constant, 0.01.
    pub const AUTO: Self = Self::Auto { gamma: 0.01 };

    /// One factor per sample and group.
    ///
    /// # Shapes
    /// - `thresholds`: one per group
    /// - result: `[batch, groups]`
    ///
    /// # Guarantee
    /// factor · norm ≤ threshold for every finite norm; a zero or non-finite norm gets 0.
    /// Checked by `factors_never_exceed_bound`.
    pub fn factors(&self, norms: &Norms, thresholds: &[f64]) -> Tensor<2> {
        let upper = norms.upper.clone();
        let thresholds = row(thresholds.iter().map(|c| c * rounding::FACTORS), &upper);
        let factors = match *self {
            Self::Abadi => (thresholds / upper).clamp_max(1.0),
            Self::Auto { gamma } => thresholds / (upper + gamma),
        };
        norms.zero_where_unusable(factors)
    }
}

/// The factors of OSO's second query: shareₗ / ‖g‖ where the sample was clipped, else 0
/// (Galli et al. 2024, Algorithm 1). Its sensitivity is 1.
pub(crate) fn direction_factors(norms: &Norms, thresholds: &[f64], shares: &[f64]) -> Tensor<2> {
    let upper = norms.upper.clone();
    let clipped = upper
        .clone()
        .greater(row(thresholds.iter().copied(), &upper).expand(upper.shape()));
    let factors = row(shares.iter().map(|share| share * rounding::FACTORS), &upper) / upper;
    let factors = factors.mask_fill(clipped.bool_not(), 0.0);
    norms.zero_where_unusable(factors)
}

/// One value per group as a row, `[1, groups]`.
pub(crate) fn row(values: impl Iterator<Item = f64>, like: &Tensor<2>) -> Tensor<2> {
    let values: Vec<f32> = values.map(|value| value as f32).collect();
    let groups = values.len();
    Tensor::from_data(TensorData::new(values, [1, groups]), &like.device())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::training::testkit::device;
    use proptest::prelude::*;

    /// Norms of every size, the extreme ones among them. None but 0 is below the root of `UNDERFLOW`.
    fn norm() -> impl Strategy<Value = f32> {
        let finite = any::<f32>().prop_map(|norm| norm.abs().max(1e-15));
        let edges = vec![0.0, 1e-15, 1.0, f32::MAX, f32::INFINITY, f32::NAN];
        prop_oneof![4 => finite, 4 => 1e-6f32..1e6, 1 => prop::sample::select(edges)]
    }

    proptest! {
        #[test]
        fn factors_never_exceed_bound(
            norms in prop::collection::vec(norm(), 1..40),
            threshold in prop_oneof![1e-6f64..1e3, Just(1.0)],
            gamma in prop_oneof![Just(0.0), 1e-6f64..1.0],
        ) {
            let column = |values: Vec<f32>| {
                let shape = [values.len(), 1];
                Tensor::<2>::from_data(TensorData::new(values, shape), &device())
            };
            let known = Norms { squared: column(norms.clone()), upper: column(norms.clone()) };
            for rule in [ClipRule::Abadi, ClipRule::Auto { gamma }] {
                let factors = rule.factors(&known, &[threshold]);
                let factors: Vec<f32> = factors.into_data().iter::<f32>().collect();
                for (&factor, &norm) in factors.iter().zip(&norms) {
                    if norm > 0.0 && norm.is_finite() {
                        let product = f64::from(factor) * f64::from(norm);
                        prop_assert!(factor >= 0.0 && product <= threshold, "{rule:?}: {factor} · {norm}");
                    } else {
                        prop_assert!(factor == 0.0, "{rule:?}: {factor} for a norm of {norm}");
                    }
                }
            }
        }
    }
}
