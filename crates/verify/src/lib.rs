//! Checks what a run folder of Tacita claims, without Tacita's engine.
//!
//! A third party needs the folder, and, if it was signed, the statement and the public key of whoever signed it. This
//! crate has no tensors, no data and few dependencies; it is meant to be read before it is trusted, which takes about
//! an hour. Of Tacita it uses the proof part of the accountant and the statistics of audits, and nothing else: it reads
//! ledgers and run folders with code of its own.
//!
//! | module | what it does |
//! |---|---|
//! | `error` | why nothing can be said about a folder |
//! | `chain` | follows the hash chain of the ledger, line by line |
//! | `ledger` | the plan that the ledger commits to, what counts as released, and the files it binds |
//! | `bracket` | computes the proved ends of ε again from the plan |
//! | `second_bound` | an upper bound that shares no code with the accountant; no proved lower end may lie above it |
//! | `folder` | compares settings, facts and model with the ledger and with each other |
//! | `report` | what people read: whether it states what is proved |
//! | `audit` | opens the canaries that the ledger sealed, and counts what they prove |
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

mod audit;
mod bracket;
mod chain;
mod error;
mod finding;
mod folder;
mod keys;
mod ledger;
mod plan;
mod report;
mod second_bound;
mod statement;

pub use error::VerifyError;
pub use finding::{Finding, Standing, Verdict};
pub use folder::verify;
pub use keys::{PrivateKey, PublicKey};
pub use statement::{check, sign};
