//! What a model thinks of records: larger where it seems to know them.

use crate::run::Workbench;
use crate::utility;
use anyhow::Result;
use tacita_audit::roc::likelihood_score;
use tacita_datasets::{RecordSet, TargetKind};

/// A score of each record.
pub fn scores(bench: &dyn Workbench, records: &RecordSet) -> Result<Vec<f64>> {
    let Some(outputs) = bench.outputs(records)? else {
        let errors = bench.scores(records)?;
        return Ok(errors.into_iter().map(|error| -error).collect());
    };
    let targets = records.targets()?;
    Ok(match targets.kind() {
        TargetKind::Class => {
            let rows = outputs.iter().zip(targets.classes());
            rows.map(|(row, class)| likelihood_score(row, usize::from(*class)))
                .collect()
        }
        TargetKind::Number => {
            let rows = outputs.iter().zip(targets.numbers());
            rows.map(|(row, number)| {
                let predicted = row.first().map_or(f64::NAN, |v| utility::predicted(*v));
                -(predicted - f64::from(*number)).abs()
            })
            .collect()
        }
        TargetKind::Labels => {
            let width = outputs.first().map_or(1, Vec::len).max(1);
            let rows = outputs.iter().zip(targets.labels().chunks(width));
            rows.map(|(row, set)| {
                let each = row.iter().zip(set);
                // ln of the probability of every label as it is.
                each.map(|(value, is)| {
                    let towards = if *is == 1 {
                        f64::from(*value)
                    } else {
                        -f64::from(*value)
                    };
                    -((-towards.abs()).exp().ln_1p() + (-towards).max(0.0))
                })
                .sum()
            })
            .collect()
        }
    })
}

/// What a score is, in words.
pub fn score_words(records: &RecordSet, bench: &dyn Workbench) -> &'static str {
    use crate::models::Score;
    match (bench.score(), records.target()) {
        (Score::SquaredError, _) => "less its reconstruction error",
        (_, TargetKind::Class) => "the log-odds that it gives the class of the canary",
        (_, TargetKind::Number) => "less the absolute error of the predicted number",
        (_, TargetKind::Labels) => {
            "the logarithm of the probability that it gives all labels of the canary"
        }
    }
}

/// A way to score records.
pub type Score = fn(&dyn Workbench, &RecordSet) -> Result<Vec<f64>>;

/// Less the loss of each record. What is predicted of it decides which; where that is not a class, it is the same as
/// the other score.
pub fn losses(bench: &dyn Workbench, records: &RecordSet) -> Result<Vec<f64>> {
    let targets = records.targets()?;
    let outputs = match targets.kind() {
        TargetKind::Class => bench.outputs(records)?,
        _ => None,
    };
    let Some(outputs) = outputs else {
        return scores(bench, records);
    };
    let rows = outputs.iter().zip(targets.classes());
    Ok(rows
        .map(|(row, class)| {
            let most = row.iter().copied().fold(f32::NEG_INFINITY, f32::max);
            let sum: f64 = row.iter().map(|v| f64::from(v - most).exp()).sum();
            let own = row.get(usize::from(*class)).copied().unwrap_or(f32::NAN);
            f64::from(own - most) - sum.ln()
        })
        .collect())
}
