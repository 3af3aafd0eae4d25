//! The contents of a ledger file, for those who do not write it.

use super::contents::Contents;
use super::line::{Header, sha256};
use super::{Binding, LedgerFile, LedgerFileError, LedgerLabel, SearchKind, io_error};
use std::collections::BTreeMap;
use std::path::Path;
use tacita_accounting::Ledger;

/// The contents of a ledger file, read without touching it.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct LedgerRecord {
    /// The whole plan the run is committed to; its ε is the guarantee.
    pub plan: Ledger,
    /// What counts as released so far: a prefix of the plan.
    pub released: Ledger,
    /// False if the run used a fixed seed or showed raw quantities; then nothing about it is private.
    pub private: bool,
    /// What its first line holds besides the plan.
    pub label: LedgerLabel,
    /// Whether a random search chose this run to be its published one.
    pub published: bool,
    /// SHA-256 of the files it binds, by name.
    files: BTreeMap<String, String>,
}

impl LedgerRecord {
    /// What the ledger of a run would hold after so many rounds of its plan.
    pub fn new(plan: Ledger, released: u64, private: bool, label: LedgerLabel) -> Self {
        Self {
            released: plan.prefix(released),
            plan,
            private,
            label,
            published: false,
            files: BTreeMap::new(),
        }
    }

    /// Whether a file of the run has the content that the ledger binds.
    pub fn binding(&self, file: &str, content: &[u8]) -> Binding {
        match self.files.get(file) {
            Some(bound) if *bound == sha256(content) => Binding::Same,
            Some(_) => Binding::Other,
            None if self.label.binds_files => Binding::Missing,
            None => Binding::None,
        }
    }

    /// Whether the run is one that a random search keeps secret: its ledger tells nothing about what
    /// publishing it would cost.
    pub fn is_secret(&self) -> bool {
        let search = self.label.search.map(|search| search.kind);
        search == Some(SearchKind::Random) && !self.published
    }
}

/// Adds a line to the ledger of a run that is not being written: a file of the run has this content.
/// Nothing is added if the ledger has that line already.
pub fn bind_file_to_ledger(
    ledger: &Path,
    file: &str,
    content: &[u8],
) -> Result<(), LedgerFileError> {
    LedgerFile::open_ended(ledger)?.bind(file, content)
}

/// Adds a line to the ledger of a run of a random search: it is the one that is published.
pub fn mark_ledger_as_published(ledger: &Path) -> Result<(), LedgerFileError> {
    LedgerFile::open_ended(ledger)?.publish()
}

/// Reads the ledger file of a run, finished or not.
pub fn read_ledger_file(path: &Path) -> Result<LedgerRecord, LedgerFileError> {
    let bytes = std::fs::read(path).map_err(io_error("read", path))?;
    let contents = Contents::parse(path, &bytes)?;
    let released = contents.spent_rounds();
    let Header {
        plan,
        private,
        label,
        ..
    } = contents.header;
    Ok(LedgerRecord {
        published: contents.published,
        files: contents.files,
        ..LedgerRecord::new(plan, released, private, label)
    })
}
