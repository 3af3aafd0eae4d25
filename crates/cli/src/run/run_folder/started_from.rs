//! What a run says of the weights it started from.

use serde::{Deserialize, Serialize};
use tacita_accounting::decimal::count;

/// What a run says of the weights it started from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StartedFrom {
    /// Name of the file, without its folder.
    pub file: String,
    /// SHA-256 of its content.
    pub sha256: String,
    /// How many of the model's numbers it gave.
    pub numbers: u64,
    /// How many the model has.
    pub of: u64,
    /// Parameters that were drawn at random instead.
    pub drawn: Vec<String>,
}

impl StartedFrom {
    /// How much of the model it gave, in words.
    pub fn extent(&self) -> String {
        let drawn = match self.drawn.as_slice() {
            [] => String::new(),
            drawn => format!("; drawn at random: {}", drawn.join(", ")),
        };
        format!(
            "{} of {} numbers{drawn}",
            count(self.numbers),
            count(self.of)
        )
    }
}
