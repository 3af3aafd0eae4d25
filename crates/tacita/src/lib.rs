//! Tacita.

mod chacha;
mod keys;
#[allow(dead_code)] // until the session writes it
mod ledger_file;
pub mod noise;
#[allow(dead_code)] // until the session draws
mod sampling;

pub use keys::{KeyError, Keys};
pub use ledger_file::{LedgerFileError, LedgerRecord, read_ledger_file};
pub use sampling::{Sample, SamplingError};
