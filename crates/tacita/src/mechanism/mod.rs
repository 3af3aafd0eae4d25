//! What draws, what adds noise and what keeps the books. All of it must be right for the guarantee.
//!
//! | file | what it does |
//! |---|---|
//! | `plan/`, `schedule.rs` | decide and certify what will be released |
//! | `search/` | certifies a search over several plans, and draws its secret coins |
//! | `session/` | releases it, in the only order there is: draw, clip, ledger, noise |
//! | `account/` | the total of several runs on the same records, reserved before each of them begins |
//! | `ranks/` | several processes that train together: agreements, sums of whole numbers, what the first one says |
//! | `masks.rs` | draws dropout masks: secret coins of each record |
//! | `initial_weights/` | draws initial weights |
//!
//! Keys, the draw of a round, the noise and the ledger file are those of the crate `tacita-mechanism`, which a
//! federation uses as well.
//!
//! Masks and initial weights are here because a proof rests on them. A mask that depended on who else is in
//! the batch would let one record move the contributions of others (`masks.rs` has the argument), and the
//! proof for a random search needs runs that are alike in distribution, initial weights included.

pub(crate) mod account;
pub(crate) mod initial_weights;
pub(crate) mod masks;
pub(crate) mod plan;
pub mod ranks;
pub(crate) mod schedule;
pub(crate) mod search;
pub mod session;

pub use tacita_mechanism::noise;
pub(crate) use tacita_mechanism::{chacha, fresh_key, keys, ledger_file, sampling};
