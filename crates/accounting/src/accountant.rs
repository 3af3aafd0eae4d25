//! What an accountant says of a ledger, and how strongly it may be said.

use crate::effort::Effort;
use crate::ledger::{Ledger, LedgerError};
use serde::Serialize;
use thiserror::Error;

/// A quantity read off a ledger (ε at a δ, or δ at an ε).
///
/// Only [`Reading::upper_bound`] may be shown to a user as a guarantee.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reading {
    /// The truth is at most this: a guarantee (≤).
    UpperBound(f64),
    /// The truth lies between the two; both ends are proved.
    Bracket {
        /// Proved lower end.
        lower: f64,
        /// Proved upper end: the guarantee.
        upper: f64,
    },
    /// An approximation (≈). It may lie below the truth and is never a guarantee.
    Estimate(f64),
}

impl Reading {
    /// The value that may be shown as a guarantee; none for an estimate.
    pub fn upper_bound(self) -> Option<f64> {
        match self {
            Self::UpperBound(upper) | Self::Bracket { upper, .. } => Some(upper),
            Self::Estimate(_) => None,
        }
    }

    /// The proved lower end, if there is one.
    pub fn lower_bound(self) -> Option<f64> {
        match self {
            Self::Bracket { lower, .. } => Some(lower),
            Self::UpperBound(_) | Self::Estimate(_) => None,
        }
    }
}

/// Reads privacy off a ledger.
pub trait Accountant {
    /// The name shown beside its figures.
    fn name(&self) -> &'static str;

    /// Refuses, by name, any round this accountant has no proof for.
    fn supports(&self, ledger: &Ledger) -> Result<(), AccountError>;

    /// ε at the given δ.
    fn epsilon(&self, ledger: &Ledger, delta: f64) -> Result<Reading, AccountError>;

    /// ε at the given δ, as near as what is left of the work of a search allows.
    #[doc(hidden)]
    fn epsilon_within(
        &self,
        ledger: &Ledger,
        delta: f64,
        effort: &Effort,
    ) -> Result<Reading, AccountError> {
        let _ = effort;
        self.epsilon(ledger, delta)
    }

    /// ε at the given δ, as near as a share of the work of several readings allows.
    #[doc(hidden)]
    fn epsilon_sharing(
        &self,
        ledger: &Ledger,
        delta: f64,
        effort: &Effort,
    ) -> Result<Reading, AccountError> {
        self.epsilon_within(ledger, delta, effort)
    }

    /// δ at several ε, as near as such a share allows.
    #[doc(hidden)]
    fn deltas_sharing(
        &self,
        ledger: &Ledger,
        epsilons: &[f64],
        effort: &Effort,
    ) -> Result<Vec<Reading>, AccountError> {
        let _ = effort;
        let delta = |epsilon: &f64| self.delta(ledger, *epsilon);
        epsilons.iter().map(delta).collect()
    }

    /// Units of work that a reading takes at most, about; 0 for what takes next to none.
    #[doc(hidden)]
    fn most_work(&self) -> f64 {
        0.0
    }

    /// An accountant that proves as much in less time, with wider figures: it steers a search whose
    /// result this one certifies. None if this one is quick.
    #[doc(hidden)]
    fn quicker(&self) -> Option<Box<dyn Accountant>> {
        None
    }

    /// δ at the given ε.
    fn delta(&self, ledger: &Ledger, epsilon: f64) -> Result<Reading, AccountError>;
}

/// Why no figure was given. Nothing is a guarantee when this is returned.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum AccountError {
    /// δ outside (0, 1).
    #[error("delta must be in (0, 1), got {delta}; a common choice is 1/(10 n) for n records")]
    Delta {
        /// The value seen.
        delta: f64,
    },
    /// ε that is not a finite number of at least 0.
    #[error("epsilon must be a finite number of at least 0, got {epsilon}")]
    Epsilon {
        /// The value seen.
        epsilon: f64,
    },
    /// A round the accountant has no proof for.
    #[error("the {accountant} accountant cannot treat {what}; {remedy}")]
    Unsupported {
        /// Accountant's name.
        accountant: &'static str,
        /// The round or relation it refuses.
        what: String,
        /// What to do instead.
        remedy: &'static str,
    },
    /// A budget that is used up by what no noise scale can make cheaper.
    #[error(
        "queries of fixed noise and earlier rounds alone cost ε ≈ {spent:.4} at δ = {delta:e}, which leaves \
         nothing of the budget ε = {epsilon}; give these queries more noise, ask fewer of them, or \
         raise the budget"
    )]
    NothingLeft {
        /// What they cost.
        spent: f64,
        /// The budget.
        epsilon: f64,
        /// Its δ.
        delta: f64,
    },
    /// No setting meets the target.
    #[error("{what}: no value within [{lowest}, {highest}] meets the target; {remedy}")]
    OutOfReach {
        /// What was searched for.
        what: &'static str,
        /// Search range, low end.
        lowest: f64,
        /// Search range, high end.
        highest: f64,
        /// What to do instead.
        remedy: &'static str,
    },
    /// A search that would take minutes.
    #[error(
        "{what}: looking for it takes more work than is allowed for a plan of {kinds} kinds of rounds and \
         units of {records} records; give rounds that are nearly alike the same noise, or state it for \
         fewer records per unit"
    )]
    TooMuchWork {
        /// What was searched for.
        what: &'static str,
        /// Kinds of rounds of the plan.
        kinds: usize,
        /// Records of a unit.
        records: u32,
    },
    /// An argument outside its range.
    #[error("{what} must be {range}, got {value}")]
    Argument {
        /// Name of the argument.
        what: &'static str,
        /// Its permitted range.
        range: &'static str,
        /// The value seen.
        value: f64,
    },
    /// The ledger itself is bad.
    #[error(transparent)]
    Ledger(#[from] LedgerError),
}

/// Checks a δ given by a user.
pub fn check_delta(delta: f64) -> Result<(), AccountError> {
    if delta > 0.0 && delta < 1.0 {
        Ok(())
    } else {
        Err(AccountError::Delta { delta })
    }
}

/// Checks an ε given by a user.
pub fn check_epsilon(epsilon: f64) -> Result<(), AccountError> {
    if epsilon >= 0.0 && epsilon.is_finite() {
        Ok(())
    } else {
        Err(AccountError::Epsilon { epsilon })
    }
}
