//! Why a round was not made.

use crate::mechanism::ledger_file::LedgerFileError;
use crate::mechanism::noise::NoiseError;
use crate::mechanism::ranks::RanksError;
use crate::mechanism::sampling::SamplingError;
use crate::sensitivity::clipping::GroupingError;
use crate::sensitivity::parameters::CoverageError;
use crate::sensitivity::pass::PassError;
use crate::sensitivity::records::UnreadableRecords;
use thiserror::Error;

/// Why a round was not made, and whether anything was released.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum SessionError {
    /// Every step of the plan has been made.
    #[error("all {steps} steps of the plan have been made; nothing more may be released")]
    Finished {
        /// Steps of the plan.
        steps: u64,
    },
    /// A release that the plan does not have, or not any more.
    #[error("the plan has no further {what} to release; add one to the plan before the run starts")]
    NotPlanned {
        /// What was asked for.
        what: &'static str,
    },
    /// A step before the statistics of the plan.
    #[error("the plan releases statistics before its first step; release them first")]
    StatisticsFirst,
    /// A score before the last step.
    #[error("the plan scores the model after its last step, and step {next} of {steps} comes next")]
    StepsFirst {
        /// Next step.
        next: u64,
        /// Steps of the plan.
        steps: u64,
    },
    /// A record with another number of values.
    #[error(
        "a record contributed {seen} values to a statistic of {expected}; nothing was released"
    )]
    StatisticLength {
        /// Values seen.
        seen: usize,
        /// Values expected.
        expected: usize,
    },
    /// The ledger could not be written; nothing was released.
    #[error(transparent)]
    Ledger(#[from] LedgerFileError),
    /// Noise could not be drawn; the round counts as spent, but nothing was released.
    #[error(transparent)]
    Noise(#[from] NoiseError),
    /// The model cannot be trained privately; nothing was released.
    #[error(transparent)]
    Pass(#[from] PassError),
    /// The clipping groups do not fit the model; nothing was released.
    #[error(transparent)]
    Grouping(#[from] GroupingError),
    /// The sampler cannot draw at the plan's rate; nothing was released.
    #[error(transparent)]
    Sampling(#[from] SamplingError),
    /// Records could not be read from a disk; nothing of the round was released, and it is not spent.
    #[error("{0}; nothing more was released")]
    Records(#[from] UnreadableRecords),
    /// A model other than the one the session was opened for.
    #[error("the model has other trainable parameters than the session was opened for")]
    OtherModel,
    /// Clipped sums of another round or session, whose sensitivity may be another.
    #[error(
        "the clipped sums were made by another round or session; release what this round's `clip` \
         returned; nothing was released"
    )]
    OtherRound,
    /// A model so large that rounding its contributions would cost too much.
    #[error(
        "rounding the contributions of single records of this model to the grid on which they are \
         summed would take {percent:.2} % of the clipping threshold, more than {most} %; clip per layer, \
         freeze parameters or take a smaller model; nothing was released"
    )]
    RoundingTooLarge {
        /// What it would take.
        percent: f64,
        /// What it may take.
        most: f64,
    },
    /// A ledger that has lost entries.
    #[error(
        "the ledger records {ledger} steps, but the checkpoint was made after {checkpoint}: entries \
         have been lost or removed, so what was spent is unknown; the run cannot be resumed. Restore the ledger \
         from a copy, or count the whole plan as spent"
    )]
    LedgerBehind {
        /// Steps in the ledger.
        ledger: u64,
        /// Steps at the checkpoint.
        checkpoint: u64,
    },
    /// The processes of the run could not work together.
    #[error(transparent)]
    Ranks(#[from] RanksError),
    /// Records that belong to units under a plan whose unit is one record.
    #[error(
        "the records say which unit (a person, say) they belong to, but the unit of the plan is one record; \
         give the plan the most records of a unit (`Plan::records_per_unit`); nothing was released"
    )]
    UnitsNotPlanned,
    /// Records that belong to no units under a plan whose units have several.
    #[error(
        "the plan's unit has several records, but the records do not say which unit they belong to \
         (`Records::units`); nothing was released"
    )]
    UnitsUnknown,
    /// Learned thresholds of another plan or model.
    #[error("the learned thresholds belong to another plan or model; nothing was released")]
    OtherThresholds,
}

impl From<CoverageError> for SessionError {
    fn from(error: CoverageError) -> Self {
        Self::Pass(error.into())
    }
}
