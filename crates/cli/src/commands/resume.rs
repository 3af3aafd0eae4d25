//! `tacita resume`: resumes a run that stopped or died.

use super::summary;
use crate::ranks;
use crate::run::{self, Locations, Output, Resumption, RunFolder};
use crate::tune;
use anyhow::{Result, ensure};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Arguments of `tacita resume`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
A private run takes fresh keys and continues after the last step its ledger holds: steps lost between the last \
checkpoint and a crash stay spent. With --seed, which is not private, they are made again, and the result is \
that of an unbroken run.

After `kill -9` or a power cut the run is taken over by itself on the same machine. Where other machines share the file \
system, and it cannot be seen that the process that had the run is dead, say so with --take-over.

A run folder holds the name of its data, not their path. The path is kept beside it, in DIR.operator.json; \
where that is missing, or the data have moved, say where they are.

Examples:
  tacita resume runs/digits-1
  tacita resume runs/patients-1 --data /data/patients.csv")]
pub struct Args {
    /// Folder of the run
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    /// Your own data, a file or a folder, if they have moved
    #[arg(long, value_name = "FILE")]
    data: Option<PathBuf>,
    /// Its test records, if they have moved
    #[arg(long, value_name = "FILE")]
    test: Option<PathBuf>,
    /// Folder of public data sets, if it has moved
    #[arg(long, value_name = "DIR")]
    data_dir: Option<PathBuf>,
    /// Read records from a copy of them on the disk, which lies in this folder or in the user's cache folder
    #[arg(
        long,
        value_name = "DIR",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "cache"
    )]
    on_disk: Option<PathBuf>,
    /// The initial weights, if they have moved and no step was made yet
    #[arg(long, value_name = "FILE")]
    start: Option<PathBuf>,
    /// The folder of the pre-trained model, if it has moved
    #[arg(long, value_name = "DIR")]
    pretrained: Option<PathBuf>,
    /// The account in which the run was reserved, if it has moved
    #[arg(long, value_name = "FILE")]
    account: Option<PathBuf>,
    /// The process that had the run is dead, on whatever machine it was: needed only where that cannot be seen
    #[arg(long)]
    take_over: bool,
    /// Print a summary in JSON
    #[arg(long)]
    json: bool,
    /// No progress bar and no words but the summary
    #[arg(long)]
    quiet: bool,
    /// Show how long it takes: NOT PRIVATE, since that depends on the true number of records
    #[arg(long)]
    timing: bool,
}

/// Runs `tacita resume`.
pub fn run(args: &Args) -> Result<ExitCode> {
    let output = Output {
        quiet: args.quiet,
        timing: args.timing,
    };
    let given = Locations {
        data: args.data.clone(),
        test: args.test.clone(),
        data_dir: args.data_dir.clone(),
        on_disk: args.on_disk.clone(),
        start: args.start.clone(),
        pretrained: args.pretrained.clone(),
        account: args.account.clone(),
        ..Locations::default()
    };
    let resumption = Resumption {
        given,
        take_over: args.take_over,
    };
    ranks::run(args.timing, |ranks| {
        ranks::on_first(&**ranks, || check(&args.folder))?;
        let outcome = run::resume_over(ranks, &args.folder, resumption, output)?;
        // The first rank speaks for all.
        Ok(outcome.map_or(ExitCode::SUCCESS, |outcome| {
            summary::print(&outcome, args.json, output)
        }))
    })
}

/// Refuses runs of a search: their own ε does not pay for it.
fn check(folder: &Path) -> Result<()> {
    tune::refuse_secret(folder)?;
    let (_, record) = RunFolder::open(folder)?;
    ensure!(
        record.search.is_none(),
        "{} is a run of a search, whose guarantee covers all its runs together; resume the search by its \
         `tacita tune` command. Nothing was spent",
        folder.display()
    );
    Ok(())
}
