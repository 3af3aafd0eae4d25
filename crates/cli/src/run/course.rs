//! What is seen while a run trains: a bar on the screen and lines in the folder.

use super::metrics::{Metric, Metrics};
use super::open_run::OpenRun;
use super::outcome::Output;
use super::progress::ProgressLine;
use anyhow::Result;
use tacita::Progress;

/// The course of a run so far. Nothing in it depends on the records but through released values.
pub struct Course {
    progress: ProgressLine,
    metrics: Metrics,
    steps: u64,
    /// Steps between two lines of the metrics.
    every: u64,
    test_every: Option<u64>,
}

impl Course {
    /// Begins after so many steps, which an earlier attempt made.
    pub fn begin(open: &OpenRun<'_>, parameters: usize, done: u64, output: Output) -> Result<Self> {
        let run = &open.run;
        let progress = ProgressLine::start(run, &open.record, parameters, output)?;
        progress.begin_after(done);
        let steps = run.plan.steps();
        Ok(Self {
            progress,
            metrics: Metrics::open(&open.folder.metrics(), done)?,
            steps,
            every: (steps / 400).max(1),
            test_every: run.settings.test_every,
        })
    }

    /// Notes a step; the score on public test records is asked for only where it is wanted.
    pub fn step(&mut self, at: &Progress, test_score: &dyn Fn() -> Option<f64>) {
        self.progress.show(at);
        let tested = self
            .test_every
            .is_some_and(|every| at.step.is_multiple_of(every));
        if tested || at.step.is_multiple_of(self.every) || at.step == 1 || at.step == self.steps {
            self.metrics.add(Metric {
                step: at.step,
                threshold: at.threshold,
                learning_rate: at.learning_rate,
                test_score: if tested { test_score() } else { None },
            });
        }
    }

    /// Takes the bar away and gives the lines.
    pub fn end(self) -> Vec<Metric> {
        self.progress.finish();
        self.metrics.into_lines()
    }
}
