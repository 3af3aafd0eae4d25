//! A run in its folder, with its records, before its next step.

use super::planned_run::PlannedRun;
use super::run_folder::{RunFolder, RunRecord};
use std::sync::Arc;
use tacita::ranks::Ranks;
use tacita_datasets::DataSet;

/// All that is known of a run while it trains, and after.
pub struct OpenRun<'a> {
    /// The plan.
    pub run: PlannedRun,
    /// What the folder says of it.
    pub record: RunRecord,
    /// The records.
    pub data: DataSet,
    /// The folder; on the first rank only.
    pub folder: &'a RunFolder,
    /// The processes that train together, of which this is one.
    pub ranks: Arc<dyn Ranks>,
}
