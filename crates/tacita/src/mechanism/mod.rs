//! What draws, what adds noise and what keeps the books. All of it must be right for the guarantee.
//!
//! | file | what it does |
//! |---|---|
//! | `plan/`, `schedule.rs` | decide and certify what will be released |
//! | `search/` | certifies a search over several plans, and draws its secret coins |
//! | `session/` | releases it, in the only order there is: draw, clip, ledger, noise |
//! | `sampling/` | draws the records of a round |
//! | `noise/` | draws the noise |
//! | `ledger_file/` | the durable record, written before noise is drawn |
//! | `account/` | the total of several runs on the same records, reserved before each of them begins |
//! | `masks.rs` | draws dropout masks: secret coins of each record |
//! | `initial_weights/` | draws initial weights |
//! | `keys.rs`, `fresh_key.rs`, `chacha.rs` | the randomness under all of these |
//!
//! Masks and initial weights are here because a proof rests on them. A mask that depended on who else is in
//! the batch would let one record move the contributions of others (`masks.rs` has the argument), and the
//! proof for a random search needs runs that are alike in distribution, initial weights included.

pub(crate) mod account;
pub(crate) mod chacha;
pub(crate) mod fresh_key;
pub(crate) mod initial_weights;
pub(crate) mod keys;
pub(crate) mod ledger_file;
pub(crate) mod masks;
pub mod noise;
pub(crate) mod plan;
pub(crate) mod sampling;
pub(crate) mod schedule;
pub(crate) mod search;
pub mod session;
