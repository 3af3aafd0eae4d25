//! One file per subcommand, and what they share.

pub mod account;
pub mod bench;
pub mod calibrate;
pub mod check;
mod choice;
pub mod figures;
mod plan;
pub mod predict;
pub mod report;
pub mod reproduce;
pub mod resume;
mod schedule;
mod statement;
pub mod train;
pub mod tune;
