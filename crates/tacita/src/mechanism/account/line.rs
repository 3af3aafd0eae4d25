//! The lines of an account.

use serde::{Deserialize, Serialize};
use tacita_accounting::{Ledger, RandomRuns};

/// The only format there is.
pub(super) const FORMAT: u32 = 1;

/// The first line: what was fixed when the account was opened.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Header {
    pub tacita_account: u32,
    pub name: String,
    pub id: String,
    pub epsilon: f64,
    pub delta: f64,
    /// The order of the filter.
    pub order: f64,
    pub records_per_unit: u32,
}

/// Every other line.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub(super) enum Entry {
    Reservation(Reservation),
    GivenBack(GivenBack),
}

/// All that a run or a search will release, reserved before it begins.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Reservation {
    /// Identifier of the run or the search.
    pub run: String,
    /// Public name of the data.
    pub data: String,
    /// The day it was reserved.
    pub date: String,
    /// What will be released.
    pub release: ReservedRelease,
    /// It was the first, keeps the total by itself, and nothing comes after it. Set when it is reserved.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub alone: bool,
    /// It was released before, without the account. Set when it is entered.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub entered: bool,
}

/// What is reserved at once.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum ReservedRelease {
    /// A run.
    Run {
        /// All its rounds.
        plan: Ledger,
    },
    /// Several runs that were planned together, all of which are published: a grid.
    Grid {
        /// All rounds of all runs.
        plan: Ledger,
    },
    /// The best of a truncated negative binomial number of runs, each of one of several candidates.
    BestOf {
        /// What each candidate would release.
        candidates: Vec<Ledger>,
        /// η of the distribution of the number of runs.
        shape: f64,
        /// γ of it.
        gamma: f64,
    },
    /// The same for a Poisson number of runs.
    BestOfPoisson {
        /// What each candidate would release.
        candidates: Vec<Ledger>,
        /// Runs on average.
        mean: f64,
    },
}

impl ReservedRelease {
    /// The best of a random number of runs.
    pub fn best_of(runs: RandomRuns, candidates: Vec<Ledger>) -> Self {
        match runs {
            RandomRuns::TruncatedNegativeBinomial { shape, gamma } => Self::BestOf {
                candidates,
                shape,
                gamma,
            },
            RandomRuns::Poisson { mean } => Self::BestOfPoisson { candidates, mean },
        }
    }

    /// All rounds, of what is published as a whole.
    pub fn plan(&self) -> Option<&Ledger> {
        match self {
            Self::Run { plan } | Self::Grid { plan } => Some(plan),
            Self::BestOf { .. } | Self::BestOfPoisson { .. } => None,
        }
    }
}

/// A run ended before it released anything.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct GivenBack {
    pub given_back: String,
}
