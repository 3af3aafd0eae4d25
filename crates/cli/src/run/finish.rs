//! After the last step: the model, its score, the facts and the report.

use super::evaluate::{evaluate, mean};
use super::metrics::Metrics;
use super::{FromSet, Outcome, Part, Resolved, RunFolder, RunRecord, facts, spending, write_whole};
use crate::commands::report::{self as report_command, FACTS};
use crate::models::{Score, Scored};
use crate::report::facts::{Evaluation, Facts};
use anyhow::{Context, Result};
use burn::tensor::Device;
use tacita::{Binding, Trained};

/// The noisy accuracy that an earlier attempt released and wrote down, unless it was edited since.
fn earlier_evaluation(folder: &RunFolder) -> Option<Evaluation> {
    let text = std::fs::read_to_string(folder.facts()).ok()?;
    let ledger = tacita::read_ledger_file(&folder.ledger()).ok()?;
    let binding = ledger.binding(FACTS, text.as_bytes());
    if !matches!(binding, Binding::Same | Binding::None) {
        return None;
    }
    let facts: Facts = serde_json::from_str(&text).ok()?;
    facts.evaluation
}

/// What remains to be done after the last step.
pub(super) struct Finish<'a> {
    pub run: &'a Resolved,
    pub record: &'a RunRecord,
    pub metrics: &'a Metrics,
    pub folder: &'a RunFolder,
    pub parameters: usize,
    pub seconds: f64,
}

impl Finish<'_> {
    /// Saves the model, scores it, and writes the facts and the report.
    pub fn write<R: FromSet, M: Scored<R::Batch>>(
        self,
        trained: Trained<M>,
        test: Option<(R, bool)>,
        device: &Device,
    ) -> Result<Outcome> {
        let Self {
            run,
            record,
            folder,
            ..
        } = self;
        let Trained {
            model,
            report,
            steps,
            unscored,
        } = trained;
        tacita::save_model(&model, &folder.model())?;
        let burn_record = folder.burn_record();
        (model.clone().save_file(&burn_record))
            .with_context(|| format!("cannot write {}", burn_record.display()))?;

        let mut squared_error = None;
        let mut rounds = run.plan.statistics() + steps;
        let mut lost_score = false;
        let evaluation = match (test, unscored) {
            // Nothing to score: that is no reason to end a run that is made.
            (Some((test, true)), _) if test.count() == 0 => None,
            (Some((test, true)), _) => {
                let scores = evaluate(&model, &test, device);
                match M::SCORE {
                    Score::Accuracy => Some(self.public_accuracy(&scores)),
                    Score::SquaredError => {
                        squared_error = Some(mean(&scores));
                        None
                    }
                }
            }
            (Some((test, false)), Some(mut session)) if M::SCORE == Score::Accuracy => {
                let left = run.plan.ledger().steps() - session.ledger().steps();
                let evaluation = if left < run.plan.scores() {
                    // Spent by an earlier attempt; what it released stands, if it was written.
                    earlier_evaluation(folder)
                } else {
                    let scores = evaluate(&model, &test, device);
                    let right = session.score(scores.iter().map(|score| *score > 0.5))?;
                    let all = session.score(scores.iter().map(|_| true))?.max(1.0);
                    let noise = run.settings.score_noise.unwrap_or(f64::NAN);
                    let accuracy = (right / all).clamp(0.0, 1.0);
                    Some(Evaluation::NoisyCount {
                        on: "private test records".into(),
                        accuracy,
                        noise_std: noise * (1.0 + accuracy * accuracy).sqrt() / all,
                    })
                };
                rounds = session.ledger().steps();
                lost_score = evaluation.is_none();
                session.close()?;
                evaluation
            }
            (_, Some(session)) => {
                session.close()?;
                None
            }
            _ => None,
        };
        let lines = self.metrics.lines();
        let mut facts = facts::facts(
            run,
            record,
            self.parameters,
            lines,
            rounds,
            evaluation.clone(),
        );
        if lost_score {
            facts.caveats.push(
                "The accuracy on private test records was lost when the run died; its cost stays spent."
                    .into(),
            );
        }
        let text = format!("{:#}\n", serde_json::to_value(&facts)?);
        // Before the file itself, so that facts that are there are always bound.
        tacita::bind_file_to_ledger(&folder.ledger(), FACTS, text.as_bytes())?;
        write_whole(&folder.facts(), text.as_bytes())?;
        let path = folder.path();
        // A secret run has no guarantee of its own, so it has no report unless it is published.
        if record
            .search
            .is_none_or(|search| search.part != Part::Secret)
        {
            report_command::write_all(path)?;
        }
        let spent = if steps < run.plan.steps() {
            spending::of_prefix(&run.plan, rounds)?
        } else {
            None
        };
        Ok(Outcome {
            folder: path.to_path_buf(),
            spent,
            evaluation,
            squared_error,
            over_steps: self.over_steps(),
            report,
            start: record.start.clone(),
            steps,
            seconds: self.seconds,
        })
    }

    fn over_steps(&self) -> Vec<(u64, f64)> {
        let tested = self.metrics.lines().iter();
        tested
            .filter_map(|metric| Some((metric.step, metric.test_score?)))
            .collect()
    }

    fn public_accuracy(&self, scores: &[f64]) -> Evaluation {
        Evaluation::PublicTest {
            on: format!("public test records of {}", self.record.name),
            records: scores.len() as u64,
            accuracy: mean(scores),
            over_steps: self.over_steps(),
        }
    }
}
