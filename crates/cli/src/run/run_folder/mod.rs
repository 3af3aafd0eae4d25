//! The folder of a run. Everything in it may be published if the run was private: no key, index, loss,
//! time, realised batch size or path of the data is written, and all its files have one time.

mod locations;
mod record;
mod started_from;

pub use locations::Locations;
pub use record::{Part, PartOfSearch, RunRecord};
pub use started_from::StartedFrom;

use crate::files::{hide_times, lock, make, write_lasting};
use crate::run_files::RunFiles;
use crate::utility::Diverged;
use anyhow::{Context, Result, bail};
use std::fs::{self, File};
use std::io::ErrorKind;
use std::path::Path;
use tacita::{Binding, Checkpoint, LedgerFileError};

/// A folder with the files of one run.
#[derive(Debug)]
pub struct RunFolder {
    files: RunFiles,
    /// Held while the run lasts, so that no other process writes into the folder.
    _lock: Option<File>,
}

impl RunFolder {
    /// Makes the folder asked for, or the first free one of `runs/NAME-1`, `runs/NAME-2`, …
    pub fn create(path: Option<&Path>, name: &str) -> Result<Self> {
        if let Some(path) = path {
            return match make(path)? {
                true => Self::locked(path),
                false => bail!(
                    "{} exists already; give --out another folder, remove it, or resume it by: tacita \
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
            return Ok(Self::at(path));
        }
        Ok(Self {
            files: RunFiles::of(path),
            _lock: Some(lock(path)?),
        })
    }

    /// A folder that may or may not be there, and may or may not hold a run.
    pub fn at(path: &Path) -> Self {
        Self {
            files: RunFiles::of(path),
            _lock: None,
        }
    }

    /// What a rank has that is not the first: no folder, and a path at which there can be none.
    pub fn of_other_rank() -> Self {
        Self::at(Path::new("/dev/null/of-another-rank"))
    }

    /// The folder of an earlier run, to be resumed.
    pub fn open_to_write(path: &Path) -> Result<(Self, RunRecord)> {
        let (_, record) = Self::open(path)?;
        Ok((Self::locked(path)?, record))
    }

    /// The folder of an earlier run, to read.
    pub fn open(path: &Path) -> Result<(Self, RunRecord)> {
        let folder = Self::at(path);
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
                bail!("{} does not exist; {}", file.display(), folder.which())
            }
            read => read.with_context(|| format!("cannot read {}", file.display()))?,
        };
        let record: RunRecord = serde_json::from_str(&text)
            .with_context(|| format!("{} is not the record of a run", file.display()))?;
        if record.tacita_run != RunRecord::FORMAT {
            bail!(
                "{} has format {}, which this version does not know",
                file.display(),
                record.tacita_run
            );
        }
        Ok((folder, record))
    }

    /// Does what makes the new run of this folder. If that fails before anything was released, the folder goes;
    /// after, the error says how to resume.
    pub fn keep_unless_unspent<T>(
        &self,
        of_search: bool,
        make: impl FnOnce() -> Result<T>,
    ) -> Result<T> {
        let made = make();
        if made.is_err() && self.nothing_was_released() {
            self.remove();
            return made;
        }
        // It says itself what to do.
        let diverged = (made.as_ref().err()).is_some_and(|error| error.is::<Diverged>());
        let resumable = self.has_record();
        // However the run ended, what is kept tells nothing about the time it took.
        let hidden = self.hide_times();
        if diverged {
            return made;
        }
        let made = made.with_context(|| {
            let remedy = match of_search {
                true => "Mend this and give the same `tacita tune` command again".to_string(),
                false if resumable => {
                    let path = self.path().display();
                    format!("Mend this and resume it by: tacita resume {path}")
                }
                false => {
                    "It cannot be resumed: start a new run, with a budget of its own".to_string()
                }
            };
            format!("the run stopped early; what its ledger holds stays spent. {remedy}")
        })?;
        hidden?;
        Ok(made)
    }

    /// Writes the settings and the record, whose texts the ledger binds already. The record comes last, because a run
    /// that has one is resumed.
    pub fn write_record(&self, record: &str, settings: &str) -> Result<()> {
        write_lasting(&self.settings(), settings.as_bytes())?;
        write_lasting(&self.record(), record.as_bytes())
    }

    /// Whether the record was written, without which a run cannot be resumed.
    pub fn has_record(&self) -> bool {
        self.record().exists()
    }

    /// Whether nothing can have been released: the ledger holds no step, and there is no trace of one.
    pub fn nothing_was_released(&self) -> bool {
        let spent = match tacita::read_ledger_file(&self.ledger()) {
            Ok(ledger) => ledger.released.rounds_made() > 0,
            Err(error) => !is_silent(&error),
        };
        !spent && !self.has_trace_of_steps()
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
    /// continue under a budget that is spent.
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
        match ledger.binding(RunFiles::RECORD, &text) {
            Binding::Same | Binding::None => Ok(()),
            Binding::Other => bail!(
                "{} is not the one that the ledger binds: it was edited, or belongs to another run; restore it \
                 from a copy. Nothing more was spent",
                record.display()
            ),
            Binding::Missing => bail!(
                "{} lacks its second line, which binds {}: entries have been lost or removed, so what \
                 was spent is unknown. Restore it from a copy; without one, count the whole plan as spent and \
                 start a new run with a budget of its own. Nothing more was spent",
                path.display(),
                RunFiles::RECORD
            ),
        }
    }

    /// Gives all files one time.
    pub fn hide_times(&self) -> Result<()> {
        hide_times(self.path())
    }

    /// Whether the ledger holds a step, not only statistics before the first.
    pub fn has_stepped(&self, record: &RunRecord) -> bool {
        tacita::read_ledger_file(&self.ledger())
            .is_ok_and(|ledger| ledger.released.rounds_made() > record.statistics())
    }

    /// Whether the last checkpoint holds all that the ledger does: no step was lost between them.
    pub fn checkpoint_holds_every_step(&self, record: &RunRecord) -> Result<bool> {
        let released = tacita::read_ledger_file(&self.ledger())?
            .released
            .rounds_made();
        let kept = Checkpoint::read(&self.checkpoint());
        Ok(kept.is_ok_and(|kept| record.statistics() + kept.step == released))
    }

    /// Takes the folder away again, as after an error at the start.
    pub fn remove(&self) {
        let _ = fs::remove_file(Locations::file(self.path()));
        let _ = fs::remove_dir_all(self.path());
    }
}

impl std::ops::Deref for RunFolder {
    type Target = RunFiles;

    fn deref(&self) -> &RunFiles {
        &self.files
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
