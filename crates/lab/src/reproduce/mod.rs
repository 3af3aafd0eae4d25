//! The papers' tables on real data: configurations in `papers/`, results in JSON, one page of all.
//!
//! Experiments use fixed seeds, so none of these runs is private.

mod charts;
mod diagnostic;
mod experiment;
mod machine;
mod measure;
mod page;
mod results;
mod sweep;

#[cfg(test)]
mod tests;

pub use diagnostic::{Diagnostic, diagnostics};
pub use experiment::{Accountant, Column, Cut, Experiment, Method, find};
pub use machine::{commit, machine, today};
pub use measure::{Noise, measure};
pub use page::render;
pub use results::{Book, Key};
