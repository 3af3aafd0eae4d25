//! Checks what a run folder of Tacita claims, without Tacita's engine.
//!
//! A third party needs the folder, and, if it was signed, the statement and the public key of whoever signed it. This
//! crate has no tensors, no data and few dependencies; it is meant to be read before it is trusted, which takes about
//! an hour. Of Tacita it uses the proof part of the accountant and nothing else: it reads ledgers and run folders
//! with code of its own.
//!
//! | module | what it does |
//! |---|---|
//! | `chain` | follows the hash chain of the ledger, line by line |
//! | `ledger` | the plan that the ledger commits to, what counts as released, and the files it binds |
//! | `bracket` | computes the proved ends of ε again from the plan |
//! | `second_bound` | an upper bound that shares no code with the accountant; no proved lower end may lie above it |
//! | `folder` | compares settings, facts, model and report with the ledger and with each other |
//! | `statement` | makes and checks a signed statement about a folder |
//!
//! # Example
//! ```no_run
//! let verdict = tacita_verify::verify("runs/patients-1".as_ref())?;
//! for finding in &verdict.findings {
//!     println!("{:9} {}", finding.standing.word(), finding.text);
//! }
//! assert!(verdict.holds());
//! # Ok::<(), tacita_verify::VerifyError>(())
//! ```

mod bracket;
mod chain;
mod finding;
mod folder;
mod keys;
mod ledger;
mod plan;
mod second_bound;
mod statement;

pub use finding::{Finding, Standing, Verdict};
pub use folder::verify;
pub use keys::{PrivateKey, PublicKey};
pub use statement::{check, sign};

use std::path::PathBuf;
use thiserror::Error;

/// Why nothing can be said about a folder.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum VerifyError {
    /// A file cannot be read or written.
    #[error("cannot {action} {}: {source}", path.display())]
    Io {
        /// What was tried.
        action: &'static str,
        /// Where.
        path: PathBuf,
        /// Why not.
        source: std::io::Error,
    },
    /// A ledger that is not one, or that was edited.
    #[error("line {line} of the ledger is not valid: {reason}")]
    Ledger {
        /// Its number, from 1.
        line: usize,
        /// What is wrong.
        reason: &'static str,
    },
    /// A ledger without its first line.
    #[error("the ledger has no plan: it is empty or was cut short before its first line")]
    NoPlan,
    /// A file that is not the JSON it should be.
    #[error("{file} cannot be read as JSON: {source}")]
    Json {
        /// The file.
        file: &'static str,
        /// Why not.
        source: serde_json::Error,
    },
    /// A file of JSON that lacks something.
    #[error("{file} has no valid `{key}`")]
    Key {
        /// The file.
        file: &'static str,
        /// What it lacks.
        key: &'static str,
    },
    /// The accountant refuses the plan.
    #[error("the plan cannot be accounted: {0}")]
    Account(#[from] tacita_accounting::AccountError),
    /// The key is none.
    #[error("{} holds no Ed25519 {kind} key in PEM form; make one with `openssl genpkey -algorithm ed25519` or \
             `tacita-verify new-key`", path.display())]
    NotAKey {
        /// The file.
        path: PathBuf,
        /// `private` or `public`.
        kind: &'static str,
    },
    /// The operating system has no random numbers.
    #[error("no key was made: the operating system gives no random numbers")]
    NoRandomness,
    /// A statement that says something else than it should.
    #[error("the statement is not valid: {0}")]
    Statement(&'static str),
    /// A folder that is not in order is not signed.
    #[error("nothing was signed, because the folder is not in order:\n{0}")]
    NotSigned(String),
}

/// Reads a file.
pub(crate) fn read(path: &std::path::Path) -> Result<Vec<u8>, VerifyError> {
    std::fs::read(path).map_err(|source| VerifyError::Io {
        action: "read",
        path: path.into(),
        source,
    })
}
