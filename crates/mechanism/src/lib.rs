//! What draws, what adds noise and what keeps the books, without tensors: the parts of a private mechanism that
//! training on one machine (`tacita`) and in a federation (`tacita-federated`) share.
//!
//! | module | what it does |
//! |---|---|
//! | [`sampling`] | draws who takes part in a round |
//! | [`noise`] | draws the noise |
//! | [`ledger_file`] | the durable record, written before noise is drawn |
//! | [`keys`], [`fresh_key`], [`chacha`] | the randomness under all of these |
//! | [`parameter_keys`] | gives each parameter of a model a key for its initial weights |
//!
//! All of it must be right for the guarantee. It is a part, and no mechanism of its own: nothing here knows what a sum's
//! sensitivity is, or stops a program from releasing twice. Programs use `tacita` or `tacita-federated`, whose types
//! keep the order of a release.

pub mod chacha;
pub mod fresh_key;
pub mod keys;
pub mod ledger_file;
pub mod noise;
pub mod parameter_keys;
pub mod sampling;

pub use fresh_key::KeyError;
pub use keys::Keys;
pub use ledger_file::{LedgerLabel, SearchKind, SearchOfRun};

/// Keeps the example of the README running.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
