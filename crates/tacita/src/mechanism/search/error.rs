//! Why a search is refused.

use tacita_accounting::AccountError;
use thiserror::Error;

/// Why a search is refused. Nothing was spent.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum SearchError {
    /// The number of runs has a distribution too long to tabulate.
    #[error(
        "the distribution of the number of runs is too spread to draw from; use a smaller mean"
    )]
    TooSpread,
    /// The tails that the noise generator cannot reach are not negligible at such a budget.
    #[error(
        "epsilon {epsilon} at delta {delta:e} is too large to promise anything; use a smaller one"
    )]
    TooLarge {
        /// ε asked for.
        epsilon: f64,
        /// δ asked for.
        delta: f64,
    },
    /// What is fixed in the runs costs more than the budget.
    #[error(
        "no noise keeps epsilon {epsilon}; fixed queries alone may exceed it: raise score-noise"
    )]
    NoNoiseSuffices {
        /// ε asked for.
        epsilon: f64,
    },
    /// The accountant refuses.
    #[error(transparent)]
    Account(#[from] AccountError),
}
