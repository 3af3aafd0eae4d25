//! What a plan may not be.

use super::{Budget, Plan, PlanError, Scale};
use crate::mechanism::schedule::{NoiseDecay, NoiseSchedule};
use crate::sensitivity::clipping::{ClipRule, DirectionNoise, Grouping, RANGE, Threshold};
use tacita_accounting::calibrate::MOST_DISTINCT;

const POSITIVE: &str = "a finite number above 0";

/// A unit's records share one pass over the model, whatever memory there is.
const MOST_RECORDS_OF_A_UNIT: u64 = 1000;

/// `RANGE` of thresholds.
const RANGE_IN_WORDS: &str = "between 1e-20 and 1e20";

fn positive(what: &'static str, value: f64) -> Result<(), PlanError> {
    within(what, POSITIVE, value, value > 0.0 && value.is_finite())
}

fn within(what: &'static str, range: &'static str, value: f64, ok: bool) -> Result<(), PlanError> {
    match ok {
        true => Ok(()),
        false => Err(PlanError::Value { what, range, value }),
    }
}

fn table(what: &'static str, values: &[f64], steps: u64) -> Result<(), PlanError> {
    if values.len() as u64 != steps {
        return Err(PlanError::Table {
            what,
            listed: values.len(),
            steps,
        });
    }
    values.iter().try_for_each(|value| positive(what, *value))
}

impl Plan {
    /// Refuses numbers outside their range and combinations without meaning or proof.
    pub fn check(&self) -> Result<(), PlanError> {
        self.check_numbers()?;
        self.check_threshold()?;
        self.check_schedule()?;
        self.check_combination()
    }

    fn check_numbers(&self) -> Result<(), PlanError> {
        let delta = match self.scale {
            Scale::Budget(Budget { epsilon, delta })
            | Scale::Paper(_, Budget { epsilon, delta }) => {
                positive("epsilon", epsilon)?;
                delta
            }
            Scale::Given {
                noise_multiplier,
                delta,
            } => {
                positive("noise multiplier", noise_multiplier)?;
                delta
            }
        };
        within("delta", "in (0, 1)", delta, delta > 0.0 && delta < 1.0)?;
        let records = self.records as f64;
        within("public record count", "at least 1", records, records >= 1.0)?;
        let batch = self.expected_batch;
        within("expected batch", "at least 1", batch, batch >= 1.0)?;
        if batch > records {
            return Err(PlanError::BatchTooLarge {
                batch,
                records: self.records,
            });
        }
        self.size()?;
        if let Some(most) = self.records_per_unit {
            let ok = (1..=MOST_RECORDS_OF_A_UNIT).contains(&most);
            let what = "number of records of a unit in a step";
            within(what, "between 1 and 1000", most as f64, ok)?;
        }
        let owned = self.records_of_an_owner;
        let what = "number of records of an owner";
        within(what, "at least 1", f64::from(owned), owned >= 1)?;
        for multiplier in &self.statistics {
            positive("noise multiplier of a statistic", *multiplier)?;
        }
        for multiplier in &self.scores {
            positive("noise multiplier of a score", *multiplier)?;
        }
        if let ClipRule::Auto { gamma } = self.clipping.rule {
            let ok = gamma >= 0.0 && gamma.is_finite();
            let range = "a finite number of at least 0";
            within("stability constant gamma", range, gamma, ok)?;
        }
        match &self.clipping.grouping {
            Grouping::Weighted(weights) => {
                (weights.iter()).try_for_each(|weight| positive("weight of a layer", *weight))
            }
            Grouping::Named(groups) => {
                (groups.iter()).try_for_each(|group| positive("weight of a group", group.weight))
            }
            Grouping::Flat | Grouping::PerLayer => Ok(()),
        }
    }

    fn check_threshold(&self) -> Result<(), PlanError> {
        self.check_threshold_policy()?;
        let (threshold, steps) = (&self.clipping.threshold, self.step_count());
        // All but a table move one way, so that their ends tell.
        let looked_at = match threshold {
            Threshold::Table { .. } => 0..steps,
            _ => 0..steps.min(1),
        };
        for step in looked_at.chain(steps.checked_sub(1)) {
            let value = threshold.scheduled(step, steps);
            let ok = (RANGE.0..=RANGE.1).contains(&value);
            within("clipping threshold of a step", RANGE_IN_WORDS, value, ok)?;
        }
        Ok(())
    }

    fn check_threshold_policy(&self) -> Result<(), PlanError> {
        match &self.clipping.threshold {
            Threshold::Constant { value } => positive("clipping threshold", *value),
            Threshold::Decay { initial, ratio } => {
                positive("initial clipping threshold", *initial)?;
                positive("ratio of the threshold decay", *ratio)
            }
            Threshold::Table { values } => table(
                "the table of clipping thresholds",
                values,
                self.step_count(),
            ),
            Threshold::Quantile(policy) => {
                let quantile = policy.quantile;
                let ok = quantile > 0.0 && quantile < 1.0;
                within("target quantile", "in (0, 1)", quantile, ok)?;
                positive("initial clipping threshold", policy.initial)?;
                positive("learning rate of the threshold", policy.learning_rate)?;
                let noise_std = policy.count_noise_std.unwrap_or(1.0);
                positive("noise of the quantile count", noise_std)
            }
            Threshold::Online(policy) => {
                positive("initial clipping threshold", policy.initial)?;
                positive("learning rate of the threshold", policy.rate)?;
                match policy.noise {
                    DirectionNoise::GradientIncrease(share) => {
                        positive("increase of the gradient's noise", share)
                    }
                    DirectionNoise::Multiplier(multiplier) => {
                        positive("noise multiplier of the directions", multiplier)
                    }
                }
            }
        }
    }

    fn check_schedule(&self) -> Result<(), PlanError> {
        let steps = self.step_count();
        if self.schedule != NoiseSchedule::Constant {
            let what = "number of steps of a noise schedule";
            within(
                what,
                "at most 1000000",
                steps as f64,
                steps <= MOST_DISTINCT,
            )?;
        }
        match &self.schedule {
            NoiseSchedule::Constant | NoiseSchedule::Optimal => Ok(()),
            NoiseSchedule::GrowingMu { ratio } => positive("ratio of growing mu", *ratio),
            NoiseSchedule::Table { relative } => {
                table("the table of noise multipliers", relative, steps)
            }
            NoiseSchedule::OptimalForCurvature { curvature } => {
                table("the table of curvatures", curvature, steps)
            }
            NoiseSchedule::Decay(decay) => match *decay {
                NoiseDecay::TimeBased { rate } | NoiseDecay::Exponential { rate } => {
                    let ok = rate >= 0.0 && rate.is_finite();
                    let range = "a finite number of at least 0";
                    within("rate of the noise decay", range, rate, ok)
                }
                NoiseDecay::Step { factor, .. } => positive("factor of the noise decay", factor),
                NoiseDecay::Polynomial { power, end, .. } => {
                    positive("power of the noise decay", power)?;
                    positive("end of the noise decay", end)
                }
            },
        }
    }

    fn check_combination(&self) -> Result<(), PlanError> {
        if self.records_of_an_owner > 1 && self.records_per_unit.is_some() {
            return Err(PlanError::Meaningless {
                what: "an owner of several records whose unit has several records",
                why: "a step draws owners or records, not both",
                remedy: "keep `records_per_unit` to draw owners, or `owners_of_records` to draw records",
            });
        }
        if self.records_of_an_owner > 1 && matches!(self.scale, Scale::Paper(..)) {
            return Err(PlanError::Unproved {
                what: "a paper's noise for owners of several records",
                why: "the accountants of the papers know one record only",
                remedy: "find the noise from the budget, or give it",
            });
        }
        let threshold = &self.clipping.threshold;
        let automatic = matches!(self.clipping.rule, ClipRule::Auto { .. });
        if automatic && threshold.is_learned() {
            return Err(PlanError::Meaningless {
                what: "a learned threshold with automatic clipping",
                why: "every gradient is scaled to length C, so C only rescales the learning rate and \
                      there is nothing to learn",
                remedy: "use Abadi's rule with this threshold, or automatic clipping without it",
            });
        }
        if automatic && !matches!(threshold, Threshold::Constant { .. }) {
            return Err(PlanError::Meaningless {
                what: "a threshold that changes with automatic clipping",
                why: "gradient and noise shrink together, which is a decay of the learning rate",
                remedy: "use a learning-rate schedule, or Abadi's rule with this threshold",
            });
        }
        let optimal = matches!(
            self.schedule,
            NoiseSchedule::Optimal | NoiseSchedule::OptimalForCurvature { .. }
        );
        if optimal && threshold.is_learned() {
            return Err(PlanError::Unproved {
                what: "optimal noise for a learned threshold",
                why: "the noise multiplier would depend on what was released, and ordinary \
                      composition does not cover that",
                remedy: "use a threshold known in advance, or another noise schedule",
            });
        }
        Ok(())
    }
}
