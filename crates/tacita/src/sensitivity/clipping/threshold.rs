//! The clipping threshold over a run: known in advance, or learned from what was released.

use super::{Online, Quantile};
use serde::{Deserialize, Serialize};

/// How the threshold C moves from step to step.
///
/// Whatever the policy does, C is fixed within a step and the noise is multiplier × C, so no choice
/// here changes the privacy of a step.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "policy", deny_unknown_fields)]
pub enum Threshold {
    /// The same C in every step.
    Constant {
        /// C.
        value: f64,
    },
    /// Cₜ = C₀ ρ^(−t/T) for t = 1..T: the sensitivity decay of Du et al. 2021, eq. 12.
    Decay {
        /// C₀.
        initial: f64,
        /// ρ: how many times smaller the last threshold is.
        ratio: f64,
    },
    /// One threshold for every step.
    Table {
        /// The thresholds.
        values: Vec<f64>,
    },
    /// Follows a quantile of the gradient norms (Andrew et al. 2021).
    Quantile(Quantile),
    /// Learned online with the loss (Galli et al. 2024).
    Online(Online),
}

impl From<f64> for Threshold {
    fn from(value: f64) -> Self {
        Self::Constant { value }
    }
}

impl Threshold {
    /// Whether it moves with what is released, so that nobody knows it in advance.
    pub fn is_learned(&self) -> bool {
        matches!(self, Self::Quantile(_) | Self::Online(_))
    }

    /// C in a step, counted from 0; of a learned threshold the one it starts from.
    pub fn scheduled(&self, step: u64, steps: u64) -> f64 {
        match self {
            Self::Constant { value } => *value,
            // The paper counts steps from 1.
            Self::Decay { initial, ratio } => {
                initial * ratio.powf(-((step + 1) as f64) / steps as f64)
            }
            Self::Table { values } => values.get(step as usize).copied().unwrap_or(f64::NAN),
            Self::Quantile(quantile) => quantile.initial,
            Self::Online(online) => online.initial,
        }
    }
}
