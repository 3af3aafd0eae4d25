//! Certified differential-privacy accounting: what a ledger of noisy releases costs.
#![doc = "No tensors, no randomness; useful alone."]

mod accountant;
pub mod calibrate;
mod ledger;
mod pld;
mod special;

pub use accountant::{AccountError, Accountant, Reading, check_delta, check_epsilon};
pub use ledger::{Ledger, LedgerError, Neighbours, Round, Sampling};
pub use pld::Pld;
