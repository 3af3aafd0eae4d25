//! A grid: every candidate once, in `runs/`. All may be shown.

use super::page::{Found, Shown};
use super::search::Search;
use super::worker::{self, Score, Task};
use anyhow::Result;

impl Search {
    /// Makes all runs. None if Ctrl-C came first.
    pub fn grid(&self) -> Result<Option<Found>> {
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
}
