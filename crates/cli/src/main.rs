//! The command `tacita`.

mod commands;
mod datasets;
mod figures;
mod models;
mod number;
mod plot;
mod random;
mod report;
mod reproduce;
mod run;
mod theory;
mod tune;

use anyhow::Context;
use clap::{Parser, Subcommand};
use std::process::ExitCode;

/// Steps allocate and free large tensors; this allocator keeps the pages.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

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
    /// What a trained model says of new input.
    Predict(commands::predict::Args),
    /// What a plan or a run's ledger costs: ε at a δ, with proof.
    Account(commands::account::Args),
    /// The least noise that keeps a budget, or what fits into it.
    Calibrate(commands::calibrate::Args),
    /// The privacy report of a run: one HTML page, and JSON.
    Report(commands::report::Args),
    /// Draw what the papers prove about their policies, as SVG.
    Figures(commands::figures::Args),
    /// Search for settings privately: the budget covers the whole search.
    Tune(commands::tune::Args),
    /// Reproduce a paper's table: its number beside ours.
    Reproduce(commands::reproduce::Args),
    /// What a private training step costs beside a plain one.
    Bench(commands::bench::Args),
}

/// The status for bad input, which is also what clap uses for bad arguments.
const BAD_INPUT: u8 = 2;

/// As much stack as a main thread has.
const STACK_BYTES: usize = 8 << 20;

fn main() -> ExitCode {
    let command = Cli::parse().command;
    match in_pool(command) {
        Ok(status) => status,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::from(BAD_INPUT)
        }
    }
}

/// Runs the command on one of the worker threads. From outside their pool every parallel loop would wake
/// a worker and put this thread to sleep, some hundred times in a training step.
fn in_pool(command: Command) -> anyhow::Result<ExitCode> {
    let threads = match &command {
        Command::Bench(args) => args.threads(),
        _ => None,
    };
    anyhow::ensure!(threads != Some(0), "--threads must be at least 1, got 0");
    rayon::ThreadPoolBuilder::new()
        // 0 is as many as there are cores.
        .num_threads(threads.unwrap_or(0))
        .stack_size(STACK_BYTES)
        .build_global()
        .context("cannot start the worker threads")?;
    match command {
        // Its runs have threads of their own. While it waits for them it must not be one of the workers they
        // wait for, of which there may be one.
        Command::Tune(args) => commands::tune::run(&args),
        command => rayon::scope(|_| run(command)),
    }
}

fn run(command: Command) -> anyhow::Result<ExitCode> {
    let done = |result: anyhow::Result<()>| result.map(|()| ExitCode::SUCCESS);
    match command {
        Command::Train(args) => commands::train::run(&args),
        Command::Check(args) => done(commands::check::run(&args)),
        Command::Resume(args) => commands::resume::run(&args),
        Command::Predict(args) => done(commands::predict::run(&args)),
        Command::Report(args) => done(commands::report::run(&args)),
        Command::Figures(args) => done(commands::figures::run(&args)),
        Command::Bench(args) => done(commands::bench::run(&args)),
        Command::Account(args) => done(commands::account::run(&args)),
        Command::Calibrate(args) => done(commands::calibrate::run(&args)),
        Command::Tune(args) => commands::tune::run(&args),
        Command::Reproduce(args) => done(commands::reproduce::run(&args)),
    }
}
