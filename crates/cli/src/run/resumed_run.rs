//! A run that stopped or died, resumed where its folder left it.

use super::canaries::CanaryCoins;
use super::initial_weights::InitialWeights;
use super::new_run::same_records;
use super::open_run::OpenRun;
use super::outcome::{Outcome, Output};
use super::planned_run::{Committed, PlannedRun};
use super::public_facts::PublicFacts;
use super::reserve;
use super::run_folder::{Locations, RunFolder, RunRecord};
use super::settings::Settings;
use super::workbench::Workbench;
use super::workbench_of_run::workbench_of;
use crate::ranks::{alone, on_first};
use anyhow::{Context, Result, anyhow, bail, ensure};
use serde::{Deserialize, Serialize};
use std::path::Path;
use std::sync::Arc;
use tacita::ranks::Ranks;
use tacita_datasets::{DataSet, InputPreparation, Opened};

/// What may be said of a run that is resumed.
#[derive(Debug, Clone, Default)]
pub struct Resumption {
    /// Where its data lie now.
    pub given: Locations,
    /// Whether the process that had it is known to be dead, though that cannot be seen.
    pub take_over: bool,
}

/// Resumes the run of a folder; `given` says where its data lie now.
pub fn resume(path: &Path, given: Locations, output: Output) -> Result<Outcome> {
    let resumption = Resumption {
        given,
        take_over: false,
    };
    let outcome = resume_over(&alone(), path, resumption, output)?;
    outcome.context("one process is the first rank")
}

/// The same on several processes, of which this is one, whatever their number was before. The first alone needs the folder,
/// and has the outcome.
pub fn resume_over(
    ranks: &Arc<dyn Ranks>,
    path: &Path,
    resumption: Resumption,
    output: Output,
) -> Result<Option<Outcome>> {
    let opened = on_first(&**ranks, || {
        let (folder, record) = RunFolder::open_to_write(path)?;
        folder.check_ledger()?;
        if resumption.take_over {
            tacita::take_over_ledger(&folder.ledger())?;
        }
        Ok((folder, record))
    })?;
    let Some((folder, record)) = opened else {
        let nowhere = RunFolder::of_other_rank();
        return resume_as(
            ranks,
            &nowhere,
            || bail!("not the first rank"),
            Output::NONE,
        );
    };
    let left = || Left::by(&folder, record, resumption.given);
    let outcome = resume_as(ranks, &folder, left, output);
    // However it ended.
    let hidden = folder.hide_times();
    let outcome = outcome?;
    hidden?;
    Ok(outcome)
}

/// What the folder of a run says, as every rank must know it.
#[derive(Serialize, Deserialize)]
struct Left {
    record: RunRecord,
    /// With the paths of the data.
    settings: Settings,
    committed: Committed,
    coins: Option<CanaryCoins>,
    stepped: bool,
}

impl Left {
    fn by(folder: &RunFolder, record: RunRecord, given: Locations) -> Result<Self> {
        let ledger = tacita::read_ledger_file(&folder.ledger())?;
        let account = (given.account.clone()).or(Locations::read(folder.path())?.account);
        let mark = ledger.label.account.as_deref();
        reserve::check_resumed(folder.path(), &record, mark, account.as_deref())?;
        let mut settings = given.for_run(&record, folder.path())?;
        // A run that does not say has no such release in its plan: earlier versions knew none.
        settings.standardise.get_or_insert(0.0);
        Ok(Self {
            committed: Committed::to(&ledger.plan, record.scale),
            coins: (ledger.label.canaries.as_ref())
                .map(|sealed| CanaryCoins::of(folder, sealed))
                .transpose()?,
            // Before its first step there is nothing else to take the weights from.
            stepped: folder.checkpoint().exists() || folder.has_stepped(&record),
            settings,
            record,
        })
    }
}

/// Resumes as one of the ranks; `left` says to the first what the folder holds.
fn resume_as(
    ranks: &Arc<dyn Ranks>,
    folder: &RunFolder,
    left: impl FnOnce() -> Result<Left>,
    output: Output,
) -> Result<Option<Outcome>> {
    let left = ranks.bytes_of_first(|| Ok::<_, anyhow::Error>(serde_json::to_vec(&left()?)?))?;
    let prepared = serde_json::from_slice(&left).map_err(anyhow::Error::from);
    let opened = prepared.and_then(|left: Left| {
        let opened = left.settings.open(output.quiet)?;
        Ok((left, opened))
    });
    let (left, opened) = ranks.agreed(opened)?;
    same_records(&**ranks, &opened)?;
    let (run, record, data, bench) = ranks.agreed(prepare(left, opened))?;
    let open = OpenRun {
        run,
        record,
        data,
        folder,
        ranks: ranks.clone(),
    };
    open.train(bench, None, output)
}

/// What every rank does by itself.
fn prepare(
    left: Left,
    opened: Opened,
) -> Result<(PlannedRun, RunRecord, DataSet, Box<dyn Workbench>)> {
    let Left {
        record,
        settings,
        committed,
        coins,
        stepped,
    } = left;
    let facts = PublicFacts::of(&opened)?.with_canaries(settings.audit);
    let run = PlannedRun::resumed(settings, facts, committed)?;
    let data = prepared_as_before(opened, &record)?;
    ensure!(
        facts.records == record.public_record_count,
        "{} is prepared differently now than when the run began; restore the data and the schema",
        data.about.origin
    );
    let data = match coins {
        Some(coins) => coins.join(data, &run.settings)?,
        None => data,
    };
    let weights = match stepped {
        true => None,
        false => InitialWeights::read(&run.settings)
            .map_err(|error| anyhow!("{error:#}; nothing more was spent"))?,
    };
    let device = run.settings.device.unwrap_or_default().open()?;
    let (bench, _) = workbench_of(&run, weights.as_ref(), &device)?;
    Ok((run, record, data, bench))
}

/// The records of a run, prepared as they were when it began.
pub fn prepared_as_before(opened: Opened, record: &RunRecord) -> Result<DataSet> {
    let data = with_known_bounds(opened, record)?;
    let data = match &record.preparation.input {
        InputPreparation::Table(table) => match &table.standard {
            Some(standard) => data.standardised(standard.clone())?,
            None => data,
        },
        _ => data,
    };
    ensure!(
        data.preparation == record.preparation,
        "{} is prepared differently now than when the run began; restore the data and the schema",
        data.about.origin
    );
    Ok(data)
}

/// The data set, with the bounds of columns that the run released when it began.
fn with_known_bounds(opened: Opened, record: &RunRecord) -> Result<DataSet> {
    match (opened, &record.histogram) {
        (Opened::Ready(data), None) => Ok(*data),
        (Opened::NeedsBounds(table), Some((histogram, noise_std))) => {
            table.estimated(histogram, *noise_std)
        }
        _ => bail!("the data are no longer what they were when the run began"),
    }
}
