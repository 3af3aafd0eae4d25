//! `tacita-lab bench`: what a private step costs beside a plain one, what an epoch costs, and how both
//! grow.

mod clock;
mod data_clock;
mod epoch;
mod measure;
mod on_disk;
mod scaling;
mod step;
mod synthetic;
mod table;
mod table_of_numbers;
mod units;
mod workload;

use anyhow::{Result, ensure};
use clap::{Subcommand, ValueEnum};
use measure::{Kind, Length, Setting};
use serde_json::Value;
use tacita::ops::Precision;
use tacita_cli::device::DeviceName;
use workload::Workload;

/// Arguments of `tacita-lab bench`.
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    /// Time and memory of a plain and of a private training step
    Step(StepArgs),
    /// Time of a private step whose units have several records beside one of as many records
    Units(units::UnitArgs),
    /// Time of one private epoch of MNIST, and how long it waits for data
    Epoch(epoch::EpochArgs),
    /// Time per step as the batch and the model grow
    Scaling(scaling::ScalingArgs),
    /// A step on records that are read from a disk, beside one on records in memory
    OnDisk(on_disk::OnDiskArgs),
}

impl Args {
    /// The worker threads asked for.
    pub fn threads(&self) -> Option<usize> {
        match &self.what {
            What::Step(args) => args.threads,
            What::Units(args) => args.threads,
            What::Epoch(args) => args.threads,
            What::Scaling(args) => args.threads,
            What::OnDisk(args) => args.threads,
        }
    }
}

/// Arguments of `tacita-lab bench step`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Plain steps (forward, backward, optimiser) and private steps (clipping, ledger and noise as well) are made in turn in \
one process, on the same model and data. Peak memory is that of a process of its own, less what it \
held before the model was made.

Examples:
  tacita-lab bench step --workload mlp --batch 512
  tacita-lab bench step --workload all --threads 1 --json
  tacita-lab bench step --workload cnn --batch 1024 --device cuda")]
struct StepArgs {
    /// cnn, mlp, embedding-mlp, lstm, autoencoder, transformer, resnet9, vgg11 or all
    #[arg(long, value_name = "NAME", value_parser = parse_workloads)]
    workload: Workloads,
    /// Records per step [default: the workload's usual one]
    #[arg(long, value_name = "B")]
    batch: Option<usize>,
    /// Timed steps of each kind, instead of seconds
    #[arg(long, value_name = "N", conflicts_with = "seconds")]
    steps: Option<u64>,
    /// Time steps for so long, from 5 to 200 of each kind
    #[arg(long, value_name = "S", default_value_t = 10.0)]
    seconds: f64,
    /// Worker threads [default: all cores]
    #[arg(long, value_name = "T")]
    threads: Option<usize>,
    /// cpu, cuda, cuda:1, ... or wgpu
    #[arg(long, value_name = "NAME", default_value = "cpu")]
    device: DeviceName,
    /// single, or mixed: products of both kinds of step in bf16 on a CUDA GPU
    #[arg(long, value_name = "NAME", default_value = "single")]
    precision: Precision,
    /// Also ask the second query of online clipping: the mean direction of clipped gradients
    #[arg(long)]
    query_directions: bool,
    /// Print JSON, one object per line
    #[arg(long)]
    json: bool,
    /// Make steps of one kind, 3 unless --steps is given, and print their peak memory
    #[arg(long, hide = true)]
    only: Option<Kind>,
}

#[derive(Debug, Clone)]
struct Workloads(Vec<Workload>);

fn parse_workloads(text: &str) -> Result<Workloads, String> {
    if text == "all" {
        return Ok(Workloads(Workload::ALL.to_vec()));
    }
    match Workload::from_str(text, false) {
        Ok(workload) => Ok(Workloads(vec![workload])),
        Err(_) => {
            let names = Workload::ALL.map(Workload::name).join(", ");
            Err(format!(
                "unknown workload {text}; known are {names} and all"
            ))
        }
    }
}

/// Runs `tacita-lab bench`.
pub fn run(args: &Args) -> Result<()> {
    match &args.what {
        What::Step(args) => run_step(args),
        What::Units(args) => units::run(args),
        What::Epoch(args) => epoch::run(args),
        What::Scaling(args) => scaling::run(args),
        What::OnDisk(args) => on_disk::run(args),
    }
}

fn run_step(args: &StepArgs) -> Result<()> {
    if let Some(batch) = args.batch {
        ensure!(batch > 0, "--batch must be at least 1, got {batch}");
    }
    if let Some(steps) = args.steps {
        ensure!(steps > 0, "--steps must be at least 1, got {steps}");
    }
    let seconds = args.seconds;
    ensure!(
        seconds >= 0.0 && seconds.is_finite(),
        "--seconds must be a finite number of at least 0, got {seconds}"
    );
    let device = args.device.open()?;
    let precision = args.precision;
    args.device.check_precision(precision)?;
    let settings = args.workload.0.iter().map(|&workload| Setting {
        workload,
        batch: args.batch.unwrap_or(workload.default_batch()),
        length: args.steps.map_or(Length::Seconds(seconds), Length::Steps),
        query_directions: args.query_directions,
        precision,
    });
    if !args.json && args.only.is_none() {
        println!("{}", table::HEADER);
    }
    for setting in settings {
        if let Some(kind) = args.only {
            measure::print_memory(setting, kind, &device)?;
            continue;
        }
        let measured = measure::measure(setting, args.threads, &device)?;
        if args.json {
            let object: Value = table::to_json(&measured, args.threads);
            println!("{object}");
        } else {
            println!("{}", table::line(&measured));
        }
    }
    Ok(())
}
