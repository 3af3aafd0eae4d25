//! Writes what a finished run publishes besides its model.

use super::run_folder::{Part, RunFolder, RunRecord};
use crate::files::write_whole;
use crate::report;
use crate::report::facts::Facts;
use crate::run_files::RunFiles;
use anyhow::{Context, Result};
use std::fs;

/// Binds the model to the ledger; then writes the facts, bound as well, and the report computed from them.
pub fn facts(folder: &RunFolder, record: &RunRecord, facts: &Facts) -> Result<()> {
    let model = folder.model();
    let model = fs::read(&model).with_context(|| format!("cannot read {}", model.display()))?;
    tacita::bind_file_to_ledger(&folder.ledger(), RunFiles::MODEL, &model)?;
    let text = format!("{:#}\n", serde_json::to_value(facts)?);
    // Before the file itself, so that facts that are there are always bound.
    tacita::bind_file_to_ledger(&folder.ledger(), RunFiles::FACTS, text.as_bytes())?;
    write_whole(&folder.facts(), text.as_bytes())?;
    // A secret run has no guarantee of its own, so it has no report unless it is published.
    match record.search {
        Some(search) if search.part == Part::Secret => Ok(()),
        _ => report::write_all(folder.path()),
    }
}
