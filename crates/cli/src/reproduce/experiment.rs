//! An experiment: one table of a paper on one data set.

use crate::run::Settings;
use anyhow::{Context, Result, anyhow, bail, ensure};
use serde::{Deserialize, Serialize};
use toml::Table;

/// Every experiment there is.
const FILES: [&str; 6] = [
    include_str!("../../papers/dynamic-table1-mnist.toml"),
    include_str!("../../papers/dynamic-table1-fashion-mnist.toml"),
    include_str!("../../papers/dynamic-table2-imdb.toml"),
    include_str!("../../papers/dynamic-table3-names.toml"),
    include_str!("../../papers/auto-table1-mnist.toml"),
    include_str!("../../papers/auto-table1-fashion-mnist.toml"),
];

/// A quick trial has this part of the steps, to see that everything works. Its result is marked.
const QUICK_PART: f64 = 0.02;

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
    /// The budgets, one for each column.
    pub epsilons: Vec<f64>,
    /// What the paper leaves open or is otherwise here.
    pub chosen: Vec<String>,
    settings: Table,
    #[serde(rename = "method")]
    /// The rows.
    pub methods: Vec<Method>,
}

/// A row of a table.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Method {
    /// Its name.
    pub name: String,
    /// What the authors found its noise with.
    pub accountant: String,
    /// The paper's numbers, in percent, one for each budget.
    pub paper: Vec<f64>,
    #[serde(default)]
    settings: Table,
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
            ensure!(
                method.paper.len() == experiment.epsilons.len(),
                "{} lists {} numbers for {} budgets",
                method.name,
                method.paper.len(),
                experiment.epsilons.len()
            );
        }
        Ok(experiment)
    }

    /// The settings of a run, but for its seed.
    pub fn settings(
        &self,
        method: &Method,
        epsilon: f64,
        accountant: Accountant,
        quick: bool,
    ) -> Result<Settings> {
        let mut table = self.settings.clone();
        table.extend(method.settings.clone());
        let mut settings = Settings::parse(&toml::to_string(&table)?)
            .with_context(|| format!("{} {}", self.table, method.name))?;
        settings.epsilon = Some(epsilon);
        if accountant == Accountant::Paper {
            settings.paper_accountant = Some(method.accountant.clone());
        }
        if quick {
            let part = |steps: u64| ((steps as f64 * QUICK_PART).ceil() as u64).max(1);
            settings.steps = settings.steps.map(part);
            settings.epochs = settings.epochs.map(|epochs| epochs * QUICK_PART);
        }
        Ok(settings)
    }
}
