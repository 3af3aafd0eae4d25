//! Makes one run of an experiment.

use super::experiment::{Accountant, Column, Measure};
use super::machine;
use super::results::Trial;
use crate::plain::train_without_privacy;
use anyhow::{Context, Result, bail};
use std::fs;
use std::path::Path;
use tacita_cli::report::facts::Evaluation;
use tacita_cli::run::{self, Locations, Output, PublicFacts, RunFolder, Settings};
use tacita_cli::run_files::RunFiles;
use tacita_cli::tune::Certificate;

/// A run that diverged counts as the worst there can be of values in [0, 1].
const DIVERGED: f64 = 1.0;

/// The noise of a column's runs and what it costs.
#[derive(Debug, Clone)]
pub struct Noise {
    /// The settings of every run with its noise, or with the budget to find it from.
    pub settings: Vec<Settings>,
    /// The certified ε of all of them, and that of the paper's accountant; none where each run states
    /// its own.
    epsilon: Option<(f64, f64)>,
}

impl Noise {
    /// Of a grid the noise is found for all runs together; `facts` are asked for only then.
    pub fn find(
        column: &Column,
        accountant: Accountant,
        facts: impl FnOnce() -> Result<PublicFacts>,
    ) -> Result<Self> {
        if !column.is_grid || column.epsilon.is_none() {
            let settings = column.runs.iter().map(|run| run.settings.clone());
            return Ok(Self {
                settings: settings.collect(),
                epsilon: None,
            });
        }
        let certificate = match accountant {
            Accountant::Paper => Certificate::as_in_paper(&column.runs, facts()?)?,
            Accountant::Pld => Certificate::of_grid(&column.runs, facts()?)?,
        };
        let claimed = certificate.epsilon_by_moments()?;
        Ok(Self {
            epsilon: Some((certificate.epsilon_upper(), claimed)),
            settings: certificate.settings,
        })
    }
}

/// Makes one run of a column with one seed, or resumes it. None if Ctrl-C came first.
pub fn measure(
    column: &Column,
    noise: &Noise,
    index: usize,
    seed: u64,
    measure: Measure,
    place: &Path,
) -> Result<Option<Trial>> {
    let settings = Settings {
        seed: Some(seed),
        ..noise.settings[index].clone()
    };
    let device = settings.device;
    let scaled = |score: f64| match measure {
        Measure::Accuracy => 100.0 * score,
        Measure::SquaredError if score.is_finite() => 100.0 * score,
        Measure::SquaredError => 100.0 * DIVERGED,
    };
    let trial = |score: f64, over_steps: &[(u64, f64)], steps, delta, seconds: f64| {
        let value = scaled(score);
        let better = |a, b| if measure.better(b, a) { b } else { a };
        let tested = over_steps.iter().map(|(_, score)| scaled(*score));
        Trial {
            seed,
            value,
            best: tested.reduce(better).map(|best| better(best, value)),
            steps,
            epsilon_certified: None,
            epsilon_claimed: None,
            delta,
            seconds: seconds.round(),
            commit: machine::commit(),
            machine: machine::machine(device),
            date: machine::today(),
        }
    };
    if column.epsilon.is_none() {
        let plain = train_without_privacy(&settings, true)?;
        return Ok(plain.map(|plain| {
            let seconds = plain.seconds;
            trial(plain.score, &plain.over_steps, plain.steps, 0.0, seconds)
        }));
    }
    let Some(outcome) = run_privately(settings, place)? else {
        return Ok(None);
    };
    let score = match (&outcome.evaluation, outcome.squared_error, measure) {
        (Some(Evaluation::PublicTest { accuracy, .. }), _, Measure::Accuracy) => *accuracy,
        (_, Some(error), Measure::SquaredError) => error,
        _ => bail!("there is no score on a public test set"),
    };
    let report = &outcome.report;
    let (seconds, over_steps) = (outcome.seconds, &outcome.over_steps);
    let mut trial = trial(score, over_steps, outcome.steps, report.delta, seconds);
    let (certified, claimed) = match noise.epsilon {
        Some((certified, claimed)) => (certified, Some(claimed)),
        None => (report.epsilon_upper, None),
    };
    (trial.epsilon_certified, trial.epsilon_claimed) = (Some(certified), claimed);
    Ok(Some(trial))
}

fn run_privately(settings: Settings, place: &Path) -> Result<Option<run::Outcome>> {
    let output = Output::NONE;
    // A run that began on another device begins anew.
    let begun = RunFolder::open(place)
        .is_ok_and(|(_, record)| record.settings.device == settings.device)
        && RunFiles::of(place).has_begun();
    let outcome = if begun {
        run::resume(place, Locations::of(&settings), output)?
    } else {
        if place.exists() {
            fs::remove_dir_all(place)
                .with_context(|| format!("cannot remove {}", place.display()))?;
        }
        run::train(settings, Some(place), None, output)?
    };
    Ok(Some(outcome).filter(|outcome| outcome.steps >= outcome.report.steps))
}
