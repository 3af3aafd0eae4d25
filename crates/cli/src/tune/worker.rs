//! Makes the runs of a search, several at a time; what is finished is not made again.

use crate::files::write_lasting;
use crate::report::facts::Evaluation;
use crate::run::{self, Locations, Outcome, Output, Part, PartOfSearch, RunFolder, Settings};
use crate::run_files::RunFiles;
use anyhow::{Context, Result, anyhow, ensure};
use serde::{Deserialize, Serialize};
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use tacita_accounting::Ledger;

/// A run to be made.
#[derive(Debug, Clone)]
pub struct Task {
    /// Its folder.
    pub folder: PathBuf,
    /// All its settings, the noise included.
    pub settings: Settings,
    /// What it was certified to release.
    pub ledger: Ledger,
    /// What it states as its guarantee.
    pub search: PartOfSearch,
}

impl Task {
    /// Nothing of it is released before the search ends, so that one that died is made again.
    fn secret(&self) -> bool {
        self.search.part == Part::Secret
    }
}

/// How good a run is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Score {
    /// Larger is better; none if the run died where it could not be resumed.
    pub value: Option<f64>,
    /// The same in words.
    pub text: String,
}

impl Score {
    /// Of a run that is spent and cannot be resumed.
    fn lost() -> Self {
        Self {
            value: None,
            text: "lost".into(),
        }
    }
}

/// Makes all runs that are not finished, `parallel` at a time. None if Ctrl-C came first.
///
/// `finished` sees the score of a run as soon as it ended.
pub fn make_all(
    tasks: &[Task],
    parallel: usize,
    finished: impl Fn(usize, &Score) + Sync,
) -> Result<Option<Vec<Score>>> {
    run::watch_for_stop();
    let next = Mutex::new(0..tasks.len());
    let scores = Mutex::new(vec![None; tasks.len()]);
    let failure: Mutex<Option<anyhow::Error>> = Mutex::new(None);
    let work = || {
        loop {
            let failed = locked(&failure).is_some();
            let Some(index) = locked(&next).next().filter(|_| !failed) else {
                return;
            };
            match make(&tasks[index]) {
                Ok(Some(score)) => {
                    finished(index, &score);
                    locked(&scores)[index] = Some(score);
                }
                // Stopped: the others stop as well.
                Ok(None) => return,
                Err(error) => {
                    locked(&failure).get_or_insert(error);
                }
            }
        }
    };
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..parallel.clamp(1, tasks.len().max(1)))
            .map(|_| scope.spawn(work))
            .collect();
        for worker in workers {
            if worker.join().is_err() {
                locked(&failure).get_or_insert(anyhow!("a run of the search panicked"));
            }
        }
    });
    if let Some(error) = failure
        .into_inner()
        .unwrap_or_else(|lock| lock.into_inner())
    {
        return Err(error);
    }
    let scores = scores.into_inner().unwrap_or_else(|lock| lock.into_inner());
    Ok(scores.into_iter().collect())
}

fn locked<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    // A worker that panicked is reported above; what it held is whole.
    mutex.lock().unwrap_or_else(|lock| lock.into_inner())
}

/// Makes or finishes one run. None if it was stopped.
fn make(task: &Task) -> Result<Option<Score>> {
    let file = score_file(&task.folder);
    match fs::read_to_string(&file) {
        Ok(text) => {
            // A damaged score is taken again from the run, which holds what was released.
            if let Ok(score) = serde_json::from_str(&text) {
                if RunFiles::of(&task.folder).record().exists() {
                    check_plan(task)?;
                }
                return Ok(Some(score));
            }
        }
        Err(error) if error.kind() == ErrorKind::NotFound => {}
        Err(error) => return Err(error).with_context(|| format!("cannot read {}", file.display())),
    }
    if run::stop_requested() {
        return Ok(None);
    }
    let output = Output::NONE;
    let files = RunFiles::of(&task.folder);
    let record = files.record();
    let released = || !RunFolder::at(&task.folder).nothing_was_released();
    // Says that a run of a grid was made, even if its folder is taken away later.
    let spent = task.folder.with_extension("spent");
    let note = || match !task.secret() && released() {
        true => write_lasting(&spent, b""),
        false => Ok(()),
    };
    note()?;
    let again = !task.secret() || run_is_whole(&task.folder)?;
    let outcome = if again && files.has_begun() {
        check_plan(task)?;
        run::resume(&task.folder, Locations::of(&task.settings), output)?
    } else if again && (record.exists() || released() || (spent.exists() && !task.folder.exists()))
    {
        // Something was released, and what is needed to resume was not written or was taken away: it is spent.
        // So it is without a ledger, which is written before the record.
        return written(&file, Score::lost()).map(Some);
    } else {
        if task.folder.exists() {
            // It died before its first release, or nothing of it was released.
            fs::remove_dir_all(&task.folder)
                .with_context(|| format!("cannot remove {}", task.folder.display()))?;
        }
        let (settings, search) = (task.settings.clone(), Some(task.search));
        let made = run::train(settings, Some(&task.folder), search, output);
        note()?;
        match made {
            Ok(outcome) => outcome,
            // It failed after a release and cannot be resumed: that is a result of a grid like any other.
            Err(_) if !task.secret() && released() && !record.exists() => {
                return written(&file, Score::lost()).map(Some);
            }
            Err(error) => return Err(error),
        }
    };
    check_plan(task)?;
    if outcome.steps < outcome.report.steps {
        return Ok(None);
    }
    written(&file, score(&outcome)).map(Some)
}

/// Whether a run can be resumed as if it had never stopped. The runs of a random search must be alike in distribution
/// (Papernot and Steinke 2022, Theorem 2): one without the steps lost in a crash would be another mechanism,
/// and would tell which one it was.
fn run_is_whole(folder: &Path) -> Result<bool> {
    if !RunFiles::of(folder).has_begun() {
        return Ok(false);
    }
    let (folder, record) = RunFolder::open(folder)?;
    folder.checkpoint_holds_every_step(&record)
}

/// Refuses a run whose ledger is not the one that was certified, or that states another guarantee.
fn check_plan(task: &Task) -> Result<()> {
    let ledger = RunFiles::of(&task.folder).ledger();
    let released = tacita::read_ledger_file(&ledger)?;
    ensure!(
        released.plan == task.ledger,
        "{} holds another plan than the search was certified for; it was made by another version or edited",
        ledger.display()
    );
    let (_, record) = RunFolder::open(&task.folder)?;
    ensure!(
        record.search == Some(task.search),
        "{} does not state the guarantee of its search; it was made by another version or edited",
        task.folder.display()
    );
    Ok(())
}

fn score(outcome: &Outcome) -> Score {
    let (value, text) = match (&outcome.evaluation, outcome.squared_error) {
        (Some(Evaluation::PublicTest { accuracy, .. }), _) => (
            Some(*accuracy),
            format!("accuracy {:.2} %", 100.0 * accuracy),
        ),
        (
            Some(Evaluation::NoisyCount {
                accuracy,
                noise_std,
                ..
            }),
            _,
        ) => {
            let noisy = format!(
                "accuracy {:.1} % ± {:.1} % (noise)",
                100.0 * accuracy,
                100.0 * noise_std
            );
            (Some(*accuracy), noisy)
        }
        (None, Some(error)) => (Some(-error), format!("mean squared error {error:.5}")),
        (None, None) => (None, "no score".into()),
    };
    let value = value.filter(|value| value.is_finite());
    Score { value, text }
}

fn written(file: &Path, score: Score) -> Result<Score> {
    write_lasting(file, serde_json::to_string(&score)?.as_bytes())?;
    Ok(score)
}

/// Beside the folder of the run, so that the folder holds what every run folder does.
fn score_file(folder: &Path) -> PathBuf {
    folder.with_extension("score.json")
}

/// The best of some runs: the largest score, the first of equals. The runs of a random search are
/// alike in distribution, so the first of equals is as good as a random one.
pub fn best(scores: &[Score]) -> Option<usize> {
    let mut best: Option<(usize, f64)> = None;
    for (index, score) in scores.iter().enumerate() {
        if let Some(value) = score.value
            && best.is_none_or(|(_, largest)| value > largest)
        {
            best = Some((index, value));
        }
    }
    best.map(|(index, _)| index)
}
