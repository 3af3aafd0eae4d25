//! Figures of raw gradients over the steps of runs on public data: NOT PRIVATE.

use super::experiment::{Accountant, Cut};
use super::machine;
use crate::diagnose::{Look, diagnose};
use anyhow::{Context, Result, anyhow};
use serde::{Deserialize, Serialize};
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use tacita::Probe;
use tacita_cli::device::DeviceName;
use tacita_cli::files::write_whole;
use tacita_cli::run::Settings;
use toml::Table;

const FILES: [&str; 4] = [
    include_str!("../../papers/dynamic-figure1-mnist.toml"),
    include_str!("../../papers/auto-figure12-mnist.toml"),
    include_str!("../../papers/auto-figure13-mnist.toml"),
    include_str!("../../papers/oso-figure1-mnist.toml"),
];

/// The seed of every line.
const SEED: u64 = 0;

/// What a figure shows of the gradients.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Draw {
    /// The mean of their norms, over the steps.
    Norms,
    /// The share of them that is clipped, over the steps.
    Clipped,
    /// The cosine of the sanitised mean with the true one, over thresholds.
    Cosines,
}

/// A configuration in `papers/`.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Diagnostic {
    /// Short name of the paper.
    pub paper: String,
    /// The figure.
    pub figure: String,
    /// The data set.
    pub set: String,
    /// Where the figure is.
    pub source: String,
    /// What it shows.
    pub draw: Draw,
    /// The budget of every line.
    epsilon: f64,
    /// Steps between two looks.
    every: u64,
    /// Records looked at.
    records: usize,
    /// Thresholds to compare.
    #[serde(default)]
    thresholds: Vec<f64>,
    /// The steps whose cosines are drawn.
    #[serde(default)]
    pub at: Vec<u64>,
    /// What the paper leaves open or is otherwise here.
    pub chosen: Vec<String>,
    /// How what is seen compares with the paper's picture.
    pub differences: Option<String>,
    settings: Table,
    /// The lines.
    #[serde(rename = "line")]
    pub lines: Vec<Line>,
}

/// A run to look at.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Line {
    /// Its name.
    pub name: String,
    /// What the authors found its noise with.
    accountant: String,
    #[serde(default)]
    settings: Table,
}

/// What was seen of a line.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Seen {
    /// The line.
    pub line: String,
    /// What the noise was found with.
    pub accountant: Accountant,
    /// All settings, in TOML: other settings are another line.
    settings: String,
    /// A fiftieth of the steps: not a result.
    pub quick: bool,
    /// Steps were limited to so many: not a result either.
    pub steps_limit: Option<u64>,
    /// The gradients on the way.
    pub looks: Vec<Look>,
    /// Commit of the program's source.
    pub commit: Option<String>,
    /// Where it ran.
    pub machine: String,
    /// When it ran.
    pub date: String,
}

impl Seen {
    /// How much of the run was made.
    pub fn cut(&self) -> Cut {
        Cut {
            quick: self.quick,
            steps_limit: self.steps_limit,
        }
    }
}

/// Every figure of gradients.
pub fn diagnostics() -> Result<Vec<Diagnostic>> {
    let parse = |text: &&str| {
        toml::from_str(text).map_err(|error| anyhow!("{}", error.to_string().trim_end()))
    };
    FILES.iter().map(parse).collect()
}

impl Diagnostic {
    /// The settings of a line, without seed and device.
    pub fn settings(&self, line: &Line, accountant: Accountant, cut: Cut) -> Result<Settings> {
        let mut table = self.settings.clone();
        table.extend(line.settings.clone());
        let mut settings = Settings::parse(&toml::to_string(&table)?)?;
        settings.epsilon = Some(self.epsilon);
        if accountant == Accountant::Paper {
            settings.paper_accountant = Some(line.accountant.clone());
        }
        cut.apply(&mut settings);
        Ok(settings)
    }

    fn file(&self, results: &Path) -> PathBuf {
        results.join(format!("{}-{}.json", self.paper, self.figure))
    }

    /// What has been seen so far, of lines that are still in the configuration.
    pub fn seen(&self, results: &Path) -> Result<Vec<Seen>> {
        let mut seen = Vec::new();
        for known in self.read(results)? {
            let Some(line) = self.lines.iter().find(|line| line.name == known.line) else {
                continue;
            };
            let settings = self.settings(line, known.accountant, known.cut())?;
            if settings.to_toml()? == known.settings {
                seen.push(known);
            }
        }
        Ok(seen)
    }

    fn read(&self, results: &Path) -> Result<Vec<Seen>> {
        let file = self.file(results);
        match fs::read_to_string(&file) {
            Ok(text) => serde_json::from_str(&text)
                .with_context(|| format!("{} does not hold results", file.display())),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(Vec::new()),
            Err(error) => Err(error).with_context(|| format!("cannot read {}", file.display())),
        }
    }

    /// What is there of a line.
    pub fn find(
        &self,
        results: &Path,
        line: &Line,
        accountant: Accountant,
        cut: Cut,
    ) -> Result<Option<Seen>> {
        let wanted = self.settings(line, accountant, cut)?.to_toml()?;
        let mut seen = self.seen(results)?.into_iter();
        Ok(seen.find(|seen| {
            (&seen.line, seen.accountant, &seen.settings, seen.cut())
                == (&line.name, accountant, &wanted, cut)
        }))
    }

    /// Makes a line and keeps it; false if Ctrl-C came first. `place` says where data and device are.
    pub fn look(
        &self,
        results: &Path,
        line: &Line,
        accountant: Accountant,
        cut: Cut,
        place: &(Option<PathBuf>, Option<DeviceName>),
    ) -> Result<bool> {
        let settings = self.settings(line, accountant, cut)?;
        let known = settings.to_toml()?;
        let (data_dir, device) = place.clone();
        let placed = Settings {
            data_dir,
            device,
            seed: Some(SEED),
            ..settings
        };
        let probe = Probe {
            // A shortened run is looked at in each of its few steps.
            every: if cut.is_none() { self.every } else { 1 },
            records: self.records,
            thresholds: self.thresholds.clone(),
        };
        let Some(looks) = diagnose(&placed, SEED, probe)? else {
            return Ok(false);
        };
        let mut all = self.read(results)?;
        all.push(Seen {
            line: line.name.clone(),
            accountant,
            settings: known,
            quick: cut.quick,
            steps_limit: cut.steps_limit,
            looks,
            commit: machine::commit(),
            machine: machine::machine(device),
            date: machine::today(),
        });
        fs::create_dir_all(results)
            .with_context(|| format!("cannot make {}", results.display()))?;
        let text = format!("{:#}\n", serde_json::to_value(&all)?);
        write_whole(&self.file(results), text.as_bytes())?;
        Ok(true)
    }
}
