//! A new run, all the way: settings, source, public facts, planned run, run folder, outcome.

use super::canaries::CanaryCoins;
use super::guard_rails;
use super::initial_weights::InitialWeights;
use super::open_run::OpenRun;
use super::outcome::{Outcome, Output};
use super::planned_run::PlannedRun;
use super::public_facts::PublicFacts;
use super::reserve;
use super::run_folder::{Locations, PartOfSearch, RunFolder, RunRecord, StartedFrom};
use super::settings::Settings;
use super::workbench::Workbench;
use super::workbench_of_run::workbench_of;
use crate::date::today;
use crate::memory;
use crate::ranks::{alone, on_first};
use crate::run_files::RunFiles;
use crate::version::commit;
use anyhow::{Context, Result, anyhow, ensure};
use std::cell::Cell;
use std::path::Path;
use std::sync::Arc;
use tacita::ranks::Ranks;
use tacita::{LedgerLabel, Opening};
use tacita_datasets::{DataSet, Opened};

/// Trains in a new folder, on its own or as a part of a search.
pub fn train(
    settings: Settings,
    out: Option<&Path>,
    search: Option<PartOfSearch>,
    output: Output,
) -> Result<Outcome> {
    let outcome = train_over(&alone(), settings, out, search, output)?;
    outcome.context("one process is the first rank")
}

/// The same on several processes, of which this is one. The first alone makes the folder, and has the outcome.
pub fn train_over(
    ranks: &Arc<dyn Ranks>,
    settings: Settings,
    out: Option<&Path>,
    search: Option<PartOfSearch>,
    output: Output,
) -> Result<Option<Outcome>> {
    let output = match ranks.is_first() {
        true => output,
        false => Output::NONE,
    };
    let ready = Ready::new(settings, search.is_some(), output.quiet);
    let ready = ready.map_err(|error| match search {
        // Other runs of the search may have spent something.
        Some(_) => error,
        None => unspent(error),
    });
    let Ready {
        run,
        opened,
        bench,
        start,
        id,
    } = ranks.agreed(ready)?;
    let same = run.settings.without_paths().to_toml()?;
    ranks.same("settings", same.as_bytes())?;
    same_records(&**ranks, &opened)?;
    let folder = on_first(&**ranks, || RunFolder::create(out, opened.name()))?;
    let Some(folder) = folder else {
        let nowhere = RunFolder::of_other_rank();
        let (open, opening) = begin(ranks, run, opened, start, search, &id, &nowhere)?;
        return open.train(bench, Some(opening), output);
    };
    let settings = run.settings.clone();
    // A folder that somebody took away tells nothing about what was released.
    let still_there = Cell::new(false);
    let made = folder.keep_unless_unspent(search.is_some(), || {
        let made = begin(ranks, run, opened, start, search, &id, &folder)
            .and_then(|(open, opening)| open.train(bench, Some(opening), output));
        still_there.set(folder.path().exists());
        made
    });
    if made.is_err() && still_there.get() && !folder.path().exists() && search.is_none() {
        // It ended before it released anything. A reservation that cannot be given back stays spent.
        let _ = reserve::give_back(&settings, &id);
    }
    made
}

/// All that a run needs before its folder is made. Nothing is spent so far.
struct Ready {
    run: PlannedRun,
    opened: Opened,
    bench: Box<dyn Workbench>,
    start: Option<StartedFrom>,
    id: String,
}

impl Ready {
    fn new(settings: Settings, is_part_of_search: bool, quiet: bool) -> Result<Self> {
        let mut settings = settings.complete()?;
        reserve::check(&settings)?;
        ensure!(
            settings.audit.is_none() || !is_part_of_search,
            "--audit puts canaries into a run on its own, and this one is a part of a search; leave it out of the \
             space. Nothing was spent"
        );
        let weights = InitialWeights::read(&settings).map_err(unspent)?;
        if let Some(weights) = &weights {
            settings.start_sha256 = Some(weights.sha256().into());
        }
        guard_rails::check_files(&settings)?;
        let free = memory::available();
        let opened = settings.open(quiet)?;
        let facts = PublicFacts::of(&opened)?.with_canaries(settings.audit);
        let mut run = PlannedRun::new(settings, facts)?;
        run.settings.to_toml().context(
            "the settings cannot be written down (is a path not in UTF-8?); nothing was spent",
        )?;
        // Before anything is spent on bounds, or a folder made.
        guard_rails::check_memory(run.model, run.plan.expected_batch(), free)?;
        let device = run.settings.device.unwrap_or_default().open()?;
        let (bench, start) = workbench_of(&run, weights.as_ref(), &device).map_err(unspent)?;
        if let (Some(start), true) = (&start, run.settings.pretrained.is_some()) {
            run.settings.pretrained_sha256 = Some(start.sha256.clone());
        }
        let id = identifier(run.settings.seed)?;
        Ok(Self {
            run,
            opened,
            bench,
            start,
            id,
        })
    }
}

/// The error, which says that nothing was spent.
fn unspent(error: anyhow::Error) -> anyhow::Error {
    let text = format!("{error:#}");
    match text.to_lowercase().contains("nothing was spent") {
        true => error,
        false => anyhow!("{text}; nothing was spent"),
    }
}

/// An identifier that no other run has, unless it repeats one.
fn identifier(seed: Option<u64>) -> Result<String> {
    match seed {
        Some(seed) => Ok(format!("seed-{seed}")),
        None => Ok(tacita::identifier()?),
    }
}

/// Writes the ledger's first lines and the record of the run; releases statistics if columns are to be bounded
/// or scaled by them.
fn begin<'a>(
    ranks: &Arc<dyn Ranks>,
    run: PlannedRun,
    opened: Opened,
    start: Option<StartedFrom>,
    search: Option<PartOfSearch>,
    id: &str,
    folder: &'a RunFolder,
) -> Result<(OpenRun<'a>, Opening)> {
    // Before anything of the run exists. A search reserves all its runs at once.
    let reserved = on_first(&**ranks, || match search {
        None => run.reserve(id, opened.name(), folder.path()),
        Some(_) => Ok(None),
    })?;
    let reserved = reserved.flatten();
    let (mark, account) = reserved.map_or((None, None), |made| (Some(made.mark), Some(made.facts)));
    // The coins are tossed, kept and sealed before anything is released.
    let coins = match run.settings.audit {
        Some(count) => Some(CanaryCoins::of_first(&**ranks, || {
            let coins = CanaryCoins::toss(count, run.settings.seed)?;
            coins.write(folder)?;
            Ok(coins)
        })?),
        None => None,
    };
    // The ledger comes first: a folder with a record and without a ledger has lost it.
    let label = LedgerLabel {
        search: search.map(|search| search.in_ledger()),
        binds_files: true,
        account: mark.map(Box::new),
        canaries: coins.as_ref().map(CanaryCoins::seal),
    };
    let (plan, keys) = (run.plan.clone(), run.keys()?);
    let opening = Opening::in_memory(plan, keys).over(ranks.clone())?;
    let mut opening = opening.into_new_file(&folder.ledger(), label)?;
    let (data, histogram) = with_bounds(opened, &mut opening)?;
    let data = match run.settings.standardises() {
        Some(_) => standardised(data, &mut opening)?,
        None => data,
    };
    let data = match &coins {
        Some(coins) => coins.join(data, &run.settings)?,
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
        id: Some(id.into()),
        // The days of several runs of a search would tell how long each took, and of a random search which one it was.
        begun: search.is_none().then(today),
        commit: commit().map(String::from),
        account,
        start,
        search,
    };
    on_first(&**ranks, || {
        if search.is_none() {
            // A search keeps its own, for all its runs.
            Locations::of(&run.settings).write(folder.path())?;
        }
        let (text, settings) = (record.text()?, record.settings_text()?);
        opening.bind_file(RunFiles::RECORD, text.as_bytes())?;
        opening.bind_file(RunFiles::SETTINGS, settings.as_bytes())?;
        folder.write_record(&text, &settings)
    })?;
    let open = OpenRun {
        run,
        record,
        data,
        folder,
        ranks: ranks.clone(),
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
    let own = opening.ranks().share_of(table.contributions_of_units());
    let released = opening.statistic_of_read(table.histogram_length(), own)?;
    let histogram: Vec<f32> = released.values.iter().map(|v| *v as f32).collect();
    let data = table.estimated(&histogram, released.noise_std)?;
    Ok((data, Some((histogram, released.noise_std))))
}

/// The table with its columns centred and scaled by what is released of them first.
fn standardised(data: DataSet, opening: &mut Opening) -> Result<DataSet> {
    let own = opening.ranks().share_of(data.moments()?);
    let released = opening.statistic_of_read(data.moments_length()?, own)?;
    let standard = data.standard(&released.values, released.noise_std)?;
    data.standardised(standard)
}

/// Refuses ranks that read different records, or the same in another order: one would be counted twice, another not at
/// all. What they compare never leaves them.
pub(super) fn same_records(ranks: &dyn Ranks, opened: &Opened) -> Result<()> {
    if !ranks.is_alone() {
        ranks.same("data", &opened.digest())?;
    }
    Ok(())
}
