//! Why a plan was refused.

use tacita_accounting::{AccountError, LedgerError, RunSizeError};
use thiserror::Error;

/// Why a plan was refused. Nothing was released.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum PlanError {
    /// A number outside its range.
    #[error("{what} must be {range}, got {value}")]
    Value {
        /// Which number.
        what: &'static str,
        /// Its range.
        range: &'static str,
        /// The value seen.
        value: f64,
    },
    /// A batch that cannot be drawn.
    #[error(
        "expected batch {batch} is larger than the {records} records; lower the batch or correct the \
         public record count"
    )]
    BatchTooLarge {
        /// Expected batch.
        batch: f64,
        /// Declared records.
        records: u64,
    },
    /// A length or a sampling rate that cannot be.
    #[error(transparent)]
    Size(#[from] RunSizeError),
    /// A budget that statistics and scores use up.
    #[error(
        "statistics and scores alone cost ε ≈ {spent:.4} at δ = {delta:e}, which leaves nothing of the \
         budget ε = {epsilon} for a step; give them more noise, or leave them out"
    )]
    NothingLeft {
        /// What they cost.
        spent: f64,
        /// The budget.
        epsilon: f64,
        /// Its δ.
        delta: f64,
    },
    /// A table that does not fit the run.
    #[error("{what} lists {listed} values, but the run has {steps} steps; list one for each step")]
    Table {
        /// Which table.
        what: &'static str,
        /// Values in it.
        listed: usize,
        /// Steps of the run.
        steps: u64,
    },
    /// A combination without meaning.
    #[error("{what} has no meaning: {why}; {remedy}")]
    Meaningless {
        /// The combination.
        what: &'static str,
        /// Why.
        why: &'static str,
        /// What to do.
        remedy: &'static str,
    },
    /// A combination that nobody has proved private.
    #[error("{what} has no privacy proof: {why}; {remedy}")]
    Unproved {
        /// The combination.
        what: &'static str,
        /// Why.
        why: &'static str,
        /// What to do.
        remedy: &'static str,
    },
    /// The accountant has no certificate for it.
    #[error(transparent)]
    Account(#[from] AccountError),
}

impl From<LedgerError> for PlanError {
    fn from(error: LedgerError) -> Self {
        Self::Account(error.into())
    }
}
