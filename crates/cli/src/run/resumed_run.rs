//! A run that stopped or died, resumed where its folder left it.

use super::canaries::CanaryCoins;
use super::initial_weights::InitialWeights;
use super::open_run::OpenRun;
use super::outcome::{Outcome, Output};
use super::planned_run::{Committed, PlannedRun};
use super::public_facts::PublicFacts;
use super::reserve;
use super::run_folder::{Locations, RunFolder, RunRecord};
use super::workbench_of_run::workbench_of;
use anyhow::{Result, anyhow, bail, ensure};
use std::path::Path;
use tacita_datasets::{DataSet, InputPreparation, Opened};

/// Resumes the run of a folder; `given` says where its data lie now.
pub fn resume(path: &Path, given: Locations, output: Output) -> Result<Outcome> {
    let (folder, record) = RunFolder::open_to_write(path)?;
    folder.check_ledger()?;
    let outcome = resume_locked(&folder, record, given, output);
    // However it ended.
    let hidden = folder.hide_times();
    let outcome = outcome?;
    hidden?;
    Ok(outcome)
}

fn resume_locked(
    folder: &RunFolder,
    record: RunRecord,
    given: Locations,
    output: Output,
) -> Result<Outcome> {
    let ledger = tacita::read_ledger_file(&folder.ledger())?;
    let account = (given.account.clone()).or(Locations::read(folder.path())?.account);
    let mark = ledger.label.account.as_deref();
    reserve::check_resumed(folder.path(), &record, mark, account.as_deref())?;
    let mut settings = given.for_run(&record, folder.path())?;
    // A run that does not say has no such release in its plan: earlier versions knew none.
    settings.standardise.get_or_insert(0.0);
    let opened = settings.open(output.quiet)?;
    let facts = PublicFacts::of(&opened)?.with_canaries(settings.audit);
    let committed = Committed::to(&ledger.plan, record.scale);
    let run = PlannedRun::resumed(settings, facts, committed)?;
    let data = prepared_as_before(opened, &record)?;
    ensure!(
        facts.records == record.public_record_count,
        "{} is prepared differently now than when the run began; restore the data and the schema",
        data.about.origin
    );
    let data = match &ledger.label.canaries {
        Some(sealed) => CanaryCoins::of(folder, sealed)?.join(data, &run.settings)?,
        None => data,
    };
    // Before its first step there is nothing else to take the weights from.
    let stepped = folder.checkpoint().exists() || folder.has_stepped(&record);
    let weights = match stepped {
        true => None,
        false => InitialWeights::read(&run.settings)
            .map_err(|error| anyhow!("{error:#}; nothing more was spent"))?,
    };
    let device = run.settings.device.unwrap_or_default().open()?;
    let (bench, _) = workbench_of(&run, weights.as_ref(), &device)?;
    let open = OpenRun {
        run,
        record,
        data,
        folder,
    };
    open.train(bench, None, output)
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
