//! What the first line of a ledger tells of its run besides the plan.

use serde::{Deserialize, Serialize};

/// What the first line of a ledger tells of its run besides the plan, bound to every line after it.
///
/// ```
/// use tacita_mechanism::{LedgerLabel, SearchKind, SearchOfRun};
///
/// let search = SearchOfRun { kind: SearchKind::Random, epsilon_upper: 2.0, delta: 1e-5 };
/// let label = LedgerLabel { search: Some(search), binds_files: true, ..LedgerLabel::default() };
/// assert_ne!(label, LedgerLabel::default());
/// ```
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LedgerLabel {
    /// The search that the run is a part of: its own plan does not pay for the choice.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub search: Option<SearchOfRun>,
    /// Whether later lines bind files of the run to the ledger
    /// ([`bind_file_to_ledger`](super::bind_file_to_ledger)).
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub binds_files: bool,
    /// The account in which the whole plan was reserved before this line was written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub account: Option<Box<AccountOfRun>>,
    /// The canaries of an audit, whose coins were tossed before this line was written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub canaries: Option<SealedCanaries>,
}

/// What a ledger commits a run to about the canaries of its audit: records that a secret coin put in or left out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SealedCanaries {
    /// How many there are, in or out.
    pub count: u64,
    /// SHA-256 over the coins and a secret number, in hexadecimal. It tells nothing of the coins until both are opened,
    /// and then that they are the ones that were tossed.
    pub sha256: String,
}

/// What a run keeps of the account under which it was reserved: enough to know a file that is older.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AccountOfRun {
    /// The account, whatever its file is called.
    pub id: String,
    /// The reservation.
    pub run: String,
    /// The line of the account that reserves it, from 1.
    pub line: u64,
    /// The chain of that line.
    pub head: String,
}

/// The search that a run is a part of, and what the whole of it keeps.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SearchOfRun {
    /// What of the search is published.
    pub kind: SearchKind,
    /// ε of the whole search, an upper bound.
    pub epsilon_upper: f64,
    /// δ of the whole search.
    pub delta: f64,
}

/// What of a search is published.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SearchKind {
    /// Every run.
    Grid,
    /// The best run alone: the others, and their number, stay secret.
    Random,
}

impl LedgerLabel {
    pub(super) fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// Whether a file of a run is the one that its ledger names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Binding {
    /// The ledger names this content.
    Same,
    /// The ledger names another content.
    Other,
    /// The ledger should name the file and does not: lines were lost or removed.
    Missing,
    /// The ledger binds no files: it was made by an earlier version, or without a run folder.
    None,
}
