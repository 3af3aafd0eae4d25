//! How a sample's gradient is scaled, given its norm.

use crate::gradient::Norms;
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

/// The factor that keeps f32 rounding on the safe side: two conversions, a division, the product with the
/// gradient and, in some sums, its last bit being set (one and a half roundings more).
const ROUND_DOWN: f64 = 1.0 - 8.0 / (1u64 << 24) as f64;

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
        let thresholds = row(thresholds.iter().map(|c| c * ROUND_DOWN), &upper);
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
    let factors = row(shares.iter().map(|share| share * ROUND_DOWN), &upper) / upper;
    let factors = factors.mask_fill(clipped.bool_not(), 0.0);
    norms.zero_where_unusable(factors)
}

/// One value per group as a row, `[1, groups]`.
pub(crate) fn row(values: impl Iterator<Item = f64>, like: &Tensor<2>) -> Tensor<2> {
    let values: Vec<f32> = values.map(|value| value as f32).collect();
    let groups = values.len();
    Tensor::from_data(TensorData::new(values, [1, groups]), &like.device())
}
