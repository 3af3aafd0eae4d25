//! `tacita attack`: membership inference on a finished model without canaries.

use crate::audit::{self, Indication};
use crate::files::write_private;
use crate::run::Locations;
use anyhow::{Result, ensure};
use std::path::{Path, PathBuf};

/// Arguments of `tacita attack`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Ranks the records that were trained on and the public test records of the run by how well the model knows them, by loss and \
by a likelihood score that needs no other models. If members come first, the model betrays them.

What is printed comes from private records without noise: it is NOT PRIVATE. It is an indication and no audit, since no coin \
decided who is a member; for bounds that hold, train with --audit and use `tacita audit`.

Examples:
  tacita attack runs/digits-1
  tacita attack runs/patients-1 --data patients.csv --out /secure/patients-attack.json")]
pub struct Args {
    /// Folder of a finished run with public test records
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    /// Where the data of the run lie now, if they were moved
    #[arg(long, value_name = "FILE")]
    data: Option<PathBuf>,
    /// Where its test records lie now, if they were moved
    #[arg(long, value_name = "FILE")]
    test: Option<PathBuf>,
    /// Write the curves here, outside the folder of the run; the file must not exist
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

/// Runs `tacita attack`.
pub fn run(args: &Args) -> Result<()> {
    if let Some(out) = &args.out {
        check_outside(out, &args.folder)?;
    }
    let given = Locations {
        data: args.data.clone(),
        test: args.test.clone(),
        ..Locations::default()
    };
    let found = audit::indicate(&args.folder, given)?;
    print!("{}", text(&found));
    if let Some(out) = &args.out {
        let json = format!("{:#}\n", serde_json::to_value(&found)?);
        write_private(out, json.as_bytes())?;
        println!("Written to {}", out.display());
    }
    Ok(())
}

/// The folder of a run may be published, and this may not.
fn check_outside(out: &Path, folder: &Path) -> Result<()> {
    let parent = std::path::absolute(out)?;
    let parent = parent.parent().unwrap_or(Path::new("/"));
    let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_path_buf());
    ensure!(
        !real(parent).starts_with(real(folder)),
        "{} lies in the folder of the run, which may be published; the curves of an attack on private records are NOT \
         PRIVATE. Give --out a file elsewhere",
        out.display()
    );
    ensure!(!out.exists(), "{} exists already", out.display());
    Ok(())
}

fn text(found: &Indication) -> String {
    let mut lines = vec![format!("{}.", found.warning)];
    for attack in &found.attacks {
        lines.push(format!(
            "  {:<11} a member is ranked before an outsider {:.1} % of the time (guessing: 50 %); μ ≈ {:.2}",
            attack.score,
            100.0 * attack.area,
            attack.mu_estimate
        ));
        lines.extend(attack.at.iter().map(|point| {
            format!(
                "              at {} % false alarms it finds {:.2} % of the members (95 % band: {:.2} % to {:.2} %)",
                100.0 * point.false_alarms,
                100.0 * point.found,
                100.0 * point.found_from,
                100.0 * point.found_to
            )
        }));
    }
    lines.join("\n") + "\n"
}
