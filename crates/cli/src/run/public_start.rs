//! Weights that a model starts from, and what is kept of them.

use anyhow::{Context, Result};
use burn::module::Module;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::path::{Path, PathBuf};

/// A file of weights, declared public.
#[derive(Debug, Clone)]
pub struct PublicStart {
    path: PathBuf,
    bytes: Vec<u8>,
}

/// What a run says of the weights it started from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StartedFrom {
    /// Name of the file, without its folder.
    pub file: String,
    /// SHA-256 of its content.
    pub sha256: String,
}

impl PublicStart {
    /// Reads the file, if settings name one.
    pub fn read(path: Option<&Path>) -> Result<Option<Self>> {
        let Some(path) = path else {
            return Ok(None);
        };
        let bytes = std::fs::read(path).with_context(|| {
            format!(
                "cannot read the weights --start {}; nothing was spent",
                path.display()
            )
        })?;
        let path = path.to_path_buf();
        Ok(Some(Self { path, bytes }))
    }

    /// What is kept of it.
    pub fn record(&self) -> StartedFrom {
        let name = self.path.file_name().unwrap_or_default();
        let sha256 = Sha256::digest(&self.bytes);
        StartedFrom {
            file: name.to_string_lossy().into_owned(),
            sha256: sha256.iter().map(|byte| format!("{byte:02x}")).collect(),
        }
    }

    /// The model with these weights as far as they fit, and the paths of the parameters that they do not.
    pub fn begin<M: Module>(&self, model: M) -> Result<(M, Vec<String>)> {
        let started = tacita::start_from(model, &self.bytes).with_context(|| {
            format!(
                "the model cannot start from {}; nothing was spent",
                self.path.display()
            )
        })?;
        Ok((started.model, started.drawn))
    }
}

/// The model, with the weights that settings name, if they do.
pub fn begin<M: Module>(path: Option<&Path>, model: M) -> Result<M> {
    match PublicStart::read(path)? {
        Some(start) => Ok(start.begin(model)?.0),
        None => Ok(model),
    }
}
