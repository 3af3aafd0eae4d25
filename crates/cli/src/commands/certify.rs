//! `tacita certify`: what the history of another library's run really costs.

use crate::exit_codes::NOT_PROVED;
use anyhow::{Result, anyhow};
use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;
use tacita_certify::{Batches, Claims, Divisor, Verdict, certify, read_file};

/// Arguments of `tacita certify`.
#[derive(Debug, clap::Args)]
#[command(
    allow_negative_numbers = true,
    after_help = "\
Reads the history of a run of Opacus, JAX Privacy, TF Privacy or Flower, as JSON or in the metadata of a safetensors \
file; tacita.export_history of the Python package writes one. Pickles are never opened.

Examples:
  tacita certify history.json --delta 1e-5 --reported 1.48
  echo '[[1.0, 0.01, 500]]' > steps.json && tacita certify steps.json --delta 1e-5 --batches shuffled

Ends with status 1 if the reported ε is false or not proved, or if nothing is private."
)]
pub struct Args {
    /// History: JSON, or safetensors with the JSON in its metadata
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// δ, unless the file has it
    #[arg(long, value_name = "D")]
    delta: Option<f64>,
    /// The ε that was reported, unless the file has it
    #[arg(long, value_name = "E")]
    reported: Option<f64>,
    /// How batches were really drawn: poisson, shuffled or unknown
    #[arg(long, value_name = "HOW")]
    batches: Option<Batches>,
    /// What gradients were divided by: declared, from-data or unknown
    #[arg(long, value_name = "WHAT")]
    divisor: Option<Divisor>,
    /// Print JSON instead of a statement
    #[arg(long)]
    json: bool,
}

/// Runs `tacita certify`.
pub fn run(args: &Args) -> Result<ExitCode> {
    let claims = Claims {
        epsilon: args.reported,
        delta: args.delta,
        batches: args.batches,
        divisor: args.divisor,
    };
    let named = |error| anyhow!("{}: {error}", args.file.display());
    let certificate = certify(&read_file(&args.file)?, &claims).map_err(named)?;
    let text = match args.json {
        true => format!("{}\n", certificate.to_json()),
        false => certificate.to_string(),
    };
    // A reader that went away takes nothing from it.
    let _ = std::io::stdout().write_all(text.as_bytes());
    Ok(match certificate.verdict {
        Verdict::False | Verdict::Unproved | Verdict::NotPrivate => ExitCode::from(NOT_PROVED),
        _ => ExitCode::SUCCESS,
    })
}
