//! `tacita audit`: the sealed canaries of a run, opened.

use crate::audit;
use crate::exit_codes::AUDIT_ALARM;
use crate::report::audit_facts::{AuditFacts, CAVEAT};
use crate::run_files::RunFiles;
use anyhow::Result;
use std::io::{IsTerminal, Write};
use std::path::PathBuf;
use std::process::ExitCode;
use tacita_accounting::decimal::{count, down, percent_up, up};

/// Arguments of `tacita audit`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
The run must have been trained with --audit N and have made its last step. Opening its canaries costs no privacy: only the \
released model is looked at. What they prove is written to DIR/audit.json, bound to the ledger, and into the report.

The exit code is 4 if the guarantee is refuted: an alarm, false in at most one of a million honest runs.

Examples:
  tacita train --audit 1000
  tacita audit runs/digits-1")]
pub struct Args {
    /// Folder of a finished run
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    /// Probability that no bound exceeds the truth
    #[arg(long, value_name = "P", default_value_t = audit::CONFIDENCE)]
    confidence: f64,
    /// Print the audit in JSON
    #[arg(long)]
    json: bool,
}

/// Runs `tacita audit`.
pub fn run(args: &Args) -> Result<ExitCode> {
    let audit = audit::open(&args.folder, args.confidence)?;
    let words = match args.json {
        true => format!("{:#}\n", serde_json::to_value(&audit)?),
        false => text(&audit, args, std::io::stdout().is_terminal()),
    };
    // The audit is written; a reader that went away takes nothing from it.
    let _ = std::io::stdout().write_all(words.as_bytes());
    Ok(match audit.alarm.raised {
        true => ExitCode::from(AUDIT_ALARM),
        false => ExitCode::SUCCESS,
    })
}

fn text(audit: &AuditFacts, args: &Args, colour: bool) -> String {
    let (inside, all) = audit.canaries();
    let mut lines = vec![
        format!("ε {}", audit.summary()),
        format!(
            "  canaries    {} of {} were in; the coins are those that the ledger sealed",
            count(inside as u64),
            count(all as u64)
        ),
        format!("  score       {}", audit.score),
    ];
    for bound in &audit.bounds {
        lines.push(format!(
            "  {:<11} ε ≥ {} from {} right of {} guesses",
            bound.method,
            down(bound.epsilon_lower, 3),
            count(bound.right),
            count(bound.guesses)
        ));
    }
    for point in &audit.attack {
        let proved = point
            .proved_upper
            .map(|upper| format!("; proved ≤ {}", percent_up(upper)));
        lines.push(format!(
            "  attack      at {} % false alarms it finds {:.1} % (band {:.1} % to {:.1} %){}",
            100.0 * point.false_alarms,
            100.0 * point.found,
            100.0 * point.found_from,
            100.0 * point.found_to,
            proved.unwrap_or_default()
        ));
    }
    lines.push(format!(
        "  estimate    ε ≈ {} of a Gaussian that fits; no bound",
        up(audit.epsilon_estimate, 3)
    ));
    let verdict = format!("  verdict     {}", audit.verdict());
    lines.push(match audit.alarm.raised && colour {
        true => format!("\u{1b}[1;31m{verdict}\u{1b}[0m"),
        false => verdict,
    });
    lines.push(format!("  note        {CAVEAT}"));
    lines.push(format!(
        "Written to {}",
        RunFiles::of(&args.folder).audit().display()
    ));
    lines.join("\n") + "\n"
}
