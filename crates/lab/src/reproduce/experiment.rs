//! An experiment: one table of a paper on one data set.

use super::diagnostic::diagnostics;
use anyhow::{Context, Result, anyhow, bail, ensure};
use serde::{Deserialize, Serialize};
use tacita_accounting::RunSize;
use tacita_cli::run::Settings;
use tacita_cli::tune::{Candidate, Space};
use tacita_datasets::known;
use toml::Table;

/// Every experiment there is.
const FILES: [&str; 23] = [
    include_str!("../../papers/dynamic-table1-mnist.toml"),
    include_str!("../../papers/dynamic-table1-mnist-program.toml"),
    include_str!("../../papers/dynamic-table1-fashion-mnist.toml"),
    include_str!("../../papers/dynamic-table2-imdb.toml"),
    include_str!("../../papers/dynamic-table3-names.toml"),
    include_str!("../../papers/dynamic-table3-names-random-split.toml"),
    include_str!("../../papers/dynamic-table5-pneumonia.toml"),
    include_str!("../../papers/dynamic-table5-pneumonia-random-start.toml"),
    include_str!("../../papers/dynamic-figure3-mnist.toml"),
    include_str!("../../papers/auto-table1-mnist.toml"),
    include_str!("../../papers/auto-table1-fashion-mnist.toml"),
    include_str!("../../papers/auto-figure14-mnist.toml"),
    include_str!("../../papers/auto-figure15-mnist.toml"),
    include_str!("../../papers/oso-table8-mnist.toml"),
    include_str!("../../papers/oso-table9-fashion-mnist.toml"),
    include_str!("../../papers/oso-table10-ag-news.toml"),
    include_str!("../../papers/oso-table11-mnist.toml"),
    include_str!("../../papers/oso-table12-fashion-mnist.toml"),
    include_str!("../../papers/oso-table13-ag-news.toml"),
    include_str!("../../papers/best-mnist.toml"),
    include_str!("../../papers/best-fashion-mnist.toml"),
    include_str!("../../papers/best-imdb.toml"),
    include_str!("../../papers/best-names.toml"),
];

/// A quick trial has this part of the steps, to see that everything works. Its result is marked.
const QUICK_PART: f64 = 0.02;

/// The name of our own accountant.
const CERTIFIED: &str = "pld";

/// What the noise is found with.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, clap::ValueEnum, Serialize, Deserialize,
)]
#[serde(rename_all = "kebab-case")]
pub enum Accountant {
    /// Certified: the least noise that keeps the ε of the paper.
    Pld,
    /// As the authors did; what is certified of it stands beside their claim.
    Paper,
}

/// What the numbers of a table are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Measure {
    /// Right answers in percent: larger is better.
    #[default]
    Accuracy,
    /// Mean squared error times 100: smaller is better.
    SquaredError,
}

impl Measure {
    /// Whether `a` is better than `b`.
    pub fn better(self, a: f64, b: f64) -> bool {
        match self {
            Self::Accuracy => a > b,
            Self::SquaredError => a < b,
        }
    }
}

/// How much of a run is made; anything but the whole is no result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Cut {
    /// A fiftieth of the steps.
    pub quick: bool,
    /// So many steps at most.
    pub steps_limit: Option<u64>,
}

/// A configuration in `papers/`.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Experiment {
    /// Short name of the paper.
    pub paper: String,
    /// The table.
    pub table: String,
    /// The data set, as the paper calls it.
    pub set: String,
    /// Where the numbers are printed.
    pub source: String,
    /// What the numbers are.
    #[serde(default)]
    pub measure: Measure,
    /// The budgets, one for each column.
    pub epsilons: Vec<f64>,
    /// What the paper leaves open or is otherwise here.
    pub chosen: Vec<String>,
    /// How our numbers differ from the paper's, and why as far as we know.
    pub differences: Option<String>,
    settings: Table,
    /// The rows.
    #[serde(rename = "method")]
    pub methods: Vec<Method>,
}

/// A row of a table.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Method {
    /// Its name.
    pub name: String,
    /// What the authors found its noise with, `pld` for what is always certified; none if it is not private
    /// at all.
    pub accountant: Option<String>,
    /// The paper's numbers, one for each budget; one in all if it is not private. NaN where it prints none.
    pub paper: Vec<f64>,
    #[serde(default)]
    settings: Table,
    /// What differs between budgets, one table for each.
    #[serde(default)]
    by_budget: Vec<Table>,
    /// What a search varied whose runs share the budget.
    grid: Option<Table>,
    /// What a figure varies, each run with a budget of its own.
    sweep: Option<Table>,
    /// The choice the paper found best, for each budget.
    #[serde(default)]
    published: Vec<Table>,
}

/// All runs that share the budget of one cell of a table: one, or those of a grid.
#[derive(Debug, Clone)]
pub struct Column {
    /// The budget; none if the method is not private.
    pub epsilon: Option<f64>,
    /// The paper's number, if it prints one.
    pub paper_value: Option<f64>,
    /// The runs but for seed and, in a grid, noise.
    pub runs: Vec<Candidate>,
    /// Whether they share one budget.
    pub is_grid: bool,
    /// Which of them the paper found best.
    pub published: Option<usize>,
}

/// The experiments of a table.
pub fn find(paper: &str, table: &str) -> Result<Vec<Experiment>> {
    let all = all()?;
    let found: Vec<Experiment> = (all.into_iter())
        .filter(|experiment| experiment.paper == paper && experiment.table == table)
        .collect();
    if found.is_empty() {
        bail!(
            "there is no {paper} {table} here; there is {}",
            table_names()?.join(", ")
        );
    }
    Ok(found)
}

/// What can be reproduced.
fn table_names() -> Result<Vec<String>> {
    let mut names: Vec<String> = (all()?.iter())
        .map(|experiment| format!("{} {}", experiment.paper, experiment.table))
        .collect();
    let figures = diagnostics()?.into_iter();
    names.extend(figures.map(|figure| format!("{} {}", figure.paper, figure.figure)));
    names.dedup();
    Ok(names)
}

/// Every experiment, in the order of the book.
pub fn all() -> Result<Vec<Experiment>> {
    FILES.iter().map(|text| Experiment::parse(text)).collect()
}

impl Experiment {
    fn parse(text: &str) -> Result<Self> {
        let experiment: Self =
            toml::from_str(text).map_err(|error| anyhow!("{}", error.to_string().trim_end()))?;
        for method in &experiment.methods {
            let budgets = match method.accountant {
                Some(_) => experiment.epsilons.len(),
                None => 1,
            };
            for (what, listed) in [
                ("numbers", method.paper.len()),
                ("settings by budget", method.by_budget.len()),
                ("published choices", method.published.len()),
            ] {
                ensure!(
                    listed == budgets || (what != "numbers" && listed == 0),
                    "{}: {} lists {listed} {what} for {budgets} budgets",
                    experiment.table,
                    method.name
                );
            }
        }
        Ok(experiment)
    }

    /// Whether its numbers are the best of grids.
    pub fn has_grids(&self) -> bool {
        self.methods.iter().any(|method| method.grid.is_some())
    }

    /// Whether it varies settings, each run with a budget of its own.
    pub fn is_sweep(&self) -> bool {
        self.methods.iter().any(|method| method.sweep.is_some())
    }

    /// The settings that all methods share.
    pub fn common_settings(&self) -> Result<Settings> {
        Settings::parse(&toml::to_string(&self.settings)?)
    }

    /// The cells of a method's row.
    pub fn columns(
        &self,
        method: &Method,
        accountant: Accountant,
        cut: Cut,
    ) -> Result<Vec<Column>> {
        let epsilons: Vec<Option<f64>> = match method.accountant {
            Some(_) => self.epsilons.iter().copied().map(Some).collect(),
            None => vec![None],
        };
        let columns = epsilons.into_iter().enumerate().map(|(index, epsilon)| {
            let mut runs = self.runs(method, index)?;
            for run in &mut runs {
                let settings = &mut run.settings;
                settings.epsilon = epsilon;
                if method.accountant(accountant) == Accountant::Paper {
                    settings.paper_accountant.clone_from(&method.accountant);
                }
                *settings = settings.clone().with_preset()?;
                cut.apply(settings);
            }
            // An empty table stands where the paper names none.
            let published = method
                .published
                .get(index)
                .filter(|choice| !choice.is_empty());
            let published = published
                .map(|choice| {
                    let mut all = self.settings.clone();
                    all.extend(method.settings.clone());
                    all.extend(choice.clone());
                    let wanted = Settings::parse(&toml::to_string(&all)?)?;
                    let same = |run: &Candidate| {
                        (run.settings.learning_rate, &run.settings.clipping)
                            == (wanted.learning_rate, &wanted.clipping)
                    };
                    (runs.iter().position(same))
                        .with_context(|| format!("{choice} is not in the grid"))
                })
                .transpose()?;
            Ok(Column {
                epsilon,
                paper_value: Some(method.paper[index]).filter(|value| value.is_finite()),
                runs,
                is_grid: method.grid.is_some(),
                published,
            })
        });
        let columns: Result<Vec<Column>> = columns.collect();
        columns.with_context(|| format!("{} {}", self.table, method.name))
    }

    fn runs(&self, method: &Method, budget: usize) -> Result<Vec<Candidate>> {
        let mut table = self.settings.clone();
        table.extend(method.settings.clone());
        table.extend(method.by_budget.get(budget).cloned().unwrap_or_default());
        match method.grid.as_ref().or(method.sweep.as_ref()) {
            Some(grid) => Space::grid(table, grid.clone())?.candidates(),
            None => Ok(vec![Candidate {
                name: String::new(),
                settings: Settings::parse(&toml::to_string(&table)?)?,
            }]),
        }
    }
}

impl Method {
    /// What the noise is found with, if this is asked for: some methods leave no choice.
    pub fn accountant(&self, asked: Accountant) -> Accountant {
        match self.accountant.as_deref() {
            Some(CERTIFIED) => Accountant::Pld,
            Some(_) => asked,
            None => Accountant::Paper,
        }
    }
}

impl Cut {
    /// Whether it leaves the whole run.
    pub fn is_none(self) -> bool {
        self == Self::default()
    }

    /// Shortens a run.
    pub fn apply(self, settings: &mut Settings) {
        if self.quick {
            let part = |steps: u64| ((steps as f64 * QUICK_PART).ceil() as u64).max(1);
            settings.steps = settings.steps.map(part);
            settings.epochs = settings.epochs.map(|epochs| epochs * QUICK_PART);
        }
        if let Some(limit) = self.steps_limit {
            let records = settings.data.map_or(0, |set| known(set).records);
            let batch = settings.batch.unwrap_or(1);
            let whole = RunSize::new(records as f64, batch as f64, settings.length());
            let whole = whole.map_or(u64::MAX, RunSize::steps);
            settings.steps = Some(limit.clamp(1, whole));
            settings.epochs = None;
        }
    }
}
