//! What a preparation uses, and where it comes from.

use serde::{Deserialize, Serialize};

/// Where a number used in the preparation comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Basis {
    /// The same for everybody: a property of the format or of this program.
    PublicConstant,
    /// Stated by the user, or by the documentation of a public set, to be public.
    Declared,
    /// Estimated from the private records with noise, and charged to the ledger.
    PrivatelyEstimated,
}

/// One thing the preparation uses, for the report.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Fact {
    /// What is used, in words.
    pub what: String,
    /// Where it comes from.
    pub basis: Basis,
}
