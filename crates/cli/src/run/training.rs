//! From an open run to its outcome.

use super::course::Course;
use super::metrics::Metric;
use super::open_run::OpenRun;
use super::outcome::{Outcome, Output};
use super::score::over_steps;
use super::stop::watch_for_stop;
use super::workbench::{TrainedBench, Workbench};
use super::{describe, save, spending};
use crate::ranks::on_first;
use crate::utility::Diverged;
use anyhow::Result;
use std::time::Instant;
use tacita::{Checkpoint, Opening};

impl OpenRun<'_> {
    /// Trains by the plan, from the opening of a new run or from the checkpoint of one that is resumed; then
    /// scores the model and writes all there is to publish.
    pub(super) fn train(
        &self,
        bench: Box<dyn Workbench>,
        opening: Option<Opening>,
        output: Output,
    ) -> Result<Option<Outcome>> {
        let done = match Checkpoint::read(&self.folder.checkpoint()) {
            Ok(checkpoint) if opening.is_none() => checkpoint.step,
            _ => 0,
        };
        let course = || Course::begin(self, bench.parameters(), done, output);
        let mut course = on_first(&*self.ranks, course)?;
        let mut watch = |at: &_, test_score: &dyn Fn() -> _| {
            course
                .iter_mut()
                .for_each(|course| course.step(at, test_score));
        };
        watch_for_stop();
        let start = Instant::now();
        let trained = bench.train(
            &self.run,
            &self.data,
            self.folder,
            &self.ranks,
            opening,
            &mut watch,
        )?;
        let seconds = start.elapsed().as_secs_f64();
        let course = course.map_or_else(Vec::new, Course::end);
        let outcome = self.finish(trained, &course)?;
        Ok(outcome.map(|outcome| Outcome { seconds, ..outcome }))
    }

    /// Refuses a model that ran away. Its parameters are released, so this tells nothing more; but of the secret runs of
    /// a search nothing may be told, and their scores are bad enough.
    fn check_converged(&self, bench: &dyn Workbench) -> Result<()> {
        match bench.divergence() {
            Some(divergence) if self.record.search.is_none() => {
                let rate = self.run.settings.learning_rate.unwrap_or(f64::NAN);
                Err(Diverged { divergence, rate }.into())
            }
            _ => Ok(()),
        }
    }

    /// Writes down what the run gave, on the first rank; the others take part in its score.
    fn finish(&self, mut trained: TrainedBench, course: &[Metric]) -> Result<Option<Outcome>> {
        on_first(&*self.ranks, || {
            self.check_converged(&*trained.bench)?;
            trained.bench.save(self.folder)
        })?;
        let scoring = self.score(&mut trained, course)?;
        if !self.ranks.is_first() {
            return Ok(None);
        }
        let facts = describe::facts(self, trained.bench.parameters(), course, &scoring);
        save::facts(self.folder, &self.record, &facts)?;
        let plan = &self.run.plan;
        let spent = match trained.steps < plan.steps() {
            true => spending::of_prefix(plan, scoring.rounds)?,
            false => None,
        };
        Ok(Some(Outcome {
            folder: self.folder.path().to_path_buf(),
            spent,
            evaluation: scoring.evaluation,
            utility: scoring.utility,
            squared_error: scoring.squared_error,
            over_steps: over_steps(course),
            report: trained.report,
            start: self.record.start.clone(),
            steps: trained.steps,
            seconds: f64::NAN,
        }))
    }
}
