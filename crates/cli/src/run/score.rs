//! How good a trained model is. On private test records that is a release of its own, part of the plan.

use super::evaluate::mean;
use super::metrics::Metric;
use super::open_run::OpenRun;
use super::run_folder::RunFolder;
use super::workbench::{TrainedBench, Workbench};
use crate::models::Score;
use crate::report::facts::{Evaluation, Facts};
use crate::run_files::RunFiles;
use crate::utility::{self, Layout, Utility};
use anyhow::Result;
use tacita::{Binding, Session};
use tacita_datasets::{RecordSet, Target, TargetKind, TestSet};

/// What is known of how good a model is.
#[derive(Debug, Default)]
pub struct Scoring {
    /// The accuracy, as far as it may be said.
    pub evaluation: Option<Evaluation>,
    /// Every figure, as far as it may be said.
    pub utility: Option<Utility>,
    /// The mean squared error of an autoencoder on public records, or of a predicted number.
    pub squared_error: Option<f64>,
    /// Rounds of the ledger by then.
    pub rounds: u64,
    /// Whether a score was paid for that is lost.
    pub lost: bool,
}

impl OpenRun<'_> {
    /// Scores the model on the test records, if there are any and the run has ended.
    pub(super) fn score(&self, trained: &mut TrainedBench, course: &[Metric]) -> Result<Scoring> {
        let bench = &*trained.bench;
        let before = Scoring {
            rounds: self.run.plan.statistics() + trained.steps,
            ..Scoring::default()
        };
        match (&self.data.test, trained.unscored.take()) {
            // The first rank does it.
            (Some(test), _) if test.declared_public && !self.ranks.is_first() => Ok(before),
            (Some(test), _) if test.declared_public => {
                self.score_publicly(bench, test, course, before)
            }
            (Some(test), Some(session)) if bench.score() == Score::Accuracy => {
                self.release_score(bench, &test.records, session)
            }
            (_, Some(session)) => {
                session.close()?;
                Ok(before)
            }
            (_, None) => Ok(before),
        }
    }

    fn score_publicly(
        &self,
        bench: &dyn Workbench,
        test: &TestSet,
        course: &[Metric],
        before: Scoring,
    ) -> Result<Scoring> {
        // Nothing to score: that is no reason to end a run that is made.
        if test.records.count() == 0 {
            return Ok(before);
        }
        let Some(outputs) = bench.outputs(&test.records)? else {
            return Ok(Scoring {
                squared_error: Some(mean(&bench.scores(&test.records)?)),
                ..before
            });
        };
        let on = format!("public test records of {}", self.record.name);
        let targets = test.records.targets()?;
        let utility = utility::exact(&outputs, &targets, &self.target()?, on.clone());
        Ok(Scoring {
            evaluation: utility.accuracy().map(|accuracy| Evaluation::PublicTest {
                on,
                records: outputs.len() as u64,
                accuracy: accuracy.value,
                over_steps: over_steps(course),
            }),
            squared_error: utility.squared_error(),
            utility: Some(utility),
            ..before
        })
    }

    /// Releases noisy tables of classes, answers and scores, as the plan has it.
    fn release_score(
        &self,
        bench: &dyn Workbench,
        test: &RecordSet,
        mut session: Session,
    ) -> Result<Scoring> {
        let plan = &self.run.plan;
        let left = plan.ledger().rounds_made() - session.ledger().rounds_made();
        let noise = self.run.settings.score_noise.unwrap_or(f64::NAN);
        let target = self.target()?;
        let layout = Layout::new(target.kind(), self.data.classes().len(), noise);
        // Every rank answers all records, and counts its own. One record more must not change how the others are rounded.
        let outputs = match session.pass_of_one_size() {
            Some(size) => bench.outputs_in_passes_of(size, test)?,
            None => bench.outputs(test)?,
        };
        let (evaluation, utility) = match (outputs, left) {
            (Some(outputs), 1) if plan.scores() == 1 => {
                let targets = test.targets()?;
                let of_records: Vec<Vec<f64>> = layout.vectors(&outputs, &targets).collect();
                let vectors = targets.of_each_unit(|record| of_records[record].clone());
                let vectors = self.ranks.share_of(vectors);
                let released = session.score(layout.length(), vectors)?;
                let utility = layout.read(&released.values, &target, PRIVATE.into());
                (utility.as_ref().and_then(evaluation), utility)
            }
            // Spent by an earlier attempt; what it released stands, if it was written.
            _ => earlier(self.folder),
        };
        let rounds = session.ledger().rounds_made();
        session.close()?;
        Ok(Scoring {
            lost: utility.is_none(),
            squared_error: utility.as_ref().and_then(Utility::squared_error),
            evaluation,
            utility,
            rounds,
        })
    }

    /// What is predicted, as declared.
    fn target(&self) -> Result<Target> {
        match self.data.training.target() {
            TargetKind::Class => Ok(Target::Classes(self.data.classes().to_vec())),
            _ => self.run.settings.options(true)?.schema.label.target(),
        }
    }
}

/// Test records that are not public, in words.
const PRIVATE: &str = "private test records";

/// The noisy accuracy, if the noise leaves anything of it.
fn evaluation(utility: &Utility) -> Option<Evaluation> {
    let accuracy = utility.accuracy()?;
    Some(Evaluation::NoisyCount {
        on: PRIVATE.into(),
        accuracy: accuracy.value,
        noise_std: 0.5 * accuracy.plus_minus?,
    })
}

/// Mean scores on public test records on the way, by steps made.
pub fn over_steps(course: &[Metric]) -> Vec<(u64, f64)> {
    let tested = course.iter();
    tested
        .filter_map(|metric| Some((metric.step, metric.test_score?)))
        .collect()
}

/// The noisy score that an earlier attempt released and wrote down, unless it was edited since.
fn earlier(folder: &RunFolder) -> (Option<Evaluation>, Option<Utility>) {
    let read = || {
        let text = std::fs::read_to_string(folder.facts()).ok()?;
        let ledger = tacita::read_ledger_file(&folder.ledger()).ok()?;
        let binding = ledger.binding(RunFiles::FACTS, text.as_bytes());
        let is_bound = matches!(binding, Binding::Same | Binding::None);
        let facts: Facts = serde_json::from_str(&text).ok().filter(|_| is_bound)?;
        Some((facts.evaluation, facts.utility))
    };
    read().unwrap_or_default()
}
