//! The subcommands on papers and audits: arguments, help and what is printed.

pub mod audit;
pub mod figures;
pub mod reproduce;
