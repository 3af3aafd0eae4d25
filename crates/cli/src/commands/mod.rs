//! One file per subcommand, and what they share.

pub mod account;
mod accountants;
pub mod attack;
pub mod audit;
pub mod budget;
pub mod calibrate;
pub mod certify;
pub mod check;
pub mod completions;
mod dry_run;
pub mod export;
pub mod generate;
pub mod man;
pub mod predict;
pub mod report;
pub mod resume;
mod run_size;
mod schedule;
pub mod schema;
mod statement;
mod summary;
pub mod train;
pub mod tune;
