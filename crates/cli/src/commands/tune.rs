//! `tacita tune`: a search for settings whose budget covers the whole search.

use crate::device::DeviceName;
use crate::exit_codes::STOPPED;
use crate::ranks;
use crate::run::{Output, show_hints};

use crate::tune;
use anyhow::{Context, Result};
use std::path::PathBuf;
use std::process::ExitCode;

/// Arguments of `tacita tune`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
SPACE.toml names what all runs share, and lists of values for what varies:

  mode = \"grid\"                    # or \"random\": only the best run is published, for far less noise
  choose-by = \"public-validation\"  # or \"noisy-count\" (private records) or \"test-set\" (marked)

  [settings]                       # as for `tacita train`; epsilon and delta are for the whole search
  csv = \"patients.csv\"
  epsilon = 3.0

  [grid]                           # [random] in a random search
  learning-rate = [0.1, 0.5, 1.0]
  clipping = [\"auto\", \"abadi:1\"]

  [runs]                           # of a random search
  distribution = \"logarithmic\"     # or \"geometric\" or \"poisson\"
  mean = 10

The same command resumes a search that stopped or died.

Examples:
  tacita tune space.toml --dry-run
  tacita tune space.toml --out searches/patients
  tacita tune space.toml --out searches/patients --json")]
pub struct Args {
    /// The search space (TOML)
    #[arg(value_name = "SPACE")]
    space: PathBuf,
    /// Folder of the search; an unfinished search in it is resumed
    #[arg(long, value_name = "DIR", required_unless_present = "dry_run")]
    out: Option<PathBuf>,
    /// Print the certified guarantee and the noise of every candidate; make nothing
    #[arg(long, conflicts_with_all = ["out", "json"])]
    dry_run: bool,
    /// cpu, cuda, cuda:1, ... or wgpu, for all runs [default: that of the space, or cpu]
    #[arg(long, value_name = "NAME")]
    device: Option<DeviceName>,
    /// Print the report in JSON
    #[arg(long)]
    json: bool,
    /// No words but the report
    #[arg(long)]
    quiet: bool,
}

/// Runs `tacita tune`.
pub fn run(args: &Args) -> Result<ExitCode> {
    ranks::refuse_several("tacita tune")?;
    let shown = args.space.display();
    let text = std::fs::read_to_string(&args.space)
        .with_context(|| format!("cannot read the search space {shown}"))?;
    show_hints(&shown, &text);
    let output = Output {
        quiet: args.quiet,
        timing: false,
    };
    let device = args.device;
    let Some(out) = &args.out else {
        let preview = tune::preview(&text, device, output);
        print!("{}", preview.with_context(|| format!("{shown}"))?);
        return Ok(ExitCode::SUCCESS);
    };
    let found = tune::search(&text, out, device, output).with_context(|| format!("{shown}"))?;
    match found {
        None => {
            eprintln!("Stopped. Resume by the same command; finished runs are not repeated.");
            return Ok(ExitCode::from(STOPPED));
        }
        Some(found) if args.json => println!("{:#}", serde_json::to_value(&found)?),
        Some(found) => print!("{}", found.text(out)),
    }
    Ok(ExitCode::SUCCESS)
}
