//! Whether the plan in the ledger is the one that the settings of the run make.

use crate::finding::{Finding, Standing};
use crate::ledger::times_of;
use serde_json::Value;

/// How far a quotient of decimals may lie from the whole number that it is, relative to itself.
const WHOLE_UP_TO: f64 = 8.0 * f64::EPSILON;

/// Compares rate, number and noise of training rounds with the settings in `run.json`.
pub(crate) fn follows_settings(plan: &Value, record: &Value, facts: &Value) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut add = |in_order: bool, text: String| {
        let standing = if in_order {
            Standing::Checked
        } else {
            Standing::Refused
        };
        findings.push(Finding { standing, text });
    };
    let Some(Run {
        records,
        batch,
        length,
        scale,
    }) = Run::read(record)
    else {
        add(
            false,
            "run.json does not say how many records, which batch and how many steps were planned"
                .into(),
        );
        return findings;
    };
    let rounds = training_rounds(plan, facts);
    let steps = match length {
        Length::Steps(steps) => steps,
        Length::Epochs(epochs) => ((epochs * records / batch) * (1.0 - WHOLE_UP_TO))
            .ceil()
            .max(1.0),
    };
    let made: f64 = rounds.iter().map(|(_, times)| *times as f64).sum();
    // Earlier versions made a step more where a quotient that is whole was rounded up.
    let as_asked = made == steps || made == steps + 1.0;
    add(
        as_asked,
        match as_asked {
            true => format!("the ledger has {made} training rounds, as the settings ask"),
            false => format!("the settings ask for {steps} training rounds, the ledger has {made}"),
        },
    );
    let rate = batch / records;
    let drawn = |round: &Value| match round["sampling"]["kind"].as_str() {
        Some("poisson") => round["sampling"]["rate"].as_f64(),
        Some("full") => Some(1.0),
        _ => None,
    };
    let same = rounds.iter().all(|(round, _)| drawn(round) == Some(rate));
    add(
        same,
        match same {
            true => format!(
                "every record takes part in a training round with probability {rate}, as the settings ask"
            ),
            false => format!(
                "the settings ask for a sampling rate of {rate}, and training rounds have another"
            ),
        },
    );
    if let Some(scale) = scale {
        let noise = |round: &Value| round["noise_multipliers"][0].as_f64();
        let same = rounds.iter().all(|(round, _)| noise(round) == Some(scale));
        add(
            same,
            match same {
                true => {
                    format!("every training round has the noise multiplier {scale} of run.json")
                }
                false => format!(
                    "run.json has the noise multiplier {scale}, and training rounds have another"
                ),
            },
        );
    }
    findings
}

/// What `run.json` says of the size of a run.
struct Run {
    records: f64,
    batch: f64,
    length: Length,
    /// The noise multiplier, if it is the same in every round.
    scale: Option<f64>,
}

enum Length {
    Steps(f64),
    Epochs(f64),
}

impl Run {
    fn read(record: &Value) -> Option<Self> {
        let settings = &record["settings"];
        let steps = settings["steps"].as_f64().map(Length::Steps);
        let constant = ["growing-mu", "noise-schedule", "paper-accountant"]
            .iter()
            .all(|key| settings[*key].is_null());
        Some(Self {
            records: record["public_record_count"]
                .as_f64()
                .filter(|n| *n >= 1.0)?,
            batch: settings["batch"].as_f64().filter(|batch| *batch > 0.0)?,
            length: match steps {
                Some(steps) => steps,
                None => Length::Epochs(settings["epochs"].as_f64()?),
            },
            scale: record["scale"].as_f64().filter(|_| constant),
        })
    }
}

/// The rounds of the training phase, each with how often it is made.
fn training_rounds<'a>(plan: &'a Value, facts: &Value) -> Vec<(&'a Value, u64)> {
    let (mut first, mut last) = (0_u64, 0);
    for phase in facts["phases"].as_array().into_iter().flatten() {
        let rounds = phase["rounds"].as_u64().unwrap_or(0);
        if phase["kind"] == "training" {
            last = first.saturating_add(rounds);
            break;
        }
        first = first.saturating_add(rounds);
    }
    let mut at = 0_u64;
    let mut training = Vec::new();
    for round in plan["rounds"].as_array().into_iter().flatten() {
        let times = times_of(round).unwrap_or(0);
        let next = at.saturating_add(times);
        let (begin, end) = (first.max(at), last.min(next));
        if begin < end {
            training.push((round, end - begin));
        }
        at = next;
    }
    training
}
