//! A new run, all the way: settings, source, public facts, planned run, run folder, outcome.

use super::initial_weights::InitialWeights;
use super::open_run::OpenRun;
use super::outcome::{Outcome, Output};
use super::planned_run::PlannedRun;
use super::public_facts::PublicFacts;
use super::run_folder::{Locations, PartOfSearch, RunFolder, RunRecord, StartedFrom};
use super::settings::Settings;
use super::workbench::begun_workbench;
use crate::run_files::RunFiles;
use anyhow::{Context, Result, anyhow};
use std::path::Path;
use tacita::{LedgerLabel, Opening};
use tacita_datasets::{DataSet, Opened};

/// Trains in a new folder, on its own or as a part of a search.
pub fn train(
    settings: Settings,
    out: Option<&Path>,
    search: Option<PartOfSearch>,
    output: Output,
) -> Result<Outcome> {
    let mut settings = settings.complete()?;
    let unspent = |error| anyhow!("{error:#}; nothing was spent");
    let weights = InitialWeights::read(&settings).map_err(unspent)?;
    if let Some(weights) = &weights {
        settings.start_sha256 = Some(weights.sha256().into());
    }
    let opened = settings.open(output.quiet)?;
    let run = PlannedRun::new(settings, PublicFacts::of(&opened)?)?;
    run.settings.to_toml().context(
        "the settings cannot be written down (is a path not in UTF-8?); nothing was spent",
    )?;
    // Before anything is spent on bounds, or a folder made.
    let device = run.settings.device.unwrap_or_default().open()?;
    let (bench, start) = begun_workbench(run.model, weights.as_ref(), &device).map_err(unspent)?;
    let folder = RunFolder::create(out, opened.name())?;
    folder.keep_unless_unspent(search.is_some(), || {
        let (open, opening) = begin(run, opened, start, search, &folder)?;
        open.train(bench, Some(opening), output)
    })
}

/// Writes the ledger's first lines and the record of the run; releases statistics if columns are to be bounded
/// or scaled by them.
fn begin(
    run: PlannedRun,
    opened: Opened,
    start: Option<StartedFrom>,
    search: Option<PartOfSearch>,
    folder: &RunFolder,
) -> Result<(OpenRun<'_>, Opening)> {
    // The ledger comes first: a folder with a record and without a ledger has lost it.
    let label = LedgerLabel {
        search: search.map(|search| search.in_ledger()),
        binds_files: true,
    };
    let (plan, keys) = (run.plan.clone(), run.keys()?);
    let mut opening = Opening::create_labelled(plan, keys, &folder.ledger(), label)?;
    let (data, histogram) = with_bounds(opened, &mut opening)?;
    let data = match run.settings.standardises() {
        Some(_) => standardised(data, &mut opening)?,
        None => data,
    };
    let record = RunRecord {
        tacita_run: RunRecord::FORMAT,
        version: env!("CARGO_PKG_VERSION").into(),
        name: data.name.clone(),
        settings: run.settings.without_paths(),
        model: run.model.name,
        shape: data.shape(),
        scale: run.plan.scale(),
        public_record_count: run.facts.records,
        preparation: data.preparation.clone(),
        about: data.about.clone(),
        histogram,
        start,
        search,
    };
    if search.is_none() {
        // A search keeps its own, for all its runs.
        Locations::of(&run.settings).write(folder.path())?;
    }
    let text = record.text()?;
    opening.bind_file(RunFiles::RECORD, text.as_bytes())?;
    folder.write_record(&record, &text)?;
    let open = OpenRun {
        run,
        record,
        data,
        folder,
    };
    Ok((open, opening))
}

/// A released histogram and the standard deviation of its noise.
type Histogram = (Vec<f32>, f64);

/// The data set; the bounds of its columns are released first if they are not declared.
fn with_bounds(opened: Opened, opening: &mut Opening) -> Result<(DataSet, Option<Histogram>)> {
    let table = match opened {
        Opened::Ready(data) => return Ok((*data, None)),
        Opened::NeedsBounds(table) => table,
    };
    let rows = (0..table.count()).map(|index| {
        let row = table.contributions(index);
        row.into_iter().map(f64::from).collect()
    });
    let released = opening.statistic(table.histogram_length(), rows)?;
    let histogram: Vec<f32> = released.values.iter().map(|v| *v as f32).collect();
    let data = table.estimated(&histogram, released.noise_std)?;
    Ok((data, Some((histogram, released.noise_std))))
}

/// The table with its columns centred and scaled by what is released of them first.
fn standardised(data: DataSet, opening: &mut Opening) -> Result<DataSet> {
    let released = opening.statistic(data.moments_length()?, data.moments()?)?;
    let standard = data.standard(&released.values, released.noise_std)?;
    data.standardised(standard)
}
