//! Weights from a file that a model starts from.

use super::run_folder::{Locations, RunRecord, StartedFrom};
use super::same_data::same_data;
use super::settings::Settings;
use crate::run_files::RunFiles;
use anyhow::{Result, anyhow, bail, ensure};
use burn::module::Module;
use sha2::{Digest, Sha256};
use std::path::{Path, PathBuf};
use tacita_datasets::{Source, hex};

/// A file of weights, declared public. It is read once, so that what is checked is what is used.
#[derive(Debug, Clone)]
pub struct InitialWeights {
    path: PathBuf,
    bytes: Vec<u8>,
    sha256: String,
}

/// Said wherever a guarantee is.
pub const CAVEAT: &str = "The weights the model started from were declared public. The guarantee says nothing about the \
                          records they were learned from; if those were among the records of this run, it does not \
                          hold for them.";

impl InitialWeights {
    /// Reads the file, if settings name one; refuses it if they pin another content, or if it is not public.
    pub fn read(settings: &Settings) -> Result<Option<Self>> {
        let Some(path) = &settings.start else {
            ensure!(
                settings.start_sha256.is_none(),
                "--start-sha256 has no effect without the weights of --start FILE"
            );
            return Ok(None);
        };
        let name = path.display();
        ensure!(
            path.is_file() || !path.exists(),
            "--start {name} is not a file; give the {} of a run",
            RunFiles::MODEL
        );
        let bytes = std::fs::read(path)
            .map_err(|error| anyhow!("cannot read the weights --start {name}: {error}"))?;
        let sha256 = hex(&Sha256::digest(&bytes));
        if let Some(pinned) = &settings.start_sha256 {
            ensure!(
                pinned.eq_ignore_ascii_case(&sha256),
                "--start {name} holds other weights than were meant: their SHA-256 is {sha256}, not {pinned}; restore them"
            );
        }
        let weights = Self {
            path: path.clone(),
            bytes,
            sha256,
        };
        weights.check_records(settings)?;
        Ok(Some(weights))
    }

    /// SHA-256 of the content.
    pub fn sha256(&self) -> &str {
        &self.sha256
    }

    /// Refuses weights that lie beside the record of a run on the same records: those are not public. An experiment
    /// with a fixed seed promises nothing anyway.
    fn check_records(&self, settings: &Settings) -> Result<()> {
        // Where a link leads, not where it lies.
        let weights = self.path.canonicalize();
        let weights = weights.unwrap_or_else(|_| self.path.clone());
        let beside = weights.with_file_name(RunFiles::RECORD);
        let text = std::fs::read_to_string(&beside).unwrap_or_default();
        let Ok(record) = serde_json::from_str::<RunRecord>(&text) else {
            return Ok(());
        };
        ensure!(
            settings.seed.is_some()
                || !self.of_same_records(&weights, &record.settings, settings)?,
            "--start {} was learned from the same records, as {} says: it is not public, and the guarantee of this run \
             alone would not hold. Start from other weights, or resume that run by: tacita resume",
            self.path.display(),
            beside.display()
        );
        Ok(())
    }

    /// Whether the run beside the weights and the run to start have the same records.
    fn of_same_records(&self, weights: &Path, theirs: &Settings, ours: &Settings) -> Result<bool> {
        if let (Source::Builtin(theirs), Source::Builtin(ours)) = (theirs.source()?, ours.source()?)
        {
            return Ok(theirs.unsplit() == ours.unsplit());
        }
        if theirs.own_data().is_none() || ours.own_data().is_none() {
            return Ok(false);
        }
        let folder = weights.parent().unwrap_or(Path::new(""));
        let theirs = Locations::known(folder)?
            .or(Locations::of_earlier_version(theirs))
            .data;
        let ours = ours.own_data();
        let (Some(theirs), Some(ours)) = (theirs, ours) else {
            bail!(
                "--start {} lies in the folder of a run on data of your own, and {} is missing, which says where they \
                 are: they may be the same records. If the weights are public, copy them out of the folder",
                self.path.display(),
                Locations::file(folder).display()
            );
        };
        Ok(same_data(&theirs, ours))
    }

    /// The model with these weights as far as they fit.
    pub fn begin<M: Module>(&self, model: M) -> Result<(M, StartedFrom)> {
        let started = tacita::start_from(model, &self.bytes).map_err(|error| {
            anyhow!(
                "the model cannot start from {}: {error}",
                self.path.display()
            )
        })?;
        let name = self.path.file_name().unwrap_or_default();
        let from = StartedFrom {
            file: name.to_string_lossy().into_owned(),
            sha256: self.sha256.clone(),
            numbers: started.numbers as u64,
            of: started.model.num_params() as u64,
            drawn: started.drawn,
        };
        Ok((started.model, from))
    }
}
