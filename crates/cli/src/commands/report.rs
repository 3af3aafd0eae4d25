//! `tacita report`: the privacy report of a run folder, computed again from its plan.

use crate::report::Report;
use crate::report::facts::Facts;
use crate::run::{self, RUN_RECORD, RunFolder, write_whole};
use crate::tune;
use anyhow::{Context, Result, bail, ensure};
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use tacita::Binding;

/// Arguments of `tacita report`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Reads DIR/facts.json and DIR/ledger.jsonl, and writes DIR/report.html and DIR/report.json. Facts that were \
edited, or that disagree with the ledger, are refused, and nothing is written.

Examples:
  tacita report runs/digits-1
  tacita report runs/digits-1 --html privacy.html --json")]
pub struct Args {
    /// Folder of a run
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    /// Write the page here instead of to DIR/report.html
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// Print the report in JSON
    #[arg(long)]
    json: bool,
}

/// Runs `tacita report`.
pub fn run(args: &Args) -> Result<()> {
    tune::refuse_secret(&args.folder)?;
    let report = read(&args.folder)?;
    let page = (args.html.clone()).unwrap_or_else(|| args.folder.join("report.html"));
    write(&report, &page, &args.folder.join("report.json"))?;
    if args.folder.join(RUN_RECORD).exists() {
        // Also those that an earlier version or a killed run left. A folder of something else is not ours.
        run::hide_times(&args.folder)?;
    }
    if args.json {
        println!("{:#}", report.json());
    } else {
        println!("{}", report.summary());
        println!("Written to {}", page.display());
    }
    Ok(())
}

/// The file of the facts.
pub const FACTS: &str = "facts.json";

/// Said of facts that nothing binds.
const NOT_BOUND: &str = "Nothing binds the facts of this report to the ledger of the run, which was made by an earlier \
                         version or is missing: what they say of the data, their number and the tuning may have been \
                         edited since.";

/// The report of a run folder; its ledger, if there is one, must agree with its facts.
pub fn read(folder: &Path) -> Result<Report> {
    let path = folder.join(FACTS);
    let text = match fs::read_to_string(&path) {
        Err(error) if error.kind() == ErrorKind::NotFound => bail!(
            "{} does not exist; {}",
            path.display(),
            RunFolder::which(folder)
        ),
        read => read.with_context(|| format!("cannot read {}", path.display()))?,
    };
    let mut facts: Facts = serde_json::from_str(&text)
        .with_context(|| format!("{} does not hold the facts of a run", path.display()))?;
    let ledger = folder.join("ledger.jsonl");
    let report = if ledger.exists() {
        let record = tacita::read_ledger_file(&ledger)?;
        // What contradicts the ledger is named before what merely differs from what was written.
        let binding = record.binding(FACTS, text.as_bytes());
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
        report
    } else {
        facts.caveats.push(NOT_BOUND.into());
        Report::new(facts)
    };
    report.with_context(|| format!("no report of {}", folder.display()))
}

/// Writes the report of a run into its folder.
pub fn write_all(folder: &Path) -> Result<()> {
    let report = read(folder)?;
    write(
        &report,
        &folder.join("report.html"),
        &folder.join("report.json"),
    )
}

/// Writes a report as a page and as JSON, each replaced as a whole.
pub fn write(report: &Report, page: &Path, json: &Path) -> Result<()> {
    write_whole(page, report.html().as_bytes())?;
    write_whole(json, format!("{:#}\n", report.json()).as_bytes())
}
