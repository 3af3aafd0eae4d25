//! The folder of a run: the ledger, the model and the report.
//!
//! Everything in it may be published if the run was private: no key, index, loss, time or realised
//! batch size is written.

use super::Args;
use super::outcome::Outcome;
use anyhow::{Context, Result, bail};
use burn::module::Module;
use serde_json::json;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// A folder that this run made, so that nothing can be overwritten.
#[derive(Debug)]
pub struct RunFolder(PathBuf);

impl RunFolder {
    /// Makes the folder asked for, or the first free one of `runs/digits-1`, `runs/digits-2`, …
    pub fn create(path: Option<&Path>) -> Result<Self> {
        if let Some(path) = path {
            return match make(path)? {
                true => Ok(Self(path.to_path_buf())),
                false => bail!(
                    "{} exists already; give --out another folder, or remove it. Nothing was spent",
                    path.display()
                ),
            };
        }
        for number in 1.. {
            let path = Path::new("runs").join(format!("digits-{number}"));
            if make(&path)? {
                return Ok(Self(path));
            }
        }
        bail!("no free folder in runs/")
    }

    /// The folder.
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// The ledger file.
    pub fn ledger(&self) -> PathBuf {
        self.0.join("ledger.jsonl")
    }

    /// The parameters, in Burn's own format.
    pub fn model(&self) -> PathBuf {
        self.0.join("model.bpk")
    }

    /// The privacy report.
    pub fn report(&self) -> PathBuf {
        self.0.join("report.json")
    }

    /// Writes the model and the report.
    pub fn write<M: Module>(&self, model: M, outcome: &Outcome, args: &Args) -> Result<()> {
        let path = self.model();
        model
            .save_file(&path)
            .with_context(|| format!("cannot write {}", path.display()))?;
        let report = json!({
            "data": "digits",
            "epochs": args.epochs,
            "expected_batch": args.batch,
            "learning_rate": args.learning_rate,
            "seed": args.seed,
            "clipping": "AUTO-S",
            "held_out_accuracy": outcome.accuracy,
            "privacy": outcome.report,
        });
        let path = self.report();
        fs::write(&path, format!("{report:#}\n"))
            .with_context(|| format!("cannot write {}", path.display()))
    }
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
