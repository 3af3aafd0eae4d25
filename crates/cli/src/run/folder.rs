//! The folder of a run. Everything in it may be published if the run was private: no key, index, loss,
//! time or realised batch size is written.

use super::{ModelName, Settings};
use crate::datasets::{About, Preparation, Shape};
use anyhow::{Context, Result, bail};
use serde::{Deserialize, Serialize};
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// A folder with the files of one run.
#[derive(Debug, Clone)]
pub struct RunFolder(PathBuf);

/// The only format there is.
const FORMAT: u32 = 1;

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
}

impl RunFolder {
    /// Makes the folder asked for, or the first free one of `runs/NAME-1`, `runs/NAME-2`, …
    pub fn create(path: Option<&Path>, name: &str) -> Result<Self> {
        if let Some(path) = path {
            return match make(path)? {
                true => Ok(Self(path.to_path_buf())),
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
                return Ok(Self(path));
            }
        }
        bail!("no free folder in runs/")
    }

    /// The folder of an earlier run.
    pub fn open(path: &Path) -> Result<(Self, RunRecord)> {
        let folder = Self(path.to_path_buf());
        let file = folder.record();
        let text = match fs::read_to_string(&file) {
            Err(error) if error.kind() == ErrorKind::NotFound => bail!(
                "{} does not exist; give the folder of a run that began training, such as runs/digits-1",
                file.display()
            ),
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

    /// Writes the record and the settings.
    pub fn write_record(&self, record: &RunRecord) -> Result<()> {
        let text = serde_json::to_string_pretty(record)?;
        write(&self.record(), text.as_bytes())?;
        write(
            &self.0.join("config.toml"),
            record.settings.to_toml()?.as_bytes(),
        )
    }

    /// Takes the folder away again if nothing was recorded in it, as after an error at the start.
    pub fn remove_if_unused(&self) {
        if !self.ledger().exists() {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    /// The folder.
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// Everything recorded before it was released.
    pub fn ledger(&self) -> PathBuf {
        self.0.join("ledger.jsonl")
    }

    /// What a resumed run goes on from.
    pub fn checkpoint(&self) -> PathBuf {
        self.0.join("checkpoint.safetensors")
    }

    /// The trained parameters.
    pub fn model(&self) -> PathBuf {
        self.0.join("model.safetensors")
    }

    /// The same in Burn's own format.
    pub fn burn_record(&self) -> PathBuf {
        self.0.join("model.bpk")
    }

    /// The course of the run.
    pub fn metrics(&self) -> PathBuf {
        self.0.join("metrics.jsonl")
    }

    /// What the report is computed from.
    pub fn facts(&self) -> PathBuf {
        self.0.join("facts.json")
    }

    fn record(&self) -> PathBuf {
        self.0.join("run.json")
    }
}

impl RunRecord {
    /// The format number, for a new record.
    pub const FORMAT: u32 = FORMAT;
}

/// Writes beside the file and renames, so that no reader sees half of it.
pub fn write(path: &Path, bytes: &[u8]) -> Result<()> {
    let mut name = path.file_name().unwrap_or_default().to_os_string();
    name.push(".new");
    let beside = path.with_file_name(name);
    fs::write(&beside, bytes)
        .and_then(|()| fs::rename(&beside, path))
        .with_context(|| format!("cannot write {}", path.display()))
}

/// Makes a folder and those above it; false if it was there.
fn make(path: &Path) -> Result<bool> {
    let context = || format!("cannot make the run folder {}", path.display());
    if let Some(parent) = path.parent() {
        fs::create_dir_all(parent).with_context(context)?;
    }
    match fs::create_dir(path) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(false),
        Err(error) => Err(error).with_context(context),
    }
}
