//! The command `tacita` as a library: from settings to a private run, and from a run to its report.
//!
//! ```text
//! commands ──▶ tune ──▶ run ──▶ report ──▶ plot
//!                        │        ├─────▶ utility
//!                        ├────▶ models   └──▶ run_files, files
//!                        └────▶ data sets, a crate of their own
//! ```
//!
//! | module | what it holds |
//! |---|---|
//! | [`commands`] | one file for each subcommand: arguments, help and what is printed |
//! | [`run`] | a training run: settings, public facts, the planned run, the run folder, its outcome |
//! | [`tune`] | a private search whose budget covers all its runs |
//! | [`audit`] | attacks on a finished run: its sealed canaries |
//! | [`report`] | the privacy report of a run folder, as HTML and JSON |
//! | [`utility`] | how good a model is: figures, exact or from noisy tables with error bands |
//! | [`models`] | the models that can be named, made of private layers |
//! | [`run_files`], [`files`] | names of the files of a run; files written whole, kept through a crash, or locked |
//! | `onnx` | a trained model as an ONNX file |
//! | [`plot`] | charts as SVG |
//! | `accounts`, `date`, `version` | where the accounts of data sets lie; days; which program this is |
//! | [`ranks`] | several processes that train together, started by MPI |
//! | [`device`], [`memory`] | the CPU or a GPU by name; what the process uses of memory |
//! | [`exit_codes`] | what the program tells the shell |
//!
//! Privacy rests on the crates [`tacita`] and [`tacita_accounting`]; this one chooses what they are asked to do,
//! writes down what they released, and says what it costs. Nothing it prints is NOT PRIVATE by design except what
//! `tacita check` and `tacita schema --look-at-values` print, which say so. Experiments on public data are in the crate `tacita-lab`.
//!
//! # Example
//! A run from settings, as `tacita train` makes it:
//! ```
//! use tacita_cli::run::{self, Output, RunFolder, Settings};
//!
//! let settings = Settings::parse("data = 'digits'\nmodel = 'logistic'\nepsilon = 8.0\nsteps = 5")?;
//! let folder = std::env::temp_dir().join(format!("tacita-example-{}", std::process::id()));
//! let outcome = run::train(settings, Some(&folder), None, Output::NONE)?;
//! assert_eq!(outcome.steps, 5);
//!
//! // All that may be published is in the folder, the report among it.
//! let report = tacita_cli::report::read(&folder)?;
//! assert!(report.summary().contains("ε ≤"));
//! # RunFolder::open(&folder)?.0.remove();
//! # Ok::<(), anyhow::Error>(())
//! ```

mod accounts;
pub mod audit;
pub mod commands;
mod date;
pub mod device;
pub mod exit_codes;
pub mod files;
pub mod memory;
pub mod models;
mod onnx;
pub mod plot;
pub mod pretrained;
pub mod ranks;
pub mod report;
pub mod run;
pub mod run_files;
#[cfg(test)]
mod testkit;
pub mod tune;
pub mod utility;
mod version;

use anyhow::Context;
use clap::{CommandFactory, Parser, Subcommand};
use exit_codes::BAD_INPUT;
use std::process::ExitCode;

/// Differentially private deep learning.
#[derive(Parser)]
#[command(name = "tacita", version, propagate_version = true)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Train a model privately, on a public data set or your own.
    Train(Box<commands::train::Args>),
    /// List records of your own data that cannot be used: NOT PRIVATE, for your screen only.
    Check(Box<commands::check::Args>),
    /// Resume a run that stopped or died.
    Resume(commands::resume::Args),
    /// Write the beginning of a schema for a table, without looking at a value.
    Schema(commands::schema::Args),
    /// What a trained model says of new input.
    Predict(commands::predict::Args),
    /// Text from a decoder, with a trained adapter or without.
    Generate(commands::generate::Args),
    /// A trained model in the format of other programs.
    Export(commands::export::Args),
    /// What a plan or a run's ledger costs: ε at a δ, with proof.
    Account(commands::account::Args),
    /// The least noise that keeps a budget, or what fits into it.
    Calibrate(commands::calibrate::Args),
    /// Accounts: one total for all runs on the same records.
    Budget(commands::budget::Args),
    /// The privacy report of a run: one HTML page, and JSON.
    Report(commands::report::Args),
    /// Open the sealed canaries of a run: what they prove about ε, from below.
    Audit(commands::audit::Args),
    /// Membership inference without canaries: an indication, NOT PRIVATE.
    Attack(commands::attack::Args),
    /// State what the run of another library really costs, beside the ε it reported.
    Certify(commands::certify::Args),
    /// Search for settings privately: the budget covers the whole search.
    Tune(commands::tune::Args),
    /// Completions of commands and flags for a shell.
    Completions(commands::completions::Args),
    /// Manual pages.
    Man(commands::man::Args),
}

/// As much stack as a main thread has.
const STACK_BYTES: usize = 8 << 20;

/// The whole program: reads the arguments of the process and runs the command.
pub fn main() -> ExitCode {
    let command = Cli::parse().command;
    let status = match command {
        // Its runs have threads of their own. While it waits for them it must not be one of the workers they
        // wait for, of which there may be one.
        Command::Tune(args) => start_workers(None).and_then(|()| commands::tune::run(&args)),
        command => in_workers(None, || run(command)),
    };
    ended(status)
}

/// The status of a program, with the reason if it failed.
pub fn ended(status: anyhow::Result<ExitCode>) -> ExitCode {
    status.unwrap_or_else(|error| {
        eprintln!("error: {error:#}");
        ExitCode::from(BAD_INPUT)
    })
}

/// Does something on one of so many worker threads, or as many as there are cores. From outside their pool every
/// parallel loop would wake a worker and put this thread to sleep, some hundred times in a training step.
pub fn in_workers<T: Send>(
    threads: Option<usize>,
    work: impl FnOnce() -> anyhow::Result<T> + Send,
) -> anyhow::Result<T> {
    start_workers(threads)?;
    rayon::scope(|_| work())
}

fn start_workers(threads: Option<usize>) -> anyhow::Result<()> {
    anyhow::ensure!(threads != Some(0), "--threads must be at least 1, got 0");
    rayon::ThreadPoolBuilder::new()
        // 0 is as many as there are cores.
        .num_threads(threads.unwrap_or(0))
        .stack_size(STACK_BYTES)
        .build_global()
        .context("cannot start the worker threads")
}

fn run(command: Command) -> anyhow::Result<ExitCode> {
    let done = |result: anyhow::Result<()>| result.map(|()| ExitCode::SUCCESS);
    match command {
        Command::Train(args) => commands::train::run(&args),
        Command::Check(args) => done(commands::check::run(&args)),
        Command::Resume(args) => commands::resume::run(&args),
        Command::Schema(args) => done(commands::schema::run(&args)),
        Command::Predict(args) => commands::predict::run(&args),
        Command::Generate(args) => done(commands::generate::run(&args)),
        Command::Export(args) => done(commands::export::run(&args)),
        Command::Completions(args) => {
            commands::completions::run(&args, Cli::command());
            Ok(ExitCode::SUCCESS)
        }
        Command::Man(args) => done(commands::man::run(&args, Cli::command())),
        Command::Report(args) => done(commands::report::run(&args)),
        Command::Attack(args) => done(commands::attack::run(&args)),
        Command::Audit(args) => commands::audit::run(&args),
        Command::Account(args) => done(commands::account::run(&args)),
        Command::Certify(args) => commands::certify::run(&args),
        Command::Calibrate(args) => done(commands::calibrate::run(&args)),
        Command::Budget(args) => done(commands::budget::run(&args)),
        Command::Tune(args) => commands::tune::run(&args),
    }
}
