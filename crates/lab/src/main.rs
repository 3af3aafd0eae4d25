//! The command `tacita-lab`: research beside the product.
//!
//! It reproduces the papers' tables, draws what they prove, and times private steps beside plain ones. Seeds are
//! fixed, raw quantities are looked at and models are trained without privacy, so **nothing here is private**: it is
//! for public data only. It uses `tacita-cli` as a library for everything that a private run does as well.

mod audit;
mod bench;
mod commands;
mod diagnose;
mod figures;
mod plain;
mod reproduce;
mod theory;

use clap::{Parser, Subcommand};
use std::process::ExitCode;

/// Steps allocate and free large tensors; this allocator keeps the pages.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Experiments with differentially private deep learning, on public data: NOT PRIVATE.
#[derive(Parser)]
#[command(name = "tacita-lab", version, propagate_version = true)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Reproduce a paper's table: its number beside ours.
    Reproduce(commands::reproduce::Args),
    /// Draw what the papers prove about their policies, as SVG.
    Figures(commands::figures::Args),
    /// How often audits of honest runs are wrong, and how much they find.
    Audit(commands::audit::Args),
    /// What a private training step costs beside a plain one.
    Bench(bench::Args),
}

fn main() -> ExitCode {
    let command = Cli::parse().command;
    let threads = match &command {
        Command::Bench(args) => args.threads(),
        _ => None,
    };
    let done = tacita_cli::in_workers(threads, || match command {
        Command::Reproduce(args) => commands::reproduce::run(&args),
        Command::Figures(args) => commands::figures::run(&args),
        Command::Audit(args) => commands::audit::run(&args),
        Command::Bench(args) => bench::run(&args),
    });
    tacita_cli::ended(done.map(|()| ExitCode::SUCCESS))
}
