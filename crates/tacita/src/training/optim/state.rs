//! What an optimiser remembers.

use super::OptimizerRule;
use serde::{Deserialize, Serialize};

/// The state of an optimiser, for a checkpoint. Public: it is computed from released values.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OptimizerState {
    /// The optimiser it belongs to.
    pub rule: OptimizerRule,
    /// Steps made.
    pub time: i32,
    /// Vectors of each parameter.
    pub memory: Vec<Vec<Vec<f32>>>,
}
