//! One file per subcommand, and what they share.

pub mod account;
pub mod calibrate;
mod choice;
mod plan;
mod schedule;
mod statement;
