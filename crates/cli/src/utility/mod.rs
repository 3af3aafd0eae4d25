//! How good a model is: figures of its answers, exact on public records, from noisy tables on private ones.
//!
//! ```text
//! answers on public records ─────────────────────────▶ Tally ──▶ figures
//! answers on private records ─▶ Layout ─▶ (mechanism) ─▶ Tally ──▶ figures with error bands
//! ```
//!
//! A [`Layout`](layout::Layout) says which tables are released and which of their cells one record enters; the
//! mechanism makes their noisy sums. Everything here is computed from exact public values or from released ones,
//! by the same code.

mod bands;
mod class_figures;
mod diverged;
mod facts;
pub mod layout;
mod log_odds;
mod ranking;
mod tally;
mod warnings;
pub mod words;

#[cfg(test)]
mod tests;

pub use diverged::{Divergence, divergence};
pub use facts::{Calibration, ClassUtility, Figure, PerClass, Utility};

use layout::Layout;
use tally::Tally;

/// Answers of a classifier on records, as log-odds of each class against the others, with the true classes.
#[derive(Debug, Clone, Copy)]
pub struct ClassAnswers<'a> {
    /// The public names of the classes.
    pub classes: &'a [String],
    /// The values that the model gives the classes of each record.
    pub outputs: &'a [Vec<f32>],
    /// The class of each record.
    pub labels: &'a [u16],
}

/// Exact figures, on records that are public.
pub fn exact(answers: ClassAnswers<'_>, on: String) -> Utility {
    let tally = Tally::exact(answers);
    let figures = class_figures::figures(&tally);
    Utility::Classes(facts::exact(&tally, &figures, answers.classes, on))
}

/// Figures from the released sums of a layout.
pub fn noisy(layout: &Layout, released: &[f64], classes: &[String], on: String) -> Utility {
    let tally = layout.tally(released);
    let banded = bands::banded(layout, released);
    Utility::Classes(facts::noisy(&tally, &banded, classes, on))
}
