//! Why training stopped early.

use crate::mechanism::fresh_key::KeyError;
use crate::mechanism::ranks::RanksError;
use crate::mechanism::session::SessionError;
use crate::sensitivity::pass::PassError;
use crate::training::checkpoint::CheckpointError;
use thiserror::Error;

/// Why training stopped early.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum TrainError {
    /// The mechanism refused.
    #[error(transparent)]
    Session(#[from] SessionError),
    /// No keys could be had; nothing was released.
    #[error(transparent)]
    Keys(#[from] KeyError),
    /// A learning rate that is no number.
    #[error(
        "learning rates must be finite numbers above 0 and momentum in [0, 1), got {value}; nothing \
         was released"
    )]
    LearningRate {
        /// The value seen.
        value: f64,
    },
    /// An average that keeps nothing or everything.
    #[error("the decay of an average must be in (0, 1), got {decay}; nothing was released")]
    Average {
        /// The value seen.
        decay: f64,
    },
    /// A probe that looks at nothing.
    #[error(
        "steps, records and thresholds of a probe must be finite numbers above 0, got {value}; \
         nothing was released"
    )]
    Probe {
        /// The value seen.
        value: f64,
    },
    /// Diagnostics of a run that was opened as a private one.
    #[error(
        "the run was opened as private and its ledger says so, so its raw gradients cannot be shown; \
         open it with `Keys::for_diagnostics`; no step was released"
    )]
    OpenedAsPrivate,
    /// The processes of the run could not work together.
    #[error(transparent)]
    Ranks(#[from] RanksError),
    /// The pass over the records of a probe failed.
    #[error(transparent)]
    Pass(#[from] PassError),
    /// The checkpoint could not be read or written.
    #[error(transparent)]
    Checkpoint(#[from] CheckpointError),
}
