//! Why nothing can be said about a folder.

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

/// Reads a file of JSON in a folder.
pub(crate) fn json(
    folder: &std::path::Path,
    file: &'static str,
) -> Result<serde_json::Value, VerifyError> {
    serde_json::from_slice(&read(&folder.join(file))?)
        .map_err(|source| VerifyError::Json { file, source })
}

/// Reads a file.
pub(crate) fn read(path: &std::path::Path) -> Result<Vec<u8>, VerifyError> {
    std::fs::read(path).map_err(|source| VerifyError::Io {
        action: "read",
        path: path.into(),
        source,
    })
}
