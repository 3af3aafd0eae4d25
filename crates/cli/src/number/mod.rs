//! Numbers as people read them: those of the accounting crate.

pub use tacita_accounting::decimal::*;
