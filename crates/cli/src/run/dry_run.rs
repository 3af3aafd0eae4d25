//! The road of a new run up to its plan, from public knowledge alone: nothing of the data is
//! opened, and nothing made or spent.

use super::estimate::Estimate;
use super::guard_rails;
use super::initial_weights::InitialWeights;
use super::other_way::OtherWay;
use super::planned_run::PlannedRun;
use super::public_facts::PublicFacts;
use super::reserve;
use super::run_folder::StartedFrom;
use super::settings::Settings;
use super::workbench_of_run::workbench_of;
use crate::memory;
use anyhow::Result;
use tacita::AccountStanding;

/// What a run would be.
#[derive(Debug)]
pub struct DryRun {
    /// The plan, certified.
    pub run: PlannedRun,
    /// The weights it would start from.
    pub start: Option<StartedFrom>,
    /// The account that has room for it, as it stands before.
    pub account: Option<AccountStanding>,
    /// What drawing records would take, if the run draws people.
    pub other_way: Option<OtherWay>,
    /// Time and memory, unless too little is declared to make the model.
    pub estimate: Option<Estimate>,
}

/// Plans a run and measures a few steps on synthetic records.
pub fn dry_run(settings: Settings) -> Result<DryRun> {
    let settings = settings.complete()?;
    guard_rails::check_files(&settings)?;
    reserve::check(&settings)?;
    let weights = InitialWeights::read(&settings)?;
    let declared = PublicFacts::declared(&settings)?;
    let facts = declared.facts.with_canaries(settings.audit);
    let run = PlannedRun::new(settings, facts)?;
    let account = run.room()?;
    let (mut start, mut estimate) = (None, None);
    if declared.input_is_known {
        guard_rails::check_memory(run.model, run.plan.expected_batch(), memory::available())?;
        let device = run.settings.device.unwrap_or_default().open()?;
        let (bench, from) = workbench_of(&run, weights.as_ref(), &device)?;
        start = from;
        estimate = Some(bench.estimate(&run)?);
    }
    Ok(DryRun {
        other_way: run.other_way(),
        run,
        start,
        account,
        estimate,
    })
}
