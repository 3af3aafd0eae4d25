//! The one report of a search: JSON, a page, and a few lines.

use super::certificate::Certificate;
use super::space::{ChooseBy, Mode, Runs, Space};
use super::worker::Score;
use crate::files::write_whole;
use crate::report::caveats;
use crate::report::facts::{AboutRun, AccountFacts, Facts};
use crate::report::groups::GroupCost;
use crate::report::page::html::{list, paragraph, section, statements, table};
use crate::report::page::{self, banner, groups, guarantee, header};
use crate::report::words::{self, Statement};
use crate::run::initial_weights;
use crate::run_files::RunFiles;
use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};
use std::fs;
use std::io::ErrorKind;
use std::path::Path;
use tacita_accounting::decimal::{exact, plain, up};

/// The only format there is.
const FORMAT: u32 = 1;

/// What a search publishes. Of a random search there is no field that depends on its secret number.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Found {
    /// [`FORMAT`].
    pub tacita_search: u32,
    /// Version of the program.
    pub version: String,
    /// Which runs were made.
    pub mode: Mode,
    /// The distribution of the number of runs, if it was random.
    pub runs_drawn_from: Option<Runs>,
    /// Choices there were.
    pub candidates: usize,
    /// What decided.
    pub chosen_by: ChooseBy,
    /// Whether the guarantee holds: not with a fixed seed.
    pub private: bool,
    /// ε of everything published here together, proved.
    pub epsilon_upper: f64,
    /// A proved lower end, where there is one.
    pub epsilon_lower: Option<f64>,
    /// The ε that was asked for.
    pub budget: f64,
    /// δ.
    pub delta: f64,
    /// What proved it.
    pub accountant: String,
    /// Who is protected and what is released; empty if no run was made.
    pub promise: Vec<Statement>,
    /// Public name of the data; none in reports of earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data: Option<String>,
    /// The day the search began.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub begun: Option<String>,
    /// ε of people with several records.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub several_records: Vec<GroupCost>,
    /// The account in which the search was reserved.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub account: Option<AccountFacts>,
    /// What whoever ran it says of purpose and responsibility.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub about: Option<AboutRun>,
    /// Every run of a grid.
    pub runs: Option<Vec<Shown>>,
    /// The best run; none if no run was made or none has a score.
    pub winner: Option<Shown>,
    /// What to know beside it.
    pub caveats: Vec<String>,
}

/// A published run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Shown {
    /// What was varied.
    pub settings: String,
    /// How good it is.
    pub score: Score,
    /// Its folder, within that of the search.
    pub folder: String,
    /// The scale of its noise.
    pub noise_multiplier: f64,
}

impl Found {
    /// The report of a search.
    pub fn new(
        space: &Space,
        private: bool,
        certificate: &Certificate,
        candidates: usize,
        runs: Option<Vec<Shown>>,
        winner: Option<Shown>,
        facts: Option<&Facts>,
    ) -> Result<Self> {
        let released = match space.mode {
            Mode::Grid => {
                "Every run: its model, ledger, settings, score and report; which of them is the best; this report."
            }
            Mode::Random => {
                "The best run: its model, ledger, settings, score and report; this report. Nothing of the others."
            }
        };
        let accountant = match space.mode {
            Mode::Grid => "privacy loss distributions of all runs, composed as one ledger",
            Mode::Random => {
                "Rényi divergences; Papernot and Steinke 2022 (arXiv:2110.03620), Theorems 2 and 6"
            }
        };
        let law = match space.mode {
            Mode::Grid => None,
            Mode::Random => Some(space.distribution()?),
        };
        Ok(Self {
            tacita_search: FORMAT,
            version: env!("CARGO_PKG_VERSION").into(),
            mode: space.mode,
            runs_drawn_from: space.runs,
            candidates,
            chosen_by: space.choose_by,
            private,
            epsilon_upper: certificate.epsilon_upper(),
            epsilon_lower: certificate.epsilon.lower_bound(),
            budget: certificate.budget,
            delta: certificate.delta,
            accountant: accountant.into(),
            promise: facts.map_or_else(Vec::new, |facts| words::promise_of_search(facts, released)),
            data: facts.map(|facts| facts.name.clone()),
            begun: None,
            several_records: certificate.several_records(law)?,
            account: None,
            about: facts.and_then(|facts| facts.about.clone()),
            runs,
            winner,
            caveats: caveats(space, certificate, facts),
        })
    }

    /// The report of a finished search, if there is one.
    pub fn read(out: &Path) -> Result<Option<Self>> {
        let file = RunFiles::of(out).page_as_json();
        let text = match fs::read_to_string(&file) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            read => read.with_context(|| format!("cannot read {}", file.display()))?,
        };
        let found = serde_json::from_str(&text);
        found.with_context(|| format!("{} is not the report of a search", file.display()))
    }

    /// Writes `report.html` and `report.json`, the latter last: it says that the search is finished.
    pub fn write(&self, out: &Path) -> Result<()> {
        write_whole(&RunFiles::of(out).page(), self.html().as_bytes())?;
        let text = format!("{:#}\n", serde_json::to_value(self)?);
        write_whole(&RunFiles::of(out).page_as_json(), text.as_bytes())
    }

    fn guarantee(&self) -> String {
        let bound = format!(
            "ε ≤ {} at δ = {}",
            up(self.epsilon_upper, 5),
            exact(self.delta)
        );
        if self.private {
            format!("{bound} for the whole search: everything published here together")
        } else {
            format!(
                "NOT PRIVATE: a fixed seed. With secret keys the same search would give {bound}"
            )
        }
    }

    fn choice(&self) -> &'static str {
        match self.chosen_by {
            ChooseBy::PublicValidation => {
                "The best run was chosen by its score on held-out records declared public, which costs nothing."
            }
            ChooseBy::NoisyCount => {
                "The best run was chosen by noisy counts of right answers on private held-out records. The \
                 counts are part of each run's ledger, and so of ε."
            }
            ChooseBy::TestSet => {
                "CHOSEN BY THE TEST SET: the score of the best run is too good, as it is in papers that do so."
            }
        }
    }

    fn best(&self) -> String {
        match &self.winner {
            Some(winner) => format!("{}: {}", winner.settings, winner.score.text),
            None => "no run was made, or none has a score".into(),
        }
    }

    fn noise(&self) -> String {
        let noise = |winner: &Shown| {
            format!(
                " Its noise multiplier is {}.",
                plain(winner.noise_multiplier)
            )
        };
        self.winner.as_ref().map(noise).unwrap_or_default()
    }

    /// The report in a few lines.
    pub fn text(&self, out: &Path) -> String {
        let mut lines = vec![format!("Best: {}", self.best()), self.choice().into()];
        lines.push(format!("Privacy: {}", self.guarantee()));
        lines.push(format!("Written to {}", out.display()));
        if let Some(winner) = &self.winner {
            lines.push(format!("  {}  the best run", winner.folder));
        }
        lines.push("  report.html  the report of the whole search; report.json the same".into());
        lines.join("\n") + "\n"
    }

    pub(super) fn html(&self) -> String {
        let what = match (self.mode, self.runs_drawn_from) {
            (Mode::Random, Some(Runs { distribution, mean })) => format!(
                "A random number of runs, drawn in secret from the {} distribution with mean {mean}, each with one of {} \
                 candidates drawn alike. Only the best run is published; the others and their number are not.",
                format!("{distribution:?}").to_lowercase(),
                self.candidates
            ),
            _ => format!(
                "All {} candidates ran; all of them are published.",
                self.candidates
            ),
        };
        let about = match &self.begun {
            Some(begun) => format!("begun on {begun}, by tacita {}", self.version),
            None => format!("by tacita {}", self.version),
        };
        let name = self.data.as_deref().unwrap_or("Private search");
        let mut body = header("Tacita privacy report of a search", name, &about);
        body += &match self.private {
            true => guarantee(
                "search",
                Some(self.epsilon_upper),
                self.delta,
                &[
                    "For everything published here together, the choice of the best run included."
                        .into(),
                    format!(
                        "Budget asked for: ε = {}. Proved by {}, before the first run.",
                        self.budget, self.accountant
                    ),
                ],
            ),
            false => banner(
                &[
                    "The noise came from a fixed seed: anyone who knows or guesses the seed can subtract it.",
                ],
                &self.guarantee(),
            ),
        };
        body += &section("promise", "The promise", &statements(&self.promise));
        body += &section(
            "result",
            "Result",
            &[
                paragraph(&format!("Best: {}.{}", self.best(), self.noise())),
                paragraph(self.choice()),
                paragraph(&what),
            ]
            .concat(),
        );
        if let Some(runs) = &self.runs {
            let rows: Vec<Vec<String>> = (runs.iter())
                .map(|run| {
                    vec![
                        run.settings.clone(),
                        run.score.text.clone(),
                        plain(run.noise_multiplier),
                        run.folder.clone(),
                    ]
                })
                .collect();
            let head = ["Settings", "Score", "Noise multiplier", "Folder"];
            let shown = format!("<div class=\"wide\">{}</div>\n", table(&head, &rows));
            body += &section("runs", "All runs", &shown);
        }
        if let Some(several) = groups(&self.several_records, self.delta) {
            body += &section("plain-words", "What it means", &several);
        }
        body += &section(
            "all-runs",
            "All runs on these records",
            &statements(&words::all_runs(self.account.as_ref())),
        );
        if let Some(about) = &self.about {
            body += &section("about", "Purpose", &statements(&words::about(about)));
        }
        body += &section(
            "caveats",
            "What this does not say",
            &list("ol", &self.caveats),
        );
        body += &page::signature(self.private);
        page::document("Privacy report of a search", self.private, &body)
    }
}

fn caveats(space: &Space, certificate: &Certificate, facts: Option<&Facts>) -> Vec<String> {
    let mut caveats = vec![
        "It covers this search. Other runs or searches on the same records cost extra, and so does choosing the \
         search space by looking at the records."
            .to_string(),
        "A search is finished once: of two copies of an unfinished one that are both finished, each publishes what \
         is covered once."
            .to_string(),
    ];
    if space.mode == Mode::Random {
        caveats.push(
            "The number of runs must stay secret: it is not covered against anyone who sees how long the search took, \
             its memory, or files removed from the disk."
                .into(),
        );
    }
    if space.choose_by != ChooseBy::TestSet {
        caveats.push(
            "The score of the best run is the largest of several on the same records, so it is somewhat too good."
                .into(),
        );
    }
    if space.choose_by == ChooseBy::TestSet {
        caveats.push(
            "The test set was used to choose, so its score is no estimate for new records.".into(),
        );
    }
    let first = certificate.settings.first();
    if let Some((start, sha256)) =
        first.and_then(|run| run.start.as_ref().zip(run.start_sha256.as_ref()))
    {
        let file = start.file_name().unwrap_or_default().to_string_lossy();
        caveats.push(format!(
            "All runs started from the weights in {file} (SHA-256 {sha256}). {}",
            initial_weights::CAVEAT
        ));
    }
    caveats.extend(facts.into_iter().flat_map(caveats::of_search));
    caveats
}
