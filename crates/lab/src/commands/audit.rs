//! `tacita-lab audit`: how often audits of honest runs are wrong, and how much they find.

use crate::audit::{Honest, Power, Setting, honest, power};
use crate::reproduce::{commit, machine, today};
use anyhow::{Context, Result};
use serde::Serialize;
use std::fs;
use std::path::PathBuf;

/// Arguments of `tacita-lab audit`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Needs no data. Seeds are fixed, so the figures are the same every time.

Examples:
  tacita-lab audit --runs 20 --canaries 200
  tacita-lab audit --out crates/lab/results/audit.json")]
pub struct Args {
    /// Honest runs of each kind
    #[arg(long, value_name = "N", default_value_t = 500)]
    runs: u64,
    /// Canaries of each of these
    #[arg(long, value_name = "N", default_value_t = 400)]
    canaries: usize,
    /// Canaries of the runs that tell how much is found
    #[arg(long, value_name = "N", default_value_t = 4000)]
    many: usize,
    /// File for the figures, as JSON
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

#[derive(Serialize)]
struct Results {
    /// Where and when, and by which source.
    machine: String,
    date: String,
    commit: Option<String>,
    honest: Vec<Honest>,
    power: Vec<Power>,
}

/// Runs `tacita-lab audit`.
pub fn run(args: &Args) -> Result<()> {
    let kinds = |canaries| {
        [
            ("full batch", 1.0, 5),
            ("Poisson", 0.5, 10),
            ("Poisson", 0.1, 40),
        ]
        .map(|(sampling, rate, steps)| Setting {
            sampling,
            rate,
            steps,
            canaries,
        })
    };
    let mut results = Results {
        machine: machine(None),
        date: today(),
        commit: commit(),
        honest: Vec::new(),
        power: Vec::new(),
    };
    for setting in kinds(args.canaries) {
        results.honest.push(honest(setting, args.runs)?);
    }
    for setting in kinds(args.many) {
        results.power.push(power(setting, 7)?);
    }
    let text = format!("{}\n", serde_json::to_string_pretty(&results)?);
    print!("{text}");
    if let Some(out) = &args.out {
        fs::write(out, text).with_context(|| format!("cannot write {}", out.display()))?;
    }
    Ok(())
}
