//! `tacita man`: manual pages.

use anyhow::{Context, Result};
use clap::Command;
use std::fs;
use std::path::PathBuf;

/// Arguments of `tacita man`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  tacita man --out ~/.local/share/man/man1")]
pub struct Args {
    /// Folder to write tacita.1, tacita-train.1, ... to
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
}

/// Runs `tacita man`.
pub fn run(args: &Args, command: Command) -> Result<()> {
    let out = &args.out;
    fs::create_dir_all(out).with_context(|| format!("cannot make {}", out.display()))?;
    clap_mangen::generate_to(command, out)
        .with_context(|| format!("cannot write manual pages to {}", out.display()))?;
    println!("Written to {}", out.display());
    Ok(())
}
