//! `tacita train`: from data to a model with a certified guarantee.

use super::{dry_run, summary};
use crate::ranks;
use crate::run::{self, Output, Settings};
use anyhow::Result;
use std::path::PathBuf;
use std::process::ExitCode;

/// Arguments of `tacita train`.
#[derive(Debug, clap::Args)]
#[command(
    allow_negative_numbers = true,
    after_help = "\
Without arguments, trains on 3,823 images of handwritten digits (UCI, CC BY 4.0) as if they were private, and \
tests on 1,797 public ones by other writers.

Examples:
  tacita train
  tacita train --data fashion-mnist --epsilon 3 --epochs 30
  tacita train --data mnist --clipping online --rate-schedule online --optimizer sgd --learning-rate 1
  tacita train --data mnist --clipping abadi:1.5 --threshold-decay 2 --growing-mu 2 --optimizer sgd
  tacita train --csv patients.csv --data-name patients --label outcome --schema patients.toml --records 5000
  tacita train --data fashion-mnist --preset best --epsilon 1
  tacita train run.toml --dry-run"
)]
pub struct Args {
    /// Settings in TOML, with the names of the flags; flags take precedence
    #[arg(value_name = "FILE")]
    file: Option<PathBuf>,
    #[command(flatten)]
    settings: Settings,
    /// Folder to make for the run [default: the first free one of runs/NAME-1, -2, ...]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Print the plan, its certified ε, and an estimate of time and memory; touch no data
    #[arg(long)]
    dry_run: bool,
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

/// Runs `tacita train`.
pub fn run(args: &Args) -> Result<ExitCode> {
    let settings = match &args.file {
        Some(path) => args.settings.clone().over(Settings::read(path)?),
        None => args.settings.clone(),
    };
    let output = Output {
        quiet: args.quiet,
        timing: args.timing,
    };
    ranks::run(args.timing, |ranks| {
        if args.dry_run {
            ranks::on_first(&**ranks, || {
                dry_run::print(&run::dry_run(settings)?, args.json);
                Ok(())
            })?;
            return Ok(ExitCode::SUCCESS);
        }
        let outcome = run::train_over(ranks, settings, args.out.as_deref(), None, output)?;
        // The first rank speaks for all.
        Ok(outcome.map_or(ExitCode::SUCCESS, |outcome| {
            summary::print(&outcome, args.json, output)
        }))
    })
}
