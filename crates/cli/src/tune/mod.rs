//! A private search for settings: the budget covers the whole search, its choice included.
//!
//! ```text
//! Space (TOML) ─▶ candidates ─▶ one certificate for all runs ─▶ runs ─▶ the best ─▶ one report
//! ```
//!
//! * `grid`: every candidate runs once, and all runs are composed exactly; everything may be shown.
//! * `random`: candidates are drawn, and so is their number, which stays secret together with every
//!   run but the best (Papernot and Steinke 2022). That costs little more than one run.

mod certificate;
mod grid;
mod page;
mod random;
mod search;
mod secret;
mod space;
mod worker;

#[cfg(test)]
mod tests;

pub use certificate::Certificate;
pub use search::{preview, search};
pub use secret::refuse as refuse_secret;
pub use space::{Candidate, Space};
