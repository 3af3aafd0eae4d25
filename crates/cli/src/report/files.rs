//! The files that a report is about, by their SHA-256.

use crate::run_files::RunFiles;
use serde::Serialize;
use sha2::{Digest, Sha256};
use std::fs;
use std::path::Path;
use tacita_datasets::hex;

/// SHA-256 of files of a run, as they were when the report was written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FileHashes {
    /// `model.safetensors`, if the run has ended.
    pub model_sha256: Option<String>,
    /// `ledger.jsonl`.
    pub ledger_sha256: Option<String>,
    /// `config.toml`.
    pub settings_sha256: Option<String>,
}

impl FileHashes {
    /// Those of a run folder.
    pub fn of(files: &RunFiles) -> Self {
        let hash = |path: &Path| Some(hex(&Sha256::digest(fs::read(path).ok()?)));
        Self {
            model_sha256: hash(&files.model()),
            ledger_sha256: hash(&files.ledger()),
            settings_sha256: hash(&files.settings()),
        }
    }

    /// Names of the files and their hashes.
    pub fn entries(&self) -> Vec<(&'static str, &str)> {
        let all = [
            (RunFiles::MODEL, &self.model_sha256),
            (RunFiles::LEDGER, &self.ledger_sha256),
            (RunFiles::SETTINGS, &self.settings_sha256),
        ];
        let there = all.into_iter();
        there
            .filter_map(|(name, hash)| Some((name, hash.as_deref()?)))
            .collect()
    }
}
