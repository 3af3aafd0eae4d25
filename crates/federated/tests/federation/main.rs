//! Whole federations in one process.
#![allow(clippy::unwrap_used, missing_docs)]

mod committee;
mod common;
mod faults;
mod neighbours;
mod resume;
mod training;
