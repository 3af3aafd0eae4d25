//! The folder of a run. Everything in it may be published if the run was private: no key, index, loss,
//! time, realised batch size or path of the data is written, and all its files have one time.

use super::files::{lock, make, write_lasting, write_whole};
use super::{Locations, ModelName, Settings, StartedFrom};
use crate::datasets::{About, Preparation, Shape};
use anyhow::{Context, Result, bail};
use serde::{Deserialize, Serialize};
use std::fs::{self, File};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use tacita::{Binding, Checkpoint, LedgerFileError, SearchKind, SearchOfRun};

/// A folder with the files of one run.
#[derive(Debug)]
pub struct RunFolder {
    path: PathBuf,
    /// Held while the run lasts, so that no other process writes into the folder.
    _lock: Option<File>,
}

/// The only format there is.
const FORMAT: u32 = 1;

/// The first line of the settings of a run on the user's own data.
const NAMES_NOT_PATHS: &str = "# The data are named, not their paths. To train on them again, give the path too, as with --csv FILE.\n";

/// The file of the [`RunRecord`].
pub const RUN_RECORD: &str = "run.json";

/// What `resume` and `predict` need to know, written before the first step.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RunRecord {
    /// Format of this file.
    pub tacita_run: u32,
    /// Version of the program that started the run.
    pub version: String,
    /// Name of the data set.
    pub name: String,
    /// Every setting.
    pub settings: Settings,
    /// The model.
    pub model: ModelName,
    /// Its input.
    pub shape: Shape,
    /// The scale of the noise.
    pub scale: f64,
    /// Records as declared.
    pub public_record_count: u64,
    /// How inputs are prepared.
    pub preparation: Preparation,
    /// Where the records come from.
    pub about: About,
    /// A released histogram that gave bounds of columns, and the standard deviation of its noise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub histogram: Option<(Vec<f32>, f64)>,
    /// The weights it started from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start: Option<StartedFrom>,
    /// The search it is a part of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub search: Option<PartOfSearch>,
}

/// What a run of a search states instead of its own ε, which does not pay for the search. Kept with the run from
/// its start, so that it stays true wherever the folder is copied and whoever goes on with it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PartOfSearch {
    /// ε of the whole search, an upper bound.
    pub epsilon_upper: f64,
    /// δ of the whole search.
    pub delta: f64,
    /// What of the search the run is.
    pub part: Part,
}

/// Which part of a search a run is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Part {
    /// One of a grid, all of which may be shown.
    Grid,
    /// One of a random search, of which nothing is to be seen: the guarantee covers the best one alone.
    Secret,
    /// The published best of a random search.
    Winner,
}

impl PartOfSearch {
    /// The same as the first line of the run's ledger holds it, so that it stays true of the ledger alone.
    pub fn in_ledger(self) -> SearchOfRun {
        SearchOfRun {
            kind: match self.part {
                Part::Grid => SearchKind::Grid,
                Part::Secret | Part::Winner => SearchKind::Random,
            },
            epsilon_upper: self.epsilon_upper,
            delta: self.delta,
        }
    }
}

impl RunFolder {
    /// Makes the folder asked for, or the first free one of `runs/NAME-1`, `runs/NAME-2`, …
    pub fn create(path: Option<&Path>, name: &str) -> Result<Self> {
        if let Some(path) = path {
            return match make(path)? {
                true => Self::locked(path),
                false => bail!(
                    "{} exists already; give --out another folder, remove it, or go on with it: tacita \
                     resume {}. Nothing was spent",
                    path.display(),
                    path.display()
                ),
            };
        }
        for number in 1.. {
            let path = Path::new("runs").join(format!("{name}-{number}"));
            if make(&path)? {
                return Self::locked(&path);
            }
        }
        bail!("no free folder in runs/")
    }

    /// The folder, if no other process writes into it.
    fn locked(path: &Path) -> Result<Self> {
        if !cfg!(unix) {
            // Folders cannot be locked there; the ledger is.
            let path = path.to_path_buf();
            return Ok(Self { path, _lock: None });
        }
        Ok(Self {
            path: path.to_path_buf(),
            _lock: Some(lock(path)?),
        })
    }

    /// The folder of an earlier run, to go on with.
    pub fn open_to_write(path: &Path) -> Result<(Self, RunRecord)> {
        let (_, record) = Self::open(path)?;
        Ok((Self::locked(path)?, record))
    }

    /// The folder of an earlier run, to read.
    pub fn open(path: &Path) -> Result<(Self, RunRecord)> {
        let folder = Self {
            path: path.to_path_buf(),
            _lock: None,
        };
        let file = folder.record();
        let text = match fs::read_to_string(&file) {
            Err(error) if error.kind() == ErrorKind::NotFound && !folder.nothing_was_released() => {
                bail!(
                    "{} does not exist: it was removed, or the run died before its first step, after a statistic \
                     of the records was recorded as released; start a new run with a budget of its own",
                    file.display()
                )
            }
            Err(error) if error.kind() == ErrorKind::NotFound && folder.ledger().exists() => {
                bail!(
                    "{} does not exist: the run died before its first step and nothing was spent; remove the \
                     folder and start again",
                    file.display()
                )
            }
            Err(error) if error.kind() == ErrorKind::NotFound => {
                bail!("{} does not exist; {}", file.display(), Self::which(path))
            }
            read => read.with_context(|| format!("cannot read {}", file.display()))?,
        };
        let record: RunRecord = serde_json::from_str(&text)
            .with_context(|| format!("{} is not the record of a run", file.display()))?;
        if record.tacita_run != FORMAT {
            bail!(
                "{} has format {}, which this version does not know",
                file.display(),
                record.tacita_run
            );
        }
        Ok((folder, record))
    }

    /// Which folder to give instead of one that holds no run.
    pub fn which(path: &Path) -> &'static str {
        match path.join("space.toml").exists() {
            true => {
                "this is the folder of a search, whose report is report.html; give one of its runs: winner, or \
                 one of runs/"
            }
            false => "give the folder of a run that began training, such as runs/digits-1",
        }
    }

    /// Writes the record, whose text the ledger binds already, and the settings.
    pub fn write_record(&self, record: &RunRecord, text: &str) -> Result<()> {
        write_lasting(&self.record(), text.as_bytes())?;
        let mut settings = record.settings.to_toml()?;
        if record.settings.own_data().is_some() {
            settings.insert_str(0, NAMES_NOT_PATHS);
        }
        write_whole(&self.path.join("config.toml"), settings.as_bytes())
    }

    /// Whether the record was written, without which a run cannot be resumed.
    pub fn has_record(&self) -> bool {
        self.record().exists()
    }

    /// Whether nothing can have been released: the ledger holds no step, and there is no trace of one.
    pub fn nothing_was_released(&self) -> bool {
        let spent = match tacita::read_ledger_file(&self.ledger()) {
            Ok(ledger) => ledger.released.steps() > 0,
            Err(error) => !is_silent(&error),
        };
        !spent && !self.has_trace_of_steps()
    }

    /// The same of any folder.
    pub fn nothing_was_released_in(path: &Path) -> bool {
        let path = path.to_path_buf();
        Self { path, _lock: None }.nothing_was_released()
    }

    /// Whether anything but the ledger tells of a step.
    fn has_trace_of_steps(&self) -> bool {
        let lines = fs::metadata(self.metrics()).is_ok_and(|file| file.len() > 0);
        // One is written before the first step; one that cannot be read may be of any.
        let checkpoint = self.checkpoint().exists()
            && Checkpoint::read(&self.checkpoint()).map_or(true, |kept| kept.step > 0);
        lines || checkpoint || self.model().exists() || self.facts().exists()
    }

    /// Refuses a run whose ledger is gone, or whose record is not the one that the ledger binds: it would
    /// go on under a budget that is spent.
    pub fn check_ledger(&self) -> Result<()> {
        let path = self.ledger();
        let ledger = match tacita::read_ledger_file(&path) {
            Err(error) if is_silent(&error) => bail!(
                "{} is missing or empty, and it is written before anything else of a run, so entries have been \
                 lost or removed{}: what was spent is unknown. Restore it from a copy; without one, count the \
                 whole plan as spent and start a new run with a budget of its own. Nothing more was spent",
                path.display(),
                match self.has_trace_of_steps() {
                    true => ", and the run has made steps",
                    false => "",
                }
            ),
            read => read?,
        };
        let record = self.record();
        let text =
            fs::read(&record).with_context(|| format!("cannot read {}", record.display()))?;
        match ledger.binding(RUN_RECORD, &text) {
            Binding::Same | Binding::None => Ok(()),
            Binding::Other => bail!(
                "{} is not the one that the ledger binds: it was edited, or belongs to another run; restore it \
                 from a copy. Nothing more was spent",
                record.display()
            ),
            Binding::Missing => bail!(
                "{} lacks its second line, which binds {RUN_RECORD}: entries have been lost or removed, so what \
                 was spent is unknown. Restore it from a copy; without one, count the whole plan as spent and \
                 start a new run with a budget of its own. Nothing more was spent",
                path.display()
            ),
        }
    }

    /// Gives all files one time.
    pub fn hide_times(&self) -> Result<()> {
        super::hide_times(&self.path)
    }

    /// Whether the ledger holds a step, not only a statistic before the first.
    pub fn has_stepped(&self, record: &RunRecord) -> bool {
        let statistics = u64::from(record.histogram.is_some());
        tacita::read_ledger_file(&self.ledger())
            .is_ok_and(|ledger| ledger.released.steps() > statistics)
    }

    /// Whether the last checkpoint holds all that the ledger does: no step was lost between them.
    pub fn nothing_was_lost(&self, record: &RunRecord) -> Result<bool> {
        let released = tacita::read_ledger_file(&self.ledger())?.released.steps();
        let statistics = u64::from(record.histogram.is_some());
        let kept = Checkpoint::read(&self.checkpoint());
        Ok(kept.is_ok_and(|kept| statistics + kept.step == released))
    }

    /// Takes the folder away again, as after an error at the start.
    pub fn remove(&self) {
        let _ = fs::remove_file(Locations::file(&self.path));
        let _ = fs::remove_dir_all(&self.path);
    }

    /// The folder.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Everything recorded before it was released.
    pub fn ledger(&self) -> PathBuf {
        self.path.join("ledger.jsonl")
    }

    /// What a resumed run goes on from.
    pub fn checkpoint(&self) -> PathBuf {
        self.path.join("checkpoint.safetensors")
    }

    /// The trained parameters.
    pub fn model(&self) -> PathBuf {
        self.path.join("model.safetensors")
    }

    /// The same in Burn's own format.
    pub fn burn_record(&self) -> PathBuf {
        self.path.join("model.bpk")
    }

    /// The course of the run.
    pub fn metrics(&self) -> PathBuf {
        self.path.join("metrics.jsonl")
    }

    /// What the report is computed from.
    pub fn facts(&self) -> PathBuf {
        self.path.join("facts.json")
    }

    fn record(&self) -> PathBuf {
        self.path.join(RUN_RECORD)
    }
}

/// Whether a ledger is not there, or says nothing.
fn is_silent(error: &LedgerFileError) -> bool {
    match error {
        LedgerFileError::NoHeader { .. } => true,
        LedgerFileError::Io { source, .. } => source.kind() == ErrorKind::NotFound,
        _ => false,
    }
}

impl RunRecord {
    /// The format number, for a new record.
    pub const FORMAT: u32 = FORMAT;

    /// The record as its file holds it.
    pub fn text(&self) -> Result<String> {
        Ok(serde_json::to_string_pretty(self)?)
    }
}
