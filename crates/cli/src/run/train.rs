//! Starts a run, or resumes one.

use super::device::{device, host};
use super::evaluate::{evaluate, mean};
use super::finish::Finish;
use super::folder::RUN_RECORD;
use super::metrics::{Metric, Metrics};
use super::progress::ProgressLine;
use super::resolved::{PublicFacts, model};
use super::spending::Spending;
use super::{
    FromSet, Locations, PartOfSearch, PublicStart, Resolved, RunFolder, RunRecord, Settings,
    StartedFrom, Visitor, choose_model,
};
use crate::datasets::{self, DataSet, Opened, TestSet};
use crate::models::Scored;
use crate::report::facts::Evaluation;
use anyhow::{Context, Result, anyhow, bail, ensure};
use burn::tensor::Device;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;
use tacita::{Checkpoint, Keys, LedgerLabel, Opening, Report, SessionOptions, Trainer};

/// How much is said while a run goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Output {
    /// No progress bar and no words but the summary.
    pub quiet: bool,
    /// How long it takes, which is not private: steps take longer the more records are drawn.
    pub timing: bool,
}

impl Output {
    /// Says nothing.
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

/// What is public of the data that settings name.
pub fn look(settings: &Settings, output: Output) -> Result<PublicFacts> {
    let opened = datasets::open(&settings.source()?, &settings.options(output.quiet)?)?;
    public_facts(&opened, settings)
}

/// Whether Ctrl-C has asked runs to end.
pub fn stop_requested() -> bool {
    STOP.load(Ordering::SeqCst)
}

/// Starts a run in a new folder, on its own or as a part of a search.
pub fn start(
    settings: Settings,
    out: Option<&Path>,
    search: Option<PartOfSearch>,
    output: Output,
) -> Result<Outcome> {
    let mut settings = settings.with_preset()?.complete()?;
    let unspent = |error| anyhow!("{error:#}; nothing was spent");
    let weights = PublicStart::read(&settings).map_err(unspent)?;
    if let Some(weights) = &weights {
        settings.start_sha256 = Some(weights.sha256().into());
    }
    let options = settings.options(output.quiet)?;
    let opened = datasets::open(&settings.source()?, &options)?;
    let public = public_facts(&opened, &settings)?;
    let run = Resolved::new(settings, public, None)?;
    run.settings.to_toml().context(
        "the settings cannot be written down (is a path not in UTF-8?); nothing was spent",
    )?;
    let mut start = None;
    if matches!(opened, Opened::NeedsBounds(_)) || weights.is_some() {
        // Before anything is spent on bounds, or a folder made.
        let from = check_model(&run.settings, public, weights.as_ref()).map_err(unspent)?;
        start = weights.zip(from);
    }
    let name = match &opened {
        Opened::Ready(data) => data.name.clone(),
        Opened::NeedsBounds(table) => table.name().to_string(),
    };
    let folder = RunFolder::create(out, &name)?;
    let result = begin(run, opened, public, start, search, &folder, output);
    if result.is_err() && folder.nothing_was_released() {
        folder.remove();
        return result;
    }
    let resumable = folder.has_record();
    // However the run ended, what is kept tells nothing about the time it took.
    let hidden = folder.hide_times();
    let outcome = result.with_context(|| {
        let go_on = match search {
            Some(_) => "Mend this and give the same `tacita tune` command again".to_string(),
            None if resumable => {
                let path = folder.path().display();
                format!("Mend this and resume it by: tacita resume {path}")
            }
            None => "It cannot be resumed: start a new run, with a budget of its own".to_string(),
        };
        format!("the run stopped early; what its ledger holds stays spent. {go_on}")
    })?;
    hidden?;
    Ok(outcome)
}

/// Refuses a model that cannot be made for such records, or cannot start from weights; says how it would start.
pub fn check_model(
    settings: &Settings,
    facts: PublicFacts,
    weights: Option<&PublicStart>,
) -> Result<Option<StartedFrom>> {
    choose_model::with_model(
        model(settings, facts),
        facts.shape,
        facts.classes,
        settings.hidden,
        settings.seed,
        &host(),
        Check(weights),
    )
}

/// A model that can be made, and start, is all that is asked.
struct Check<'a>(Option<&'a PublicStart>);

impl Visitor for Check<'_> {
    type Output = Option<StartedFrom>;

    fn visit<R: FromSet, M: Scored<R::Batch>>(self, model: M) -> Result<Self::Output> {
        let started = self.0.map(|weights| weights.begin(model)).transpose()?;
        Ok(started.map(|(_, from)| from))
    }
}

fn begin(
    run: Resolved,
    opened: Opened,
    public: PublicFacts,
    start: Option<(PublicStart, StartedFrom)>,
    search: Option<PartOfSearch>,
    folder: &RunFolder,
    output: Output,
) -> Result<Outcome> {
    // The ledger comes first: a folder with a record and without a ledger has lost it.
    let label = LedgerLabel {
        search: search.map(|search| search.in_ledger()),
        binds_files: true,
    };
    let (plan, keys) = (run.plan.clone(), keys(&run.settings)?);
    let mut opening = Opening::create_labelled(plan, keys, &folder.ledger(), label)?;
    let (data, histogram) = match opened {
        Opened::Ready(data) => (*data, None),
        Opened::NeedsBounds(table) => {
            let rows = (0..table.count()).map(|index| {
                let row = table.contributions(index);
                row.into_iter().map(f64::from).collect()
            });
            let released = opening.statistic(table.histogram_length(), rows)?;
            let histogram: Vec<f32> = released.values.iter().map(|v| *v as f32).collect();
            let data = table.estimated(&histogram, released.noise_std)?;
            (data, Some((histogram, released.noise_std)))
        }
    };
    let (weights, start) = start.unzip();
    let record = RunRecord {
        tacita_run: RunRecord::FORMAT,
        version: env!("CARGO_PKG_VERSION").into(),
        name: data.name.clone(),
        settings: run.settings.without_paths(),
        model: run.model,
        shape: data.shape(),
        scale: run.plan.scale(),
        public_record_count: public.records,
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
    opening.bind_file(RUN_RECORD, text.as_bytes())?;
    folder.write_record(&record, &text)?;
    let begin = Begin::New(Box::new(opening));
    go(run, record, data, begin, weights, folder, output)
}

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
    let path = folder.path();
    let settings = given.for_run(&record, path)?;
    let options = settings.options(output.quiet)?;
    let opened = datasets::open(&settings.source()?, &options)?;
    let public = public_facts(&opened, &settings)?;
    let run = Resolved::new(settings, public, Some(record.scale))?;
    let data = match (opened, &record.histogram) {
        (Opened::Ready(data), None) => *data,
        (Opened::NeedsBounds(table), Some((histogram, noise_std))) => {
            table.estimated(histogram, *noise_std)?
        }
        _ => bail!("the data are no longer what they were when the run began"),
    };
    ensure!(
        data.preparation == record.preparation && public.records == record.public_record_count,
        "{} is prepared differently now than when the run began; restore the data and the schema",
        data.about.origin
    );
    // Before its first step there is nothing else to take the weights from.
    let stepped = folder.checkpoint().exists() || folder.has_stepped(&record);
    let weights = match stepped {
        true => None,
        false => PublicStart::read(&run.settings)
            .map_err(|error| anyhow!("{error:#}; nothing more was spent"))?,
    };
    go(run, record, data, Begin::Again, weights, folder, output)
}

pub(super) fn public_facts(opened: &Opened, settings: &Settings) -> Result<PublicFacts> {
    let (records, shape, test) = match opened {
        Opened::Ready(data) => (data.public_count, data.shape(), data.test.as_ref()),
        Opened::NeedsBounds(table) => (table.public_count(), table.shape(), None),
    };
    let (private_test, public_test) = match opened {
        Opened::Ready(_) => (
            test.is_some_and(|test| !test.declared_public),
            test.is_some_and(|test| test.declared_public),
        ),
        Opened::NeedsBounds(table) => (table.has_test(false), table.has_test(true)),
    };
    let classes = match opened {
        Opened::Ready(data) => data.classes().len(),
        Opened::NeedsBounds(table) => table.classes().len(),
    };
    let records = records.or(settings.records).context(
        "say how many records there are with --records N (rounded is fine): the sampling rate comes from \
         it, and it is taken as public",
    )?;
    Ok(PublicFacts {
        records,
        shape,
        classes,
        estimates_bounds: matches!(opened, Opened::NeedsBounds(_)),
        private_test,
        public_test,
    })
}

fn keys(settings: &Settings) -> Result<Keys> {
    Ok(match settings.seed {
        Some(seed) => Keys::fixed_seed(seed),
        None => Keys::from_os()?,
    })
}

enum Begin {
    New(Box<Opening>),
    Again,
}

fn go(
    run: Resolved,
    record: RunRecord,
    data: DataSet,
    begin: Begin,
    weights: Option<PublicStart>,
    folder: &RunFolder,
    output: Output,
) -> Result<Outcome> {
    let device = device(run.settings.device.as_deref().unwrap_or("cpu"))?;
    let classes = data.classes().len();
    let (name, shape) = (run.model, data.shape());
    let (hidden, seed) = (run.settings.hidden, run.settings.seed);
    let training = Training {
        run,
        record,
        data,
        begin,
        weights,
        folder,
        output,
        device: device.clone(),
    };
    choose_model::with_model(name, shape, classes, hidden, seed, &device, training)
}

/// Everything a run needs but the model.
struct Training<'a> {
    run: Resolved,
    record: RunRecord,
    data: DataSet,
    begin: Begin,
    weights: Option<PublicStart>,
    folder: &'a RunFolder,
    output: Output,
    device: Device,
}

/// Set by Ctrl-C.
pub(super) static STOP: AtomicBool = AtomicBool::new(false);

/// Ctrl-C ends runs in order; a second one at once.
pub fn watch_for_stop() {
    let stop = || {
        if STOP.swap(true, Ordering::SeqCst) {
            std::process::exit(130);
        }
    };
    // If another handler is there already, Ctrl-C just ends the process: nothing is lost but time.
    let _ = ctrlc::set_handler(stop);
}

/// Steps between two lines of the metrics.
fn metric_interval(steps: u64) -> u64 {
    (steps / 400).max(1)
}

impl Visitor for Training<'_> {
    type Output = Outcome;

    fn visit<R: FromSet, M: Scored<R::Batch>>(self, model: M) -> Result<Outcome> {
        let Self {
            run,
            record,
            data,
            begin,
            weights,
            folder,
            output,
            device,
        } = self;
        let wrong_kind = || anyhow::anyhow!("the records are of another kind than the model");
        let training = R::from_set(data.training).with_context(wrong_kind)?;
        let test = match data.test {
            Some(TestSet {
                records,
                declared_public,
            }) => Some((
                R::from_set(records).with_context(wrong_kind)?,
                declared_public,
            )),
            None => None,
        };
        let public_test = test
            .as_ref()
            .filter(|(_, public)| *public)
            .map(|(test, _)| test);

        let model = match weights {
            Some(weights) => weights.begin(model)?.0,
            None => model,
        };
        let parameters = model.num_params();
        let spending = Spending::forecast(&run.plan)?;
        let again = matches!(begin, Begin::Again);
        let after = match Checkpoint::read(&folder.checkpoint()) {
            Ok(checkpoint) if again => checkpoint.step,
            _ => 0,
        };
        let start = record.start.as_ref();
        let progress = ProgressLine::start(&run, &record.name, parameters, start, output, spending);
        progress.begin_after(after);
        let mut metrics = Metrics::open(&folder.metrics(), after)?;
        let (steps, every) = (run.plan.steps(), metric_interval(run.plan.steps()));
        let test_every = run.settings.test_every.filter(|every| *every > 0);
        watch_for_stop();

        let start = Instant::now();
        let mut trainer = Trainer::new(run.plan.clone(), run.new_optimizer(), run.learning_rate)
            .options(SessionOptions {
                precision: run.precision,
                ..SessionOptions::default()
            })
            .ledger(folder.ledger())
            .checkpoint(folder.checkpoint(), run.checkpoint_every())
            .stop_when(|| STOP.load(Ordering::SeqCst))
            .on_step(|at, model: &M| {
                progress.show(at);
                let tested = test_every.is_some_and(|every| at.step % every == 0);
                let test_score = public_test
                    .filter(|test| tested && test.count() > 0)
                    .map(|test| mean(&evaluate(model, test, &device)));
                if tested || at.step % every == 0 || at.step == 1 || at.step == steps {
                    metrics.add(Metric {
                        step: at.step,
                        threshold: at.threshold,
                        learning_rate: at.learning_rate,
                        test_score,
                    });
                }
            });
        if let Some(decay) = run.settings.average {
            trainer = trainer.average(decay);
        }
        let trained = match begin {
            Begin::Again => trainer
                .keys(keys(&run.settings)?)
                .resume(model, &training, &device)?,
            Begin::New(opening) => trainer.fit_opened(*opening, model, &training, &device)?,
        };
        let seconds = start.elapsed().as_secs_f64();
        progress.finish();

        let finish = Finish {
            run: &run,
            record: &record,
            metrics: &metrics,
            folder,
            parameters,
            seconds,
        };
        finish.write(trained, test, &device)
    }
}
