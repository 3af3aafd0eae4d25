//! How good a trained model is. On private test records that is a release of its own, part of the plan.

use super::evaluate::mean;
use super::metrics::Metric;
use super::open_run::OpenRun;
use super::run_folder::RunFolder;
use super::workbench::{TrainedBench, Workbench};
use crate::models::Score;
use crate::report::facts::{Evaluation, Facts};
use crate::run_files::RunFiles;
use anyhow::Result;
use tacita::{Binding, Session};
use tacita_datasets::{RecordSet, TestSet};

/// What is known of how good a model is.
#[derive(Debug, Default)]
pub struct Scoring {
    /// The accuracy, as far as it may be said.
    pub evaluation: Option<Evaluation>,
    /// The mean squared error of an autoencoder on public records.
    pub squared_error: Option<f64>,
    /// Rounds of the ledger by then.
    pub rounds: u64,
    /// Whether an accuracy was paid for that is lost.
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
        let scores = bench.scores(&test.records)?;
        Ok(match bench.score() {
            Score::Accuracy => Scoring {
                evaluation: Some(Evaluation::PublicTest {
                    on: format!("public test records of {}", self.record.name),
                    records: scores.len() as u64,
                    accuracy: mean(&scores),
                    over_steps: over_steps(course),
                }),
                ..before
            },
            Score::SquaredError => Scoring {
                squared_error: Some(mean(&scores)),
                ..before
            },
        })
    }

    /// Releases noisy counts of right answers and of all records, as the plan has it.
    fn release_score(
        &self,
        bench: &dyn Workbench,
        test: &RecordSet,
        mut session: Session,
    ) -> Result<Scoring> {
        let plan = &self.run.plan;
        let left = plan.ledger().rounds_made() - session.ledger().rounds_made();
        let evaluation = if left < plan.scores() {
            // Spent by an earlier attempt; what it released stands, if it was written.
            earlier_evaluation(self.folder)
        } else {
            let scores = bench.scores(test)?;
            let right = session.score(scores.iter().map(|score| *score > 0.5))?;
            let all = session.score(scores.iter().map(|_| true))?.max(1.0);
            let noise = self.run.settings.score_noise.unwrap_or(f64::NAN);
            let accuracy = (right / all).clamp(0.0, 1.0);
            Some(Evaluation::NoisyCount {
                on: "private test records".into(),
                accuracy,
                noise_std: noise * (1.0 + accuracy * accuracy).sqrt() / all,
            })
        };
        let rounds = session.ledger().rounds_made();
        session.close()?;
        Ok(Scoring {
            lost: evaluation.is_none(),
            evaluation,
            squared_error: None,
            rounds,
        })
    }
}

/// Mean scores on public test records on the way, by steps made.
pub fn over_steps(course: &[Metric]) -> Vec<(u64, f64)> {
    let tested = course.iter();
    tested
        .filter_map(|metric| Some((metric.step, metric.test_score?)))
        .collect()
}

/// The noisy accuracy that an earlier attempt released and wrote down, unless it was edited since.
fn earlier_evaluation(folder: &RunFolder) -> Option<Evaluation> {
    let text = std::fs::read_to_string(folder.facts()).ok()?;
    let ledger = tacita::read_ledger_file(&folder.ledger()).ok()?;
    let binding = ledger.binding(RunFiles::FACTS, text.as_bytes());
    if !matches!(binding, Binding::Same | Binding::None) {
        return None;
    }
    let facts: Facts = serde_json::from_str(&text).ok()?;
    facts.evaluation
}
