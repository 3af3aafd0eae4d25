//! Why an account refuses.

use crate::mechanism::fresh_key::KeyError;
use std::io;
use std::path::PathBuf;
use tacita_accounting::{AccountError as Unaccountable, LedgerError, decimal};
use thiserror::Error;

/// Why an account cannot be used. Nothing was released.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum AccountError {
    /// There is a file already.
    #[error(
        "{path} exists already; what was fixed when an account was opened is not changed. Nothing was spent"
    )]
    Exists {
        /// The file.
        path: PathBuf,
    },
    /// There is no file.
    #[error(
        "there is no account {path}; open it with a total first: tacita budget NAME --open --epsilon E --delta D. Nothing was spent"
    )]
    NotThere {
        /// The file.
        path: PathBuf,
    },
    /// The plan would exceed the total.
    #[error(
        "the account {path} has not enough left: ε ≤ {} of its total ε = {epsilon} at δ = {delta:e} is spent by runs \
         that may be chosen in the light of each other{}. Nothing was spent",
        decimal::up(*spent, 5),
        fitting
    )]
    Spent {
        /// The file.
        path: PathBuf,
        /// ε spent.
        spent: f64,
        /// The total.
        epsilon: f64,
        /// Its δ.
        delta: f64,
        /// What would fit, in words, if that was looked for.
        fitting: String,
    },
    /// A total so large that the tail of the noise would not be covered.
    #[error(
        "a total of ε = {epsilon} at δ = {delta:e} promises nothing, and the tail that the noise generator cannot reach \
         would not be paid for; choose a smaller total"
    )]
    TooLarge {
        /// The total.
        epsilon: f64,
        /// Its δ.
        delta: f64,
    },
    /// The file is older than what a run or a witness saw.
    #[error(
        "{path} is older than a run that was reserved in it, or is another file: it has {lines} lines and not the one \
         that was line {line} then, so what it reserved since is missing. Restore the newest copy; without it there is \
         no knowing what was spent. Nothing was spent by this run"
    )]
    RolledBack {
        /// The file.
        path: PathBuf,
        /// The line that was seen.
        line: u64,
        /// Lines of the file.
        lines: u64,
    },
    /// The last line was cut short, and nothing tells whether it was ever finished.
    #[error(
        "{path} ends within a line: a run was being reserved when the machine failed, or the file was cut short. If you \
         are sure that no run began then, remove the unfinished line; otherwise restore the newest copy. Nothing was \
         spent"
    )]
    Torn {
        /// The file.
        path: PathBuf,
    },
    /// The first line was never finished.
    #[error(
        "{path} has no first line, so it is no account; restore it from a copy. Nothing was spent"
    )]
    NoHeader {
        /// The file.
        path: PathBuf,
    },
    /// A line is not what was written.
    #[error(
        "{path} was changed or damaged in line {line} ({reason}); restore it from a copy: without it there is no knowing \
         what was spent. Nothing was spent"
    )]
    Damaged {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// What is wrong with it.
        reason: &'static str,
    },
    /// The same identifier with another plan.
    #[error("the account holds another plan for {run}; nothing was spent")]
    OtherPlan {
        /// The identifier.
        run: String,
    },
    /// The system failed.
    #[error("cannot {action} {path}: {source}; nothing was released")]
    Io {
        /// What was tried.
        action: &'static str,
        /// The file.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// An earlier write failed.
    #[error(
        "an earlier write to {path} failed, so it can no longer be trusted to be on disk; nothing was released"
    )]
    Unusable {
        /// The file.
        path: PathBuf,
    },
    /// No accountant has a proof for it.
    #[error(transparent)]
    Unaccountable(#[from] Unaccountable),
    /// A plan is no ledger.
    #[error("the plan cannot be accounted: {0}; nothing was released")]
    Plan(#[from] LedgerError),
    /// No identifier could be drawn.
    #[error(transparent)]
    Key(#[from] KeyError),
}
