//! The search space: a file with settings that stay and lists of values for those that vary.

use crate::models::ModelName;
use crate::run::{PublicFacts, Settings};
use anyhow::{Context, Result, anyhow, bail, ensure};
use serde::{Deserialize, Serialize};
use tacita::SearchDraw;
use tacita_accounting::RandomRuns;
use tacita_datasets::{Source, nearest};
use toml::{Table, Value};

/// What may vary from run to run; all else is about the data or the budget, which are common.
pub(super) const MAY_VARY: [&str; 15] = [
    "average",
    "batch",
    "clipping",
    "epochs",
    "growing-mu",
    "hidden",
    "learning-rate",
    "model",
    "noise-schedule",
    "optimizer",
    "per-layer",
    "rate-schedule",
    "steps",
    "threshold-decay",
    "weight-decay",
];

/// Settings that are paths.
pub(super) const PATHS: [&str; 9] = [
    "csv", "parquet", "jsonl", "images", "test", "schema", "start", "data-dir", "account",
];

/// More candidates than anyone can run.
const MOST_CANDIDATES: usize = 10_000;
/// More expected runs than anyone can wait for.
const MOST_RUNS: f64 = 1000.0;

/// A search as it stands in its file. Unknown keys are errors.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Space {
    /// Whether every candidate runs, or a random number of drawn ones.
    pub mode: Mode,
    /// What decides.
    pub choose_by: ChooseBy,
    /// Runs at a time.
    pub parallel: Option<usize>,
    /// The distribution of the number of runs, for a random search.
    pub runs: Option<Runs>,
    /// What all runs share, the budget of the search included.
    #[serde(default)]
    settings: Table,
    /// Values of every setting that varies, for a grid.
    grid: Option<Table>,
    /// The same for a random search; each value of a list is as likely as the others.
    random: Option<Table>,
}

/// Which runs are made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Mode {
    /// Every candidate, once.
    Grid,
    /// A random number of drawn ones, of which only the best is published.
    Random,
}

/// What decides which run is the best.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ChooseBy {
    /// The score on held-out records that were declared public.
    PublicValidation,
    /// A noisy count of right answers on private held-out records, part of each run's ledger.
    NoisyCount,
    /// The score on the test set of a benchmark, as papers do: the score of the best is then too good.
    TestSet,
}

/// The distribution of the number of runs.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Runs {
    /// Its name.
    #[serde(default)]
    #[serde(alias = "law")]
    pub distribution: Distribution,
    /// Runs on average.
    pub mean: f64,
}

/// The name of a distribution.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Distribution {
    /// Truncated negative binomial with shape 0: the cheapest of the named ones, and the most spread.
    #[default]
    Logarithmic,
    /// Truncated negative binomial with shape 1.
    Geometric,
    /// Little spread and more expensive; may give no run at all.
    Poisson,
}

impl Runs {
    /// The distribution as the accountant knows it.
    pub fn for_accountant(self) -> Result<RandomRuns> {
        ensure!(
            self.mean > 0.0 && self.mean <= MOST_RUNS,
            "mean of [runs] must be above 0 and at most {MOST_RUNS}, got {}",
            self.mean
        );
        Ok(match self.distribution {
            Distribution::Logarithmic => RandomRuns::logarithmic(self.mean)?,
            Distribution::Geometric => RandomRuns::geometric(self.mean)?,
            Distribution::Poisson => RandomRuns::poisson(self.mean)?,
        })
    }
}

/// One choice of all that varies.
#[derive(Debug, Clone, PartialEq)]
pub struct Candidate {
    /// What varies, such as `batch = 512, learning-rate = 0.5`.
    pub name: String,
    /// All settings of a run but its noise.
    pub settings: Settings,
}

impl Space {
    /// A space in TOML.
    pub fn parse(text: &str) -> Result<Self> {
        let space: Self =
            toml::from_str(text).map_err(|error| anyhow!("{}", error.to_string().trim_end()))?;
        space.check()?;
        Ok(space)
    }

    /// The space as its folder holds it, which may be published: names for the paths of the data.
    pub fn public_text(&self) -> Result<String> {
        let named = self.settings()?.with_data_name()?.without_paths();
        let named = Table::try_from(named)?;
        let mut public = self.clone();
        for key in PATHS {
            if public.settings.remove(key).is_some()
                && let Some(name) = named.get(key)
            {
                public.settings.insert(key.into(), name.clone());
            }
        }
        if let Some(name) = named.get("data-name") {
            public.settings.insert("data-name".into(), name.clone());
        }
        Ok(toml::to_string(&public)?)
    }

    /// A grid of a paper, chosen by the test set.
    pub fn grid(settings: Table, grid: Table) -> Result<Self> {
        let space = Self {
            mode: Mode::Grid,
            choose_by: ChooseBy::TestSet,
            parallel: None,
            runs: None,
            settings,
            grid: Some(grid),
            random: None,
        };
        space.check()?;
        Ok(space)
    }

    fn check(&self) -> Result<()> {
        for key in ["noise", "paper-accountant"] {
            ensure!(
                !self.settings.contains_key(key),
                "[settings] must not fix `{key}`: a search finds its noise from epsilon and delta, the \
                 budget of the whole search"
            );
        }
        ensure!(
            self.parallel != Some(0),
            "parallel must be at least 1, got 0"
        );
        match self.mode {
            Mode::Grid => ensure!(
                self.runs.is_none() && self.random.is_none(),
                "a grid runs every candidate once; [runs] and [random] belong to mode = \"random\""
            ),
            Mode::Random => {
                ensure!(
                    self.grid.is_none(),
                    "[grid] belongs to mode = \"grid\"; name the lists of a random search [random]"
                );
                SearchDraw::check(self.distribution()?)?;
                // Whether the noise hides a column is a release of its own, which would be seen.
                ensure!(
                    self.settings.get("estimate-bounds") != Some(&Value::Boolean(true)),
                    "estimate-bounds is not for a random search: that a run cannot estimate them would tell of a \
                     run that must stay secret; declare the bounds in the schema, or use mode = \"grid\""
                );
            }
        }
        for key in self.varied()?.keys() {
            ensure!(
                MAY_VARY.contains(&key.as_str()),
                "`{key}` cannot be searched over{}",
                nearest::known(key, &MAY_VARY)
            );
            ensure!(
                !self.settings.contains_key(key),
                "`{key}` is in [settings] and among what varies; leave one of them out"
            );
        }
        Ok(())
    }

    /// The distribution of a random search.
    pub fn distribution(&self) -> Result<RandomRuns> {
        let runs = self.runs.context(
            "a random search needs [runs] with for example mean = 10 and distribution = \"logarithmic\", \"geometric\" or \
             \"poisson\"",
        )?;
        runs.for_accountant()
    }

    /// What all runs share.
    pub fn settings(&self) -> Result<Settings> {
        settings(&self.settings)
    }

    fn varied(&self) -> Result<&Table> {
        let (name, lists) = match self.mode {
            Mode::Grid => ("grid", &self.grid),
            Mode::Random => ("random", &self.random),
        };
        lists
            .as_ref()
            .filter(|lists| !lists.is_empty())
            .with_context(|| {
                format!("[{name}] must list values, such as learning-rate = [0.1, 0.5]")
            })
    }

    /// Every choice of what varies, in the order of the file's names.
    pub fn candidates(&self) -> Result<Vec<Candidate>> {
        let mut choices: Vec<Table> = vec![Table::new()];
        for (key, list) in self.varied()? {
            let values = match list {
                Value::Array(values) if !values.is_empty() => values,
                other => bail!("`{key}` must be a list of values, got {other}"),
            };
            ensure!(
                choices.len().saturating_mul(values.len()) <= MOST_CANDIDATES,
                "the lists give more than {MOST_CANDIDATES} candidates; shorten them"
            );
            choices = choices
                .iter()
                .flat_map(|choice| {
                    values.iter().map(move |value| {
                        let mut choice = choice.clone();
                        choice.insert(key.clone(), value.clone());
                        choice
                    })
                })
                .collect();
        }
        choices
            .iter()
            .map(|choice| self.candidate(choice))
            .collect()
    }

    fn candidate(&self, choice: &Table) -> Result<Candidate> {
        let named = choice.iter().map(|(key, value)| match value {
            Value::String(text) => format!("{key} = {text}"),
            other => format!("{key} = {other}"),
        });
        let name = named.collect::<Vec<_>>().join(", ");
        let mut all = self.settings.clone();
        all.extend(choice.clone());
        let settings = settings(&all).with_context(|| name.clone())?;
        Ok(Candidate { name, settings })
    }

    /// Refuses a score that would leak, that is not there, or that is called what it is not.
    pub fn check_score(&self, settings: &Settings, facts: PublicFacts) -> Result<()> {
        let builtin = matches!(settings.source()?, Source::Builtin(_));
        ensure!(
            builtin || settings.test.is_some() || settings.test_share.is_some(),
            "a search needs records to choose by; give test or test-share"
        );
        match self.choose_by {
            ChooseBy::NoisyCount => {
                ensure!(
                    facts.private_test,
                    "choose-by = \"noisy-count\" counts on private held-out records, and these are public; \
                     use \"public-validation\" or \"test-set\""
                );
                ensure!(
                    settings.score_noise.is_some(),
                    "choose-by = \"noisy-count\" needs score-noise = 20 (say) in [settings]; its cost is part \
                     of the budget"
                );
                ensure!(
                    settings.model != Some(ModelName::Autoencoder),
                    "an autoencoder has no right answers to count; choose by public records"
                );
            }
            ChooseBy::PublicValidation | ChooseBy::TestSet => ensure!(
                !facts.private_test,
                "the held-out records are private, so choosing by an exact score on them would leak; say \
                 public-test = true if they are public, or choose-by = \"noisy-count\" with score-noise"
            ),
        }
        ensure!(
            self.choose_by != ChooseBy::PublicValidation || !builtin,
            "the held-out records of a built-in set are its test set; say choose-by = \"test-set\", and the \
             report will say so too"
        );
        Ok(())
    }
}

fn settings(table: &Table) -> Result<Settings> {
    Settings::parse(&toml::to_string(table)?)?.with_preset()
}
