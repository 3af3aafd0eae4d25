//! A secret number of secret candidates.
//!
//! Everything is kept in `secret/` until the end: the drawn number, the candidates, every run. Then the best run moves to
//! `winner/` and the rest is removed.

use super::page::{Found, Shown};
use super::search::Search;
use super::secret;
use super::worker::{self, Score, Task};
use crate::files::write_lasting;
use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};
use std::fs;
use std::path::PathBuf;
use tacita::SearchDraw;

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

impl Search {
    /// Makes the runs that were drawn. None if Ctrl-C came first.
    pub fn random(&self) -> Result<Option<Found>> {
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
                let made = worker::make_all(&tasks, self.parallel(), |_, _| ());
                // An error says why, but not of which run: its folder is not to be looked into.
                let made = made.map_err(|error| {
                    anyhow::anyhow!(
                        "a run stopped early: {}. Mend this and give the same command again, which resumes; \
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
                write_lasting(&file, serde_json::to_string(&chosen)?.as_bytes())?;
                chosen
            }
        };
        let winner = match chosen.best {
            None => None,
            Some((index, score)) => {
                let place = self.out.join("winner");
                if !place.exists() {
                    secret::publish(&folder(&drawn.runs[index]))?;
                    fs::rename(folder(&drawn.runs[index]), &place)
                        .with_context(|| format!("cannot make {}", place.display()))?;
                }
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
        self.remove_secrets()?;
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
            let drawn = serde_json::from_str(&text).context("what was drawn is damaged")?;
            secret::note_that_it_began(&self.out)?;
            return Ok(drawn);
        }
        secret::refuse_to_draw_twice(&self.out)?;
        secret::make(&secret)?;
        let mut draw = match self.seed {
            Some(seed) => SearchDraw::fixed_seed(seed),
            None => SearchDraw::from_os()?,
        };
        let number = draw.number_of_runs(self.space.distribution()?)?;
        let runs = (0..number)
            .map(|_| DrawnRun {
                candidate: draw.below(self.candidates.len()),
                folder: format!("{:016x}", draw.word()),
            })
            .collect();
        let drawn = Drawn { runs };
        // It must outlive a crash: drawing again would be another mechanism.
        write_lasting(&file, serde_json::to_string(&drawn)?.as_bytes())?;
        secret::note_that_it_began(&self.out)?;
        Ok(drawn)
    }
}
