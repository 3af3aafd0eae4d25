//! How good a model is: figures of its answers, exact on public records, from noisy tables on private ones.
//!
//! ```text
//! answers on public records ─────────────────────────▶ Tally ──▶ figures
//! answers on private records ─▶ Layout ─▶ (mechanism) ─▶ Tally ──▶ figures with error bands
//! ```
//!
//! A [`Layout`] says which sums are released and what one record adds to them; the mechanism makes them noisy. Everything here is computed from exact public values or from released ones,
//! by the same code.

mod bands;
mod class_figures;
mod diverged;
mod facts;
mod labels;
mod layout;
mod log_odds;
mod number;
mod ranking;
mod release;
mod tally;
mod warnings;
pub mod words;

#[cfg(test)]
mod tests;

pub use diverged::{Diverged, Divergence, divergence};
pub use facts::{Calibration, ClassUtility, Figure, PerClass, Utility};
pub use labels::LabelsUtility;
pub use number::{NumberUtility, predicted};
pub use release::Layout;

use layout::ClassLayout;
use tacita_datasets::{Target, Targets};
use tally::Tally;

/// Answers of a classifier on records, with the true classes.
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
pub fn exact(outputs: &[Vec<f32>], targets: &Targets, target: &Target, on: String) -> Utility {
    match target {
        Target::Classes(classes) => Utility::Classes(exact_classes(
            ClassAnswers {
                classes,
                outputs,
                labels: targets.classes(),
            },
            on,
        )),
        Target::Number(number) => {
            Utility::Number(number::exact(outputs, targets.numbers(), number, on))
        }
        Target::Labels { names, .. } => {
            Utility::Labels(labels::exact(outputs, targets.labels(), names, on))
        }
    }
}

/// Exact figures of a classifier.
pub fn exact_classes(answers: ClassAnswers<'_>, on: String) -> ClassUtility {
    let tally = Tally::exact(answers);
    let figures = class_figures::figures(&tally);
    facts::exact(&tally, &figures, answers.classes, on)
}

/// Figures of a classifier from released sums.
fn noisy_classes(
    layout: &ClassLayout,
    released: &[f64],
    classes: &[String],
    on: String,
) -> ClassUtility {
    let tally = layout.tally(released);
    let banded = bands::banded(layout, released);
    facts::noisy(&tally, &banded, classes, on)
}
