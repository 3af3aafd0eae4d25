//! `tacita-lab figures`: the figures of the book, drawn from the formulas of the papers.

use crate::figures::FIGURES;
use anyhow::{Context, Result, bail};
use std::fs;
use std::path::PathBuf;
use tacita_cli::plot::render;

/// Arguments of `tacita-lab figures`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Needs no data and draws no random numbers: the files are the same every time.

Examples:
  tacita-lab figures --list
  tacita-lab figures --out docs/src/reference/figures
  tacita-lab figures --out . lazy-regions noise-frontier")]
pub struct Args {
    /// Folder for the SVG files; made if it is not there
    #[arg(long, value_name = "DIR", required_unless_present = "list")]
    out: Option<PathBuf>,
    /// Show the names of the figures
    #[arg(long)]
    list: bool,
    /// Which ones to draw; all if none is named
    #[arg(value_name = "NAME")]
    names: Vec<String>,
}

/// Runs `tacita-lab figures`.
pub fn run(args: &Args) -> Result<()> {
    for name in &args.names {
        if !FIGURES.iter().any(|figure| figure.name == name) {
            let known: Vec<&str> = FIGURES.iter().map(|figure| figure.name).collect();
            bail!(
                "there is no figure `{name}`; there are {}",
                known.join(", ")
            );
        }
    }
    let wanted = FIGURES.iter().filter(|figure| {
        args.names.is_empty() || args.names.iter().any(|name| name == figure.name)
    });
    if args.list {
        for figure in wanted {
            println!("{:<22}{}", figure.name, figure.about);
        }
        return Ok(());
    }
    let Some(folder) = &args.out else {
        return Ok(());
    };
    fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
    for figure in wanted {
        let path = folder.join(figure.name).with_extension("svg");
        let charts = (figure.charts)().with_context(|| figure.name.to_string())?;
        fs::write(&path, render(&charts))
            .with_context(|| format!("cannot write {}", path.display()))?;
        println!("{}", path.display());
    }
    Ok(())
}
