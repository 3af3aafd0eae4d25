//! What the files of a run folder are called. No other module spells their names.

use std::path::{Path, PathBuf};

/// The files of one run, whether they are there or not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunFiles(PathBuf);

impl RunFiles {
    /// The record of the run, which its ledger binds under this name.
    pub const RECORD: &str = "run.json";
    /// The facts of the report, which the ledger binds under this name.
    pub const FACTS: &str = "facts.json";
    /// Every release, recorded before it was made.
    pub const LEDGER: &str = "ledger.jsonl";
    /// The course of the run.
    pub const METRICS: &str = "metrics.jsonl";
    /// Every setting, which the ledger binds under this name.
    pub const SETTINGS: &str = "config.toml";
    /// The trained parameters, which the ledger binds under this name.
    pub const MODEL: &str = "model.safetensors";
    /// The report of a run or of a search.
    pub const PAGE: &str = "report.html";
    /// The same as JSON.
    pub const PAGE_AS_JSON: &str = "report.json";
    /// What the canaries of a run prove, which the ledger binds under this name.
    pub const AUDIT: &str = "audit.json";
    /// The space of a search, by which its folder is told from that of a run.
    pub const SPACE_OF_SEARCH: &str = "space.toml";

    /// The files of a folder.
    pub fn of(folder: &Path) -> Self {
        Self(folder.to_path_buf())
    }

    /// The folder.
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// What `resume` and `predict` need to know, written before the first step.
    pub fn record(&self) -> PathBuf {
        self.0.join(Self::RECORD)
    }

    /// Everything recorded before it was released.
    pub fn ledger(&self) -> PathBuf {
        self.0.join(Self::LEDGER)
    }

    /// Whether a run began here and can be resumed: the ledger is written first, then the record.
    pub fn has_begun(&self) -> bool {
        self.record().exists() && self.ledger().exists()
    }

    /// The state a run resumes from.
    pub fn checkpoint(&self) -> PathBuf {
        self.0.join("checkpoint.safetensors")
    }

    /// The trained parameters.
    pub fn model(&self) -> PathBuf {
        self.0.join(Self::MODEL)
    }

    /// The course of the run.
    pub fn metrics(&self) -> PathBuf {
        self.0.join(Self::METRICS)
    }

    /// Every setting, as a file that `tacita train` takes.
    pub fn settings(&self) -> PathBuf {
        self.0.join(Self::SETTINGS)
    }

    /// What the report is computed from.
    pub fn facts(&self) -> PathBuf {
        self.0.join(Self::FACTS)
    }

    /// The privacy report.
    pub fn page(&self) -> PathBuf {
        self.0.join(Self::PAGE)
    }

    /// The same as JSON.
    pub fn page_as_json(&self) -> PathBuf {
        self.0.join(Self::PAGE_AS_JSON)
    }

    /// An entry for public registries.
    pub fn registry(&self) -> PathBuf {
        self.0.join("registry.json")
    }

    /// The coins of the canaries, until they are opened. Whoever knows them can make an audit say anything.
    pub fn canary_coins(&self) -> PathBuf {
        self.0.join("canaries.do-not-publish.json")
    }

    /// What the canaries prove, once they are opened.
    pub fn audit(&self) -> PathBuf {
        self.0.join(Self::AUDIT)
    }

    /// Whether this is the folder of a search.
    pub fn is_of_search(&self) -> bool {
        self.0.join(Self::SPACE_OF_SEARCH).exists()
    }

    /// Which folder to give instead of this one, which holds no run.
    pub fn which(&self) -> &'static str {
        match self.is_of_search() {
            true => {
                "this is the folder of a search, whose report is report.html; give one of its runs: winner, or \
                 one of runs/"
            }
            false => "give the folder of a run that began training, such as runs/digits-1",
        }
    }
}
