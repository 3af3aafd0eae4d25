//! One file per subcommand, and what they share.

pub mod account;
pub mod budget;
pub mod calibrate;
pub mod check;
mod choice;
pub mod completions;
mod dry_run;
pub mod export;
pub mod man;
mod plan;
pub mod predict;
pub mod report;
pub mod resume;
mod schedule;
mod statement;
mod summary;
pub mod train;
pub mod tune;
