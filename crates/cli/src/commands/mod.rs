//! One file per subcommand, and what they share.

pub mod account;
pub mod calibrate;
pub mod check;
mod choice;
mod dry_run;
mod plan;
pub mod predict;
pub mod report;
pub mod resume;
mod schedule;
pub mod schema;
mod statement;
mod summary;
pub mod train;
pub mod tune;
