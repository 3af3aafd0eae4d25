//! What a run gave, on the terminal.

use crate::exit_codes::STOPPED;
use crate::report::facts::Evaluation;
use crate::run::{Outcome, Output, initial_weights};
use crate::run_files::RunFiles;
use crate::utility;
use serde_json::{Value, json};
use std::io::Write;
use std::process::ExitCode;

/// Prints what a run gave.
pub fn print(outcome: &Outcome, as_json: bool, output: Output) -> ExitCode {
    if output.timing {
        eprintln!(
            "NOT PRIVATE: training took {:.1} s, which depends on the true number of records; do not publish it",
            outcome.seconds
        );
    }
    let words = if as_json {
        format!("{}\n", summary(outcome))
    } else {
        text(outcome)
    };
    // The run is written; a reader that went away takes nothing from it.
    let _ = std::io::stdout().write_all(words.as_bytes());
    match outcome.spent {
        Some(_) => ExitCode::from(STOPPED),
        None => ExitCode::SUCCESS,
    }
}

fn summary(outcome: &Outcome) -> Value {
    let accuracy = outcome
        .evaluation
        .as_ref()
        .map(|evaluation| match evaluation {
            Evaluation::PublicTest { accuracy, .. } | Evaluation::NoisyCount { accuracy, .. } => {
                *accuracy
            }
        });
    let report = &outcome.report;
    let mut summary = json!({
        "accuracy": accuracy,
        "utility": outcome.utility,
        "squared_error": outcome.squared_error,
        "private": report.private,
        "epsilon": { "lower": report.epsilon_lower, "upper": report.epsilon_upper },
        "delta": report.delta,
        "steps": outcome.steps,
        "planned_steps": report.steps,
        "noise_multiplier": report.noise_multipliers[0],
        "folder": outcome.folder,
    });
    if let Some(start) = &outcome.start {
        summary["start"] = json!(start);
    }
    summary
}

fn text(outcome: &Outcome) -> String {
    let mut lines = Vec::new();
    if let Some(spent) = outcome.spent {
        lines.push(format!(
            "Stopped after {} of {} steps, which cost ε ≈ {spent:.2}. The guarantee is that of the whole plan, \
             below. Resume it by: tacita resume {}\n",
            outcome.steps,
            outcome.report.steps,
            outcome.folder.display()
        ));
    }
    match (&outcome.utility, &outcome.evaluation, outcome.squared_error) {
        (Some(utility), _, _) => lines.extend(utility::words::lines(utility)),
        // Of a run that an earlier version scored.
        (None, Some(Evaluation::NoisyCount { accuracy, .. }), _) => {
            lines.push(format!("Accuracy {:.1} % (noisy)", 100.0 * accuracy));
        }
        (None, _, Some(error)) => lines.push(format!(
            "Mean squared error {error:.5} on public test records"
        )),
        (None, _, None) => lines.push("Trained".into()),
    }
    lines.push(format!("\n{}", outcome.report));
    if outcome.start.is_some() {
        lines.push(format!("{}\n", initial_weights::CAVEAT));
    }
    let path = &outcome.folder;
    lines.push(format!("Written to {}", path.display()));
    for (name, what) in [
        (
            RunFiles::PAGE,
            "the privacy report, to read, print and sign",
        ),
        (RunFiles::MODEL, "the model"),
        (
            RunFiles::LEDGER,
            "every release, recorded before it was made",
        ),
        (
            RunFiles::SETTINGS,
            "every setting; others: run.json, facts.json, metrics.jsonl",
        ),
    ] {
        lines.push(format!("  {name:<18}{what}"));
    }
    lines.join("\n") + "\n"
}
