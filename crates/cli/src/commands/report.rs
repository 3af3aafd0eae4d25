//! `tacita report`: the privacy report of a run folder, computed again from its plan.

use crate::files::hide_times;
use crate::report;
use crate::run_files::RunFiles;
use crate::tune;
use anyhow::Result;
use std::path::PathBuf;

/// Arguments of `tacita report`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Reads DIR/facts.json and DIR/ledger.jsonl, and writes DIR/report.html, DIR/report.json and DIR/registry.json. Facts that were \
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
    let report = report::read(&args.folder)?;
    let files = RunFiles::of(&args.folder);
    let page = (args.html.clone()).unwrap_or_else(|| files.page());
    report::write(&report, &page, &files.page_as_json())?;
    report::write_registry(&report, &files)?;
    if files.record().exists() {
        // Also those that an earlier version or a killed run left. A folder of something else is not ours.
        hide_times(&args.folder)?;
    }
    if args.json {
        println!("{:#}", report.json());
    } else {
        println!("{}", report.summary());
        println!("Written to {}", page.display());
    }
    Ok(())
}
