//! From a space to a published search.
//!
//! A grid keeps its runs in `runs/`. A random search keeps everything in `secret/` until its end: the
//! drawn number, the candidates, every run. Then the best run moves to `winner/` and the rest is removed.

use super::certificate::Certificate;
use super::number::{self, Words};
use super::page::{Found, Shown};
use super::secret;
use super::space::{Candidate, ChooseBy, Mode, Space};
use super::worker::{self, Score, Task};
use crate::commands::report as report_command;
use crate::number::{count, exact, up};
use crate::random::SplitMix;
use crate::report::facts::{Facts, Tuning};
use crate::run::{self, Output};
use anyhow::{Context, Result, bail, ensure};
use serde::{Deserialize, Serialize};
use std::fs::{self, File, TryLockError};
use std::path::{Path, PathBuf};

/// What a random search has drawn, kept secret and kept the same.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Drawn {
    /// The runs.
    runs: Vec<DrawnRun>,
}

/// One of the drawn runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct DrawnRun {
    /// Its candidate.
    candidate: usize,
    /// Its folder: random, so that no message that names it tells how many there are.
    folder: String,
}

/// Which run is the best, noted before the others are removed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Chosen {
    /// Its position and score; none if no run was made or none has a score.
    best: Option<(usize, Score)>,
}

/// Starts a search, or goes on with the one of the folder. None if Ctrl-C came first.
pub fn search(
    text: &str,
    out: &Path,
    device: Option<String>,
    output: Output,
) -> Result<Option<Found>> {
    let space = Space::parse(text)?;
    let mut candidates = space.candidates()?;
    let settings = space.settings()?;
    let facts = run::look(&settings, output)?;
    for settings in candidates
        .iter_mut()
        .map(|candidate| &mut candidate.settings)
    {
        settings.device = device.clone().or(settings.device.take());
        // The schema as it is now, whatever becomes of its file.
        *settings = settings.clone().with_schema_inside()?;
    }
    space.check_score(&settings, facts)?;
    let certificate = Certificate::new(&space, &candidates, facts).context("nothing was spent")?;
    let search = Search {
        private: settings.seed.is_none(),
        seed: settings.seed,
        out: out.to_path_buf(),
        output,
        space,
        candidates,
        certificate,
    };
    let _lock = search.open(text)?;
    if let Some(found) = Found::read(out)? {
        // Published; what was interrupted after that is finished.
        search.leave_no_trace()?;
        return Ok(Some(found));
    }
    search.announce();
    match search.space.mode {
        Mode::Grid => search.grid(),
        Mode::Random => search.random(),
    }
}

struct Search {
    out: PathBuf,
    output: Output,
    private: bool,
    seed: Option<u64>,
    space: Space,
    candidates: Vec<Candidate>,
    certificate: Certificate,
}

impl Search {
    /// Makes the folder, or checks that it belongs to this very space and to data with the same public
    /// facts; one process at a time.
    fn open(&self, text: &str) -> Result<File> {
        let shown = self.out.display();
        let (copy, plans) = (self.out.join("space.toml"), self.out.join("plans.sha256"));
        let hash = self.certificate.hash()?;
        if self.out.exists() {
            let known = fs::read_to_string(&copy).ok();
            ensure!(
                known.as_deref() == Some(text),
                "{shown} exists already and does not hold this search; give --out another folder, or the \
                 unchanged file to go on. Nothing was spent"
            );
            let certified = fs::read_to_string(&plans).ok();
            ensure!(
                certified.as_deref() == Some(&hash),
                "the runs of {shown} were certified for other plans: the number of records, the schema or the \
                 test records have changed since, or the program. Restore them to go on, or give --out another \
                 folder. Nothing was spent"
            );
        } else {
            fs::create_dir_all(&self.out).with_context(|| format!("cannot make {shown}"))?;
            run::write_whole(&plans, hash.as_bytes())?;
            run::write_whole(&copy, text.as_bytes())?;
        }
        let lock = File::open(&copy).with_context(|| format!("cannot open {}", copy.display()))?;
        match lock.try_lock() {
            Ok(()) => Ok(lock),
            Err(TryLockError::WouldBlock) => bail!("another process is at work in {shown}"),
            Err(TryLockError::Error(error)) => {
                Err(error).with_context(|| format!("cannot lock {}", copy.display()))
            }
        }
    }

    /// Public knowledge only: nothing here depends on what was drawn.
    fn announce(&self) {
        if self.output.quiet {
            return;
        }
        let certificate = &self.certificate;
        if !self.private {
            eprintln!("NOT PRIVATE: a fixed seed. For experiments only.");
        }
        let what = match self.space.mode {
            Mode::Grid => format!("{} runs, all of which may be shown", self.candidates.len()),
            Mode::Random => format!(
                "a secret random number of runs over {} candidates; only the best will be shown",
                count(self.candidates.len() as u64)
            ),
        };
        eprintln!("Search of {what}");
        eprintln!(
            "  guarantee   ε ≤ {} at δ = {} for the whole search, certified before its first run",
            up(certificate.epsilon_upper(), 5),
            exact(certificate.delta)
        );
    }

    fn parallel(&self) -> usize {
        if self.seed.is_some() {
            // Initial parameters come from one generator, so seeded runs repeat only one by one.
            return 1;
        }
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        self.space.parallel.unwrap_or(cores)
    }

    fn task(&self, folder: PathBuf, candidate: usize, index: usize) -> Task {
        let mut settings = self.certificate.settings[candidate].clone();
        // A seed of its own, or equal settings would give equal runs.
        settings.seed = self.seed.map(|seed| seed.wrapping_add(index as u64));
        Task {
            folder,
            settings,
            ledger: self.certificate.ledgers[candidate].clone(),
        }
    }

    fn grid(&self) -> Result<Option<Found>> {
        let count = self.candidates.len();
        let width = count.to_string().len();
        let folder = |index: usize| format!("runs/{:0width$}", index + 1);
        let tasks: Vec<Task> = (0..count)
            .map(|index| self.task(self.out.join(folder(index)), index, index))
            .collect();
        let show = |index: usize, score: &Score| {
            if !self.output.quiet {
                let name = &self.candidates[index].name;
                eprintln!("  run {} of {count}: {name}: {}", index + 1, score.text);
            }
        };
        let Some(scores) = worker::make_all(&tasks, self.parallel(), show)? else {
            return Ok(None);
        };
        for task in &tasks {
            self.mark(&task.folder)?;
        }
        let shown = |index: usize| Shown {
            settings: self.candidates[index].name.clone(),
            score: scores[index].clone(),
            folder: folder(index),
            noise_multiplier: self.certificate.settings[index].noise.unwrap_or(f64::NAN),
        };
        let runs = (0..count).map(shown).collect();
        let winner = worker::best(&scores).map(shown);
        self.publish(Some(runs), winner).map(Some)
    }

    fn random(&self) -> Result<Option<Found>> {
        let secret = self.secret();
        let drawn = self.drawn()?;
        let folder = |run: &DrawnRun| secret.join("runs").join(&run.folder);
        let tasks: Vec<Task> = (drawn.runs.iter().enumerate())
            .map(|(index, run)| self.task(folder(run), run.candidate, index))
            .collect();
        let file = secret.join("chosen.json");
        let chosen: Chosen = match fs::read_to_string(&file) {
            Ok(text) => serde_json::from_str(&text)?,
            Err(_) => {
                // Nothing is said of any run: neither its score nor that it ended.
                // An error says why, but not of which run: its folder is not to be looked into.
                let made = worker::make_all(&tasks, self.parallel(), |_, _| ()).map_err(|error| {
                    anyhow::anyhow!(
                        "a run stopped early: {}. Mend this and give the same command again, which goes on; \
                         what is in {} must not be looked at",
                        error.root_cause(),
                        secret.display()
                    )
                });
                let Some(scores) = made? else {
                    return Ok(None);
                };
                let best = worker::best(&scores).map(|index| (index, scores[index].clone()));
                let chosen = Chosen { best };
                run::write_whole(&file, serde_json::to_string(&chosen)?.as_bytes())?;
                chosen
            }
        };
        let winner = match chosen.best {
            None => None,
            Some((index, score)) => {
                let place = self.out.join("winner");
                if !place.exists() {
                    fs::rename(folder(&drawn.runs[index]), &place)
                        .with_context(|| format!("cannot make {}", place.display()))?;
                }
                self.mark(&place)?;
                let candidate = drawn.runs[index].candidate;
                Some(Shown {
                    settings: self.candidates[candidate].name.clone(),
                    score,
                    folder: "winner".into(),
                    noise_multiplier: (self.certificate.settings[candidate].noise)
                        .unwrap_or(f64::NAN),
                })
            }
        };
        let found = self.publish(None, winner)?;
        self.leave_no_trace()?;
        Ok(Some(found))
    }

    fn secret(&self) -> PathBuf {
        self.out.join(secret::FOLDER)
    }

    /// The number of runs and their candidates: drawn once, then read.
    fn drawn(&self) -> Result<Drawn> {
        let secret = self.secret();
        let file = secret.join(secret::DRAWN);
        if file.exists() {
            let text = fs::read_to_string(&file).context("cannot read what was drawn")?;
            return serde_json::from_str(&text).context("what was drawn is damaged");
        }
        secret::make(&secret)?;
        let mut seeded = self.seed.map(SplitMix);
        let mut words = || match &mut seeded {
            Some(generator) => Ok(generator.next()),
            None => system_word(),
        };
        let number = number::draw(self.space.law()?, &mut words as &mut Words)?;
        let runs = (0..number)
            .map(|_| {
                Ok(DrawnRun {
                    candidate: number::below(self.candidates.len(), &mut words)?,
                    folder: format!("{:016x}", words()?),
                })
            })
            .collect::<Result<_>>()?;
        let drawn = Drawn { runs };
        // It must outlive a crash: drawing again would be another mechanism.
        run::write_lasting(&file, serde_json::to_string(&drawn)?.as_bytes())?;
        Ok(drawn)
    }

    /// A random search leaves nothing but what it publishes; a grid publishes everything.
    fn leave_no_trace(&self) -> Result<()> {
        if self.space.mode == Mode::Grid {
            return Ok(());
        }
        secret::leave_no_trace(&self.out)
    }

    /// Makes a run's own report say that it is a part of a search.
    fn mark(&self, folder: &Path) -> Result<()> {
        let file = folder.join("facts.json");
        if !file.exists() {
            // The run was lost.
            return Ok(());
        }
        let text = fs::read_to_string(&file)?;
        let mut facts: Facts = serde_json::from_str(&text)
            .with_context(|| format!("{} does not hold the facts of a run", file.display()))?;
        facts.tuning = Tuning::PartOfSearch {
            epsilon_upper: self.certificate.epsilon_upper(),
            delta: self.certificate.delta,
        };
        let optimistic = "The best of several runs was chosen by its score on these test records, so the \
                          score is too good.";
        if self.space.choose_by == ChooseBy::TestSet
            && !facts.caveats.iter().any(|c| c == optimistic)
        {
            facts.caveats.push(optimistic.into());
        }
        let text = format!("{:#}\n", serde_json::to_value(&facts)?);
        run::write_whole(&file, text.as_bytes())?;
        let page = report_command::read(folder)?;
        report_command::write(
            &page,
            &folder.join("report.html"),
            &folder.join("report.json"),
        )
    }

    fn publish(&self, runs: Option<Vec<Shown>>, winner: Option<Shown>) -> Result<Found> {
        let certificate = &self.certificate;
        let found = Found::new(
            &self.space,
            self.private,
            certificate,
            self.candidates.len(),
            runs,
            winner,
        );
        found.write(&self.out)?;
        Ok(found)
    }
}

fn system_word() -> Result<u64> {
    let mut bytes = [0; 8];
    getrandom::fill(&mut bytes).map_err(|error| {
        anyhow::anyhow!("the operating system gave no random bytes ({error}); nothing was spent")
    })?;
    Ok(u64::from_le_bytes(bytes))
}
