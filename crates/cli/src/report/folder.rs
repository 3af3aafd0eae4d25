//! The report of a run folder, read from its facts and written beside them.

use super::Report;
use super::audit_facts::AuditFacts;
use super::facts::Facts;
use super::files::FileHashes;
use crate::files::write_whole;
use crate::run_files::RunFiles;
use anyhow::{Context, Result, bail, ensure};
use std::fs;
use std::io::ErrorKind;
use std::path::Path;
use tacita::{Binding, LedgerRecord};

/// Said of facts that nothing binds.
const NOT_BOUND: &str = "Nothing binds the facts of this report to the ledger of the run, which was made by an earlier \
                         version or is missing: what they say of the data, their number and the tuning may have been \
                         edited since.";

/// The report of a run folder; its ledger, if there is one, must agree with its facts.
pub fn read(folder: &Path) -> Result<Report> {
    let files = RunFiles::of(folder);
    let path = files.facts();
    let text = match fs::read_to_string(&path) {
        Err(error) if error.kind() == ErrorKind::NotFound => {
            bail!("{} does not exist; {}", path.display(), files.which())
        }
        read => read.with_context(|| format!("cannot read {}", path.display()))?,
    };
    let mut facts: Facts = serde_json::from_str(&text)
        .with_context(|| format!("{} does not hold the facts of a run", path.display()))?;
    let ledger = files.ledger();
    let report = if ledger.exists() {
        let record = tacita::read_ledger_file(&ledger)?;
        // What contradicts the ledger is named before what merely differs from what was written.
        let binding = record.binding(RunFiles::FACTS, text.as_bytes());
        if binding == Binding::None {
            facts.caveats.push(NOT_BOUND.into());
        }
        let report = Report::with_ledger(facts, &record);
        ensure!(
            report.is_err() || matches!(binding, Binding::Same | Binding::None),
            "{} is not the file that the ledger binds: it was edited, or belongs to another run. Restore it from a \
             copy, or write it anew by: tacita resume {}",
            path.display(),
            folder.display()
        );
        check_model(&files, &record)?;
        report
    } else {
        facts.caveats.push(NOT_BOUND.into());
        Report::new(facts)
    };
    let report = report.with_context(|| format!("no report of {}", folder.display()))?;
    let audit = audit_of(&files)?;
    Ok(report.with_files(FileHashes::of(&files)).with_audit(audit))
}

/// Refuses a model that is not the one that the ledger binds: the report would name it as what the run released. Ledgers
/// of earlier versions bind none.
fn check_model(files: &RunFiles, ledger: &LedgerRecord) -> Result<()> {
    let path = files.model();
    let Ok(model) = fs::read(&path) else {
        return Ok(());
    };
    ensure!(
        ledger.binding(RunFiles::MODEL, &model) != Binding::Other,
        "{} is not the file that the ledger binds: it was replaced, or belongs to another run. Restore it from a copy, or \
         write it anew by: tacita resume {}",
        path.display(),
        files.path().display()
    );
    Ok(())
}

/// What the canaries of a run prove, if they were opened. The ledger must bind it.
pub fn audit_of(files: &RunFiles) -> Result<Option<AuditFacts>> {
    let path = files.audit();
    if !path.exists() {
        return Ok(None);
    }
    let text =
        fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
    let ledger = tacita::read_ledger_file(&files.ledger())?;
    ensure!(
        ledger.binding(RunFiles::AUDIT, text.as_bytes()) == Binding::Same,
        "{} is not the file that the ledger binds: it was edited, or belongs to another run. Restore it from a copy",
        path.display()
    );
    let audit = serde_json::from_str(&text);
    audit.with_context(|| format!("{} does not hold an audit", path.display()))
}

/// Writes the report of a run into its folder.
pub fn write_all(folder: &Path) -> Result<()> {
    let files = RunFiles::of(folder);
    let report = read(folder)?;
    write(&report, &files.page(), &files.page_as_json())?;
    write_registry(&report, &files)
}

/// Writes the entry for registries.
pub fn write_registry(report: &Report, files: &RunFiles) -> Result<()> {
    write_whole(
        &files.registry(),
        format!("{:#}\n", report.registry()).as_bytes(),
    )
}

/// Writes a report as a page and as JSON, each replaced as a whole.
pub fn write(report: &Report, page: &Path, json: &Path) -> Result<()> {
    write_whole(page, report.html().as_bytes())?;
    write_whole(json, format!("{:#}\n", report.json()).as_bytes())
}
