//! `tacita resume`: goes on with a run that stopped or died.

use super::train;
use crate::run::{self, Output, RunFolder};
use crate::tune;
use anyhow::{Result, ensure};
use std::path::PathBuf;
use std::process::ExitCode;

/// Arguments of `tacita resume`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
A private run takes fresh keys and goes on after the last step its ledger holds: steps lost between the last \
checkpoint and a crash stay spent. With --seed, which is not private, they are made again, and the result is \
that of an unbroken run.

Example:
  tacita resume runs/digits-1")]
pub struct Args {
    /// Folder of the run
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    /// Print a summary in JSON
    #[arg(long)]
    json: bool,
    /// No progress bar and no words but the summary
    #[arg(long)]
    quiet: bool,
}

/// Runs `tacita resume`.
pub fn run(args: &Args) -> Result<ExitCode> {
    tune::refuse_secret(&args.folder)?;
    let (_, record) = RunFolder::open(&args.folder)?;
    // Its own ε does not pay for the search.
    ensure!(
        record.search.is_none(),
        "{} is a run of a search, whose guarantee covers all its runs together; go on with the search by its \
         `tacita tune` command. Nothing was spent",
        args.folder.display()
    );
    let output = Output { quiet: args.quiet };
    let outcome = run::resume(&args.folder, output)?;
    Ok(train::finish(&outcome, args.json))
}
