//! `tacita train`: from data to a model with a certified guarantee.

use crate::datasets::{self, Shape, Source};
use crate::number::{count, up};
use crate::report::facts::Evaluation;
use crate::run::{
    self, Outcome, Output, PublicFacts, PublicStart, Resolved, Settings, public_start,
};
use anyhow::{Context, Result};
use serde_json::{Value, json};
use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

/// Arguments of `tacita train`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Without arguments, trains on 3,823 images of handwritten digits (UCI, CC BY 4.0) as if they were private, and \
tests on 1,797 public ones by other writers.

Examples:
  tacita train
  tacita train --data fashion-mnist --epsilon 3 --epochs 30
  tacita train --data mnist --clipping online --rate-schedule online --optimizer sgd --learning-rate 1
  tacita train --data mnist --clipping abadi:1.5 --threshold-decay 2 --growing-mu 2 --optimizer sgd
  tacita train --csv patients.csv --data-name patients --label outcome --schema patients.toml --records 5000
  tacita train --data fashion-mnist --preset best --epsilon 1
  tacita train run.toml --dry-run")]
pub struct Args {
    /// Settings in TOML, with the names of the flags; flags count more
    #[arg(value_name = "FILE")]
    file: Option<PathBuf>,
    #[command(flatten)]
    settings: Settings,
    /// Folder to make for the run [default: the first free one of runs/NAME-1, -2, ...]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Print the plan, its certified ε, and an estimate of time and memory; touch no data
    #[arg(long)]
    dry_run: bool,
    /// Print a summary in JSON
    #[arg(long)]
    json: bool,
    /// No progress bar and no words but the summary
    #[arg(long)]
    quiet: bool,
    /// Show how long it takes: NOT PRIVATE, since that depends on the true number of records
    #[arg(long)]
    timing: bool,
}

/// Runs `tacita train`.
pub fn run(args: &Args) -> Result<ExitCode> {
    let settings = match &args.file {
        Some(path) => args.settings.clone().over(Settings::read(path)?),
        None => args.settings.clone(),
    };
    let settings = with_set_named(settings).with_preset()?;
    if args.dry_run {
        dry_run(settings, args.json)?;
        return Ok(ExitCode::SUCCESS);
    }
    let output = Output {
        quiet: args.quiet,
        timing: args.timing,
    };
    let outcome = run::start(settings, args.out.as_deref(), None, output)?;
    Ok(finish(&outcome, args.json, output))
}

/// Names the default data set, so that it stands in the run folder.
fn with_set_named(mut settings: Settings) -> Settings {
    if let Ok(Source::Builtin(set)) = settings.source() {
        settings.data = Some(set);
    }
    settings
}

/// The status of a run that Ctrl-C stopped, as of any program it stops.
pub const STOPPED: u8 = 130;

/// Prints what a run gave.
pub fn finish(outcome: &Outcome, as_json: bool, output: Output) -> ExitCode {
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
    match &outcome.evaluation {
        Some(Evaluation::PublicTest {
            accuracy,
            records,
            on,
            ..
        }) => lines.push(format!(
            "Accuracy {:.1} % on {} {on}",
            100.0 * accuracy,
            count(*records)
        )),
        Some(Evaluation::NoisyCount {
            accuracy,
            noise_std,
            ..
        }) => lines.push(format!(
            "Accuracy {:.1} % ± {:.1} % (noise) on private test records, part of the budget",
            100.0 * accuracy,
            100.0 * noise_std
        )),
        None => lines.push(match outcome.squared_error {
            Some(error) => format!("Mean squared error {error:.5} on public test records"),
            None => "Trained".to_string(),
        }),
    }
    lines.push(format!("\n{}", outcome.report));
    if outcome.start.is_some() {
        lines.push(format!("{}\n", public_start::CAVEAT));
    }
    let path = &outcome.folder;
    lines.push(format!("Written to {}", path.display()));
    for (name, what) in [
        ("report.html", "the privacy report, to read, print and sign"),
        ("model.safetensors", "the model"),
        ("ledger.jsonl", "every release, recorded before it was made"),
        (
            "config.toml",
            "every setting; others: run.json, facts.json, metrics.jsonl",
        ),
    ] {
        lines.push(format!("  {name:<18}{what}"));
    }
    lines.join("\n") + "\n"
}

/// Says what would be done, from public knowledge alone.
fn dry_run(settings: Settings, as_json: bool) -> Result<()> {
    let source = settings.source()?;
    let own_test = settings.test.is_some() || settings.test_share.is_some();
    let (public, input, name) = match &source {
        Source::Builtin(set) => {
            let known = run::known(*set);
            let public = PublicFacts {
                records: known.records,
                shape: run::known_shape(*set, &settings)?,
                classes: known.classes,
                estimates_bounds: false,
                private_test: false,
                public_test: true,
            };
            (
                public,
                Some((public.shape, known.classes)),
                set.name().to_string(),
            )
        }
        _ => {
            let options = settings.options(true)?;
            let records = options.schema.records.context(
                "a dry run opens no file, so say how many records there are with --records N",
            )?;
            let (shape, classes) = datasets::declared(&source, &options)?;
            let kept = 1.0 - settings.test_share.unwrap_or(0.0);
            let public = PublicFacts {
                records: (records as f64 * kept).round() as u64,
                // Where nothing is declared it only chooses between models by name.
                shape: shape.unwrap_or(Shape::Rows { width: 1 }),
                classes: classes.unwrap_or(2),
                estimates_bounds: settings.estimate_bounds,
                private_test: own_test && !settings.public_test,
                public_test: own_test && settings.public_test,
            };
            let name = settings.clone().with_data_name()?.data_name;
            (public, shape.zip(classes), name.unwrap_or_default())
        }
    };
    let resolved = Resolved::new(settings.complete()?, public, None)?;
    let weights = PublicStart::read(&resolved.settings)?;
    let start = match input {
        Some(_) => run::check_model(&resolved.settings, public, weights.as_ref())?,
        None => None,
    };
    let estimate = input
        .map(|(_, classes)| run::estimate(&resolved, classes))
        .transpose()?;
    let plan = &resolved.plan;
    let seconds = estimate.map(|estimate| estimate.step_seconds * plan.steps() as f64);
    let upper = plan.epsilon().upper_bound().unwrap_or(f64::INFINITY);
    if as_json {
        let summary = json!({
            "epsilon": { "lower": plan.epsilon().lower_bound(), "upper": upper },
            "delta": plan.delta(),
            "steps": plan.steps(),
            "rate": plan.rate(),
            "noise_multiplier": plan.noise_multipliers(0)[0],
            "parameters": estimate.map(|estimate| estimate.parameters),
            "seconds": seconds,
            "peak_bytes": estimate.and_then(|estimate| estimate.peak_bytes),
        });
        println!("{summary}");
        return Ok(());
    }
    let parameters = estimate.map(|estimate| estimate.parameters);
    println!(
        "{}",
        run::words(&resolved, &name, parameters, start.as_ref())
    );
    println!(
        "  guarantee   ε ≤ {} at δ = {:e}",
        up(upper, 5),
        plan.delta()
    );
    match (seconds, estimate) {
        (Some(seconds), Some(estimate)) => {
            let memory = estimate.peak_bytes.map_or_else(
                || "unknown".to_string(),
                |bytes| format!("{} MiB", bytes >> 20),
            );
            println!(
                "  estimate    {} in all ({:.0} ms a step), {memory} of memory beside the data",
                duration(seconds),
                1e3 * estimate.step_seconds
            );
        }
        _ => println!(
            "  estimate    time and memory are not known before columns and classes are declared"
        ),
    }
    println!("A dry run: no data were opened and nothing was spent.");
    Ok(())
}

fn duration(seconds: f64) -> String {
    match seconds {
        s if s < 120.0 => format!("{s:.0} s"),
        s if s < 7200.0 => format!("{:.0} min", s / 60.0),
        s => format!("{:.1} h", s / 3600.0),
    }
}
