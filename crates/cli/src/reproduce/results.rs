//! Results, kept in a file for each table: what is there is not measured again.

use super::experiment::{Accountant, Experiment, Method};
use super::machine;
use crate::report::facts::Evaluation;
use crate::run::{self, Output, Settings};
use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// Which cell of a table, and how it was made.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Key {
    /// The data set.
    pub set: String,
    /// The row.
    pub method: String,
    /// The column.
    pub epsilon: f64,
    /// What the noise was found with.
    pub accountant: Accountant,
    /// Far fewer steps than the paper: not a result, a trial of the machinery.
    pub quick: bool,
    /// A hash of all settings but the seed, so that other settings are other results.
    pub settings: String,
}

/// One seed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Trial {
    /// Which.
    pub seed: u64,
    /// Accuracy on the test set, in percent.
    pub value: f64,
    /// Steps made.
    pub steps: u64,
    /// ε of the run, proved.
    pub epsilon_certified: f64,
    /// δ.
    pub delta: f64,
    /// Time of training.
    pub seconds: f64,
    /// Commit of the program's source.
    pub commit: Option<String>,
    /// The machine.
    pub machine: String,
    /// The day.
    pub date: String,
}

/// A cell with its trials.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cell {
    /// Which.
    pub key: Key,
    /// The paper's number.
    pub paper_value: f64,
    /// Mean over the trials.
    pub value: f64,
    /// Standard deviation over the trials; none of a single one.
    pub spread: Option<f64>,
    /// The trials.
    pub trials: Vec<Trial>,
}

/// All results of a table.
#[derive(Debug, Clone, PartialEq)]
pub struct Book {
    file: PathBuf,
    /// The cells, in the order in which they were begun.
    pub cells: Vec<Cell>,
}

impl Book {
    /// The results of a table in a folder.
    pub fn open(folder: &Path, paper: &str, table: &str) -> Result<Self> {
        let file = folder.join(format!("{paper}-{table}.json"));
        let cells = match fs::read_to_string(&file) {
            Ok(text) => serde_json::from_str(&text)
                .with_context(|| format!("{} does not hold results", file.display()))?,
            Err(error) if error.kind() == ErrorKind::NotFound => Vec::new(),
            Err(error) => {
                return Err(error).with_context(|| format!("cannot read {}", file.display()));
            }
        };
        Ok(Self { file, cells })
    }

    /// The trial of a cell with this seed.
    pub fn trial(&self, key: &Key, seed: u64) -> Option<&Trial> {
        let cell = self.cells.iter().find(|cell| cell.key == *key)?;
        cell.trials.iter().find(|trial| trial.seed == seed)
    }

    /// Adds a trial and writes the file.
    pub fn add(&mut self, key: &Key, paper_value: f64, trial: Trial) -> Result<()> {
        let known = self.cells.iter_mut().find(|cell| cell.key == *key);
        match known {
            Some(cell) => {
                cell.trials.push(trial);
                cell.summarise();
            }
            None => {
                let mut cell = Cell {
                    key: key.clone(),
                    paper_value,
                    value: f64::NAN,
                    spread: None,
                    trials: vec![trial],
                };
                cell.summarise();
                self.cells.push(cell);
            }
        }
        if let Some(folder) = self.file.parent() {
            fs::create_dir_all(folder)
                .with_context(|| format!("cannot make {}", folder.display()))?;
        }
        let text = format!("{:#}\n", serde_json::to_value(&self.cells)?);
        run::write_whole(&self.file, text.as_bytes())
    }
}

impl Cell {
    fn summarise(&mut self) {
        let values = self.trials.iter().map(|trial| trial.value);
        let count = self.trials.len() as f64;
        self.value = values.clone().sum::<f64>() / count;
        let squares = values.map(|value| (value - self.value).powi(2));
        self.spread = (count > 1.0).then(|| (squares.sum::<f64>() / (count - 1.0)).sqrt());
    }
}

impl Key {
    /// The key of a cell whose runs have these settings.
    pub fn new(
        experiment: &Experiment,
        method: &Method,
        epsilon: f64,
        accountant: Accountant,
        quick: bool,
        settings: &Settings,
    ) -> Result<Self> {
        let mut settings = settings.clone();
        settings.seed = None;
        // Where the data lie does not matter.
        settings.data_dir = None;
        settings.offline = false;
        let digest = Sha256::digest(settings.to_toml()?.as_bytes());
        let hash: String = digest[..6]
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect();
        Ok(Self {
            set: experiment.set.clone(),
            method: method.name.clone(),
            epsilon,
            accountant,
            quick,
            settings: hash,
        })
    }
}

/// Makes the run of one seed, or goes on with it. None if Ctrl-C came first.
pub fn measure(
    settings: &Settings,
    seed: u64,
    place: &Path,
    output: Output,
) -> Result<Option<Trial>> {
    let settings = Settings {
        seed: Some(seed),
        ..settings.clone()
    };
    let outcome = if place.join("ledger.jsonl").exists() && place.join("run.json").exists() {
        run::resume(place, output)?
    } else {
        if place.exists() {
            fs::remove_dir_all(place)
                .with_context(|| format!("cannot remove {}", place.display()))?;
        }
        run::start(settings, Some(place), output)?
    };
    if outcome.steps < outcome.report.steps {
        return Ok(None);
    }
    let accuracy = match outcome.evaluation {
        Some(Evaluation::PublicTest { accuracy, .. }) => accuracy,
        _ => anyhow::bail!("there is no accuracy on a public test set"),
    };
    let trial = Trial {
        seed,
        value: 100.0 * accuracy,
        steps: outcome.steps,
        epsilon_certified: outcome.report.epsilon_upper,
        delta: outcome.report.delta,
        seconds: outcome.seconds.round(),
        commit: machine::commit(),
        machine: machine::machine(),
        date: machine::today(),
    };
    Ok(Some(trial))
}
