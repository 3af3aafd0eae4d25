//! What a run gave.

use super::run_folder::StartedFrom;
use crate::report::facts::Evaluation;
use crate::utility::Utility;
use std::path::PathBuf;
use tacita::Report;

/// How much is shown while a run trains.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Output {
    /// No progress bar and no words but the summary.
    pub quiet: bool,
    /// How long it takes, which is not private: steps take longer the more records are drawn.
    pub timing: bool,
}

impl Output {
    /// Nothing.
    pub const NONE: Self = Self {
        quiet: true,
        timing: false,
    };
}

/// What a run gave.
#[derive(Debug)]
pub struct Outcome {
    /// The folder.
    pub folder: PathBuf,
    /// The score, as far as it may be said, and what it means.
    pub evaluation: Option<Evaluation>,
    /// Every figure of how good the model is.
    pub utility: Option<Utility>,
    /// The mean squared error of an autoencoder on public records.
    pub squared_error: Option<f64>,
    /// Mean scores on public test records on the way, by steps made.
    pub over_steps: Vec<(u64, f64)>,
    /// The privacy statement.
    pub report: Report,
    /// The weights it started from.
    pub start: Option<StartedFrom>,
    /// Steps made.
    pub steps: u64,
    /// Roughly the ε of the steps made, if the run was stopped.
    pub spent: Option<f64>,
    /// Time of training. Neither kept nor shown unless asked for: it depends on the batches drawn.
    pub seconds: f64,
}
