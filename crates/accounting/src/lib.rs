//! Certified differential-privacy accounting: what a ledger of noisy releases costs.
#![doc = "No tensors, no randomness; useful alone."]

mod accountant;
mod clt;
mod filter;
mod gaussian;
mod gdp;
mod ledger;
mod pld;
mod rdp;
mod search;
mod special;
mod tcdp;
mod tuning;
mod zcdp;

pub use accountant::{AccountError, Accountant, Reading, check_delta, check_epsilon};
pub use clt::{CltSchedule, FirstStep};
pub use filter::{FilterError, RdpFilter};
pub use gdp::{Gdp, GdpMu, delta_of_mu, epsilon_of_mu, mu_of_budget};
pub use ledger::{Ledger, LedgerError, Neighbours, Round, Sampling};
pub use pld::Pld;
pub use rdp::{Rdp, RdpCurve};
pub use tcdp::{Tcdp, TcdpParameters};
pub use tuning::{RandomRuns, whole_grid};
pub use zcdp::Zcdp;
