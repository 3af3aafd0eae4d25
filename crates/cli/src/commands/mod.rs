//! One file per subcommand, and what they share.

pub mod account;
pub mod bench;
pub mod calibrate;
mod choice;
pub mod figures;
mod plan;
pub mod report;
mod schedule;
mod statement;
pub mod train;
