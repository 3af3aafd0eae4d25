//! Results, kept in a file for each table: what is there is not measured again.

use super::experiment::{Accountant, Column, Cut, Experiment, Method};
use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use tacita_cli::files::write_whole;
use tacita_datasets::{BadRows, hex};

/// Which cell of a table, and how it was made.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Key {
    /// The data set.
    pub set: String,
    /// The row.
    pub method: String,
    /// The column; none for a method that is not private.
    pub epsilon: Option<f64>,
    /// What the noise was found with.
    pub accountant: Accountant,
    /// Far fewer steps than the paper: not a result, a trial of the machinery.
    pub quick: bool,
    /// Steps were limited to so many: not a result either.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub steps_limit: Option<u64>,
    /// Which run of a grid or a sweep.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub choice: Option<String>,
    /// A hash of all settings but the seed, and of all others of a grid, so that other settings are other
    /// results.
    pub settings: String,
}

/// One seed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Trial {
    /// Which.
    pub seed: u64,
    /// The number of the table on the test set, after the last step.
    pub value: f64,
    /// The best of those on the way and the last, where some were looked at: chosen by the test set, and so too
    /// good.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub best: Option<f64>,
    /// Steps made.
    pub steps: u64,
    /// ε of the run or of its whole grid, proved; none if it is not private.
    pub epsilon_certified: Option<f64>,
    /// ε of the same by the paper's accountant, where it was read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub epsilon_claimed: Option<f64>,
    /// δ.
    pub delta: f64,
    /// Time of training.
    pub seconds: f64,
    /// Commit of the program's source.
    pub commit: Option<String>,
    /// The machine, and the device if it is not its processor.
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
    /// The paper's number, if it prints one.
    pub paper_value: Option<f64>,
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
        Self::read(folder.join(format!("{paper}-{table}.json")))
    }

    fn read(file: PathBuf) -> Result<Self> {
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

    /// Adds a trial and writes the file, with what another process may have added to it meanwhile.
    pub fn add(&mut self, key: &Key, paper_value: Option<f64>, trial: Trial) -> Result<()> {
        *self = Self::read(self.file.clone())?;
        if self.trial(key, trial.seed).is_some() {
            return Ok(());
        }
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
        write_whole(&self.file, text.as_bytes())
    }
}

/// Mean and standard deviation; no deviation of a single value.
fn summary(values: impl Iterator<Item = f64> + Clone) -> (f64, Option<f64>) {
    let count = values.clone().count() as f64;
    let mean = values.clone().sum::<f64>() / count;
    let squares = values.map(|value| (value - mean).powi(2));
    let spread = (count > 1.0).then(|| (squares.sum::<f64>() / (count - 1.0)).sqrt());
    (mean, spread)
}

impl Cell {
    fn summarise(&mut self) {
        (self.value, self.spread) = summary(self.trials.iter().map(|trial| trial.value));
    }

    /// Mean and spread of the best checkpoints; of the last ones where none were tested on the way.
    pub fn best(&self) -> (f64, Option<f64>) {
        let best = self.trials.iter();
        summary(best.map(|trial| trial.best.unwrap_or(trial.value)))
    }
}

impl Key {
    /// The key of a run of a column.
    pub fn new(
        experiment: &Experiment,
        method: &Method,
        column: &Column,
        run: usize,
        accountant: Accountant,
        cut: Cut,
    ) -> Result<Self> {
        let mut hash = Sha256::new();
        // The run first, then those it shares its noise with.
        let others = if column.is_grid {
            &column.runs[..]
        } else {
            &[]
        };
        for candidate in std::iter::once(&column.runs[run]).chain(others) {
            let mut settings = candidate.settings.clone();
            settings.seed = None;
            // Where the data lie and where it is computed does not matter.
            settings.data_dir = None;
            settings.device = None;
            settings.offline = false;
            if let Some(schema) = &mut settings.declared {
                // As it was written when results were first kept. Public sets have no bad rows.
                schema.bad_rows = BadRows::Error;
            }
            let mut text = settings.to_toml_for_hash()?;
            if candidate.name.contains("clipping = auto:0.01") {
                // Likewise: the default stability constant by its number.
                text = text.replace("clipping = \"auto\"", "clipping = \"auto:0.01\"");
            }
            hash.update(text.as_bytes());
        }
        let digest = hash.finalize();
        Ok(Self {
            set: experiment.set.clone(),
            method: method.name.clone(),
            epsilon: column.epsilon,
            accountant: method.accountant(accountant),
            quick: cut.quick,
            steps_limit: cut.steps_limit,
            choice: Some(column.runs[run].name.clone()).filter(|name| !name.is_empty()),
            settings: hex(&digest[..6]),
        })
    }

    /// How much of the run was made.
    pub fn cut(&self) -> Cut {
        Cut {
            quick: self.quick,
            steps_limit: self.steps_limit,
        }
    }

    /// The cell in words, its fields separated by commas.
    pub fn name(&self) -> String {
        let mut fields = vec![self.set.clone(), self.method.clone()];
        fields.extend(self.choice.clone());
        fields.extend(self.epsilon.map(|epsilon| format!("ε = {epsilon}")));
        fields.join(", ")
    }
}
