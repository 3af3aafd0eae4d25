//! The subcommands on papers: arguments, help and what is printed.

pub mod figures;
pub mod reproduce;
