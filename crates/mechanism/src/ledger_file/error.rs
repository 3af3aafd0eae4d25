//! Why a ledger file refuses.

use std::io;
use std::path::PathBuf;

use crate::fresh_key::KeyError;
use tacita_accounting::LedgerError;
use thiserror::Error;

/// Why a ledger file cannot be written or read. None of these follows a release: the entry comes
/// first.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum LedgerFileError {
    /// There is a file already.
    #[error(
        "{path} exists already; resume that run, or choose another path for a new one; nothing was released"
    )]
    Exists {
        /// The file.
        path: PathBuf,
    },
    /// Another process writes it.
    #[error("{path} is in use by another run; nothing was released by this one")]
    InUse {
        /// The file.
        path: PathBuf,
    },
    /// The process that began or resumed the run last may still run.
    #[error(
        "another process has {path}, perhaps on another machine: {claim} is its claim, and it did not end in order. If you are sure that it is dead, resume with --take-over; nothing was released by this one"
    )]
    MayBeRunning {
        /// The ledger.
        path: PathBuf,
        /// The claim.
        claim: PathBuf,
    },
    /// Another process has claimed the run since.
    #[error(
        "another process has taken over {path}, so this one stops; nothing of this round was released by it"
    )]
    TakenOver {
        /// The ledger.
        path: PathBuf,
    },
    /// There was no number for a claim.
    #[error(transparent)]
    Claim(KeyError),
    /// The system failed.
    #[error("cannot {action} the ledger {path}: {source}; nothing of this round was released")]
    Io {
        /// What was tried.
        action: &'static str,
        /// The file.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// The first line was never finished, or everything was removed: the file alone cannot tell which.
    #[error(
        "{path} ends within its first line, so it does not tell what was released. If the run has a checkpoint or a model, entries were lost: restore the ledger from a copy. If it has neither, it died before its first step and nothing was released: delete it and start a new run"
    )]
    NoHeader {
        /// The file.
        path: PathBuf,
    },
    /// A line is not what was written.
    #[error(
        "{path} was changed or damaged in line {line} ({reason}); restore it from a copy: without it there is no knowing what was spent; nothing was released"
    )]
    Damaged {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// What is wrong with it.
        reason: &'static str,
    },
    /// The plan of the run to resume is another one.
    #[error(
        "{path} was begun under another plan; resume with the plan it holds, or start a new run with a budget of its own; nothing was released"
    )]
    OtherPlan {
        /// The file.
        path: PathBuf,
    },
    /// A private run would be resumed with a known seed or with diagnostics, or the reverse.
    #[error(
        "{path} was begun with {} keys; resume with the same kind; nothing was released",
        if *private { "private" } else { "fixed-seed or diagnosed (not private)" }
    )]
    OtherKeys {
        /// The file.
        path: PathBuf,
        /// Whether the ledger is of a private run.
        private: bool,
    },
    /// A round out of turn.
    #[error(
        "round {round} was asked for, but the ledger's next round is {expected}; rounds are neither repeated nor left out; nothing was released"
    )]
    OutOfTurn {
        /// The round asked for.
        round: u64,
        /// The round that may come.
        expected: u64,
    },
    /// The plan has no such round.
    #[error("round {round} is past the {planned} rounds of the plan; nothing was released")]
    PlanFinished {
        /// The round asked for.
        round: u64,
        /// The rounds of the plan.
        planned: u64,
    },
    /// An earlier write failed.
    #[error(
        "an earlier write to the ledger {path} failed, so it can no longer be trusted to be on disk; stop, repair and resume; nothing of this round was released"
    )]
    Unusable {
        /// The file.
        path: PathBuf,
    },
    /// The plan is no ledger.
    #[error("the plan cannot be recorded: {0}; nothing was released")]
    Plan(#[from] LedgerError),
}
