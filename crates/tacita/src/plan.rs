//! What a run will release, decided and certified before it starts.

use crate::clipping::{ClipRule, Grouping};
use serde::{Deserialize, Serialize};
use tacita_accounting::calibrate::{self, Shape};
use tacita_accounting::{AccountError, Accountant, Ledger, LedgerError, Pld, Reading, Sampling};
use thiserror::Error;

/// A privacy budget (ε, δ).
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Budget {
    /// ε.
    pub epsilon: f64,
    /// δ.
    pub delta: f64,
}

impl Budget {
    /// A budget. Checked when the plan is.
    pub fn new(epsilon: f64, delta: f64) -> Self {
        Self { epsilon, delta }
    }
}

/// How per-sample gradients are clipped.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Clipping {
    /// The factor as a function of the norm.
    pub rule: ClipRule,
    /// Which parameters are clipped together.
    #[serde(default)]
    pub grouping: Grouping,
    /// The threshold C: the norm a clipped gradient has at most.
    pub threshold: f64,
}

impl Clipping {
    /// AUTO-S: no threshold to tune. Every gradient is scaled to norm at most 1.
    pub fn auto() -> Self {
        Self {
            rule: ClipRule::AUTO,
            grouping: Grouping::Flat,
            threshold: 1.0,
        }
    }

    /// Abadi's rule with threshold C.
    pub fn abadi(threshold: f64) -> Self {
        Self {
            rule: ClipRule::Abadi,
            grouping: Grouping::Flat,
            threshold,
        }
    }

    /// The same with one norm per layer.
    #[must_use]
    pub fn per_layer(mut self) -> Self {
        self.grouping = Grouping::PerLayer;
        self
    }
}

/// How long a run is.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Length {
    Steps(u64),
    Epochs(f64),
}

/// A run to be certified. See [`Plan::calibrate`].
#[derive(Debug, Clone, PartialEq)]
pub struct Plan {
    noise: Noise,
    records: u64,
    expected_batch: f64,
    length: Length,
    clipping: Clipping,
    direction_increase: Option<f64>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Noise {
    Budget(Budget),
    Multiplier { noise_multiplier: f64, delta: f64 },
}

/// Why a plan was refused. Nothing was released.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum PlanError {
    /// A number outside its range.
    #[error("{what} must be {range}, got {value}")]
    Value {
        /// Which number.
        what: &'static str,
        /// Its range.
        range: &'static str,
        /// The value seen.
        value: f64,
    },
    /// A batch that cannot be drawn.
    #[error(
        "expected batch {batch} is larger than the {records} records; lower the batch or correct the \
         public record count"
    )]
    BatchTooLarge {
        /// Expected batch.
        batch: f64,
        /// Declared records.
        records: u64,
    },
    /// The accountant has no certificate for it.
    #[error(transparent)]
    Account(#[from] AccountError),
}

impl From<LedgerError> for PlanError {
    fn from(error: LedgerError) -> Self {
        Self::Account(error.into())
    }
}

/// The part of δ that covers what the noise generator cannot reach (`noise::missing_tail_delta`).
pub(crate) const TAIL_SHARE: f64 = 1e-6;

impl Plan {
    /// A plan whose noise is found from the budget.
    pub fn new(budget: Budget) -> Self {
        Self::unset(Noise::Budget(budget))
    }

    /// A plan with a given noise multiplier; its ε at `delta` is computed.
    pub fn with_noise(noise_multiplier: f64, delta: f64) -> Self {
        Self::unset(Noise::Multiplier {
            noise_multiplier,
            delta,
        })
    }

    fn unset(noise: Noise) -> Self {
        Self {
            noise,
            records: 0,
            expected_batch: 0.0,
            length: Length::Steps(0),
            clipping: Clipping::auto(),
            direction_increase: None,
        }
    }

    /// How many records there are, as everyone may know. Sampling rate and divisor come from it, not
    /// from the data; if the real number differs, the guarantee holds all the same.
    #[must_use]
    pub fn public_record_count(mut self, records: u64) -> Self {
        self.records = records;
        self
    }

    /// Records per step on average. Each record is drawn independently (Poisson sampling).
    #[must_use]
    pub fn expected_batch(mut self, expected_batch: u64) -> Self {
        self.expected_batch = expected_batch as f64;
        self
    }

    /// Length in steps.
    #[must_use]
    pub fn steps(mut self, steps: u64) -> Self {
        self.length = Length::Steps(steps);
        self
    }

    /// Length in expected passes over the data.
    #[must_use]
    pub fn epochs(mut self, epochs: f64) -> Self {
        self.length = Length::Epochs(epochs);
        self
    }

    /// How gradients are clipped. AUTO-S if not said.
    #[must_use]
    pub fn clipping(mut self, clipping: Clipping) -> Self {
        self.clipping = clipping;
        self
    }

    /// Also releases, in the same round, the sum of the directions of clipped gradients (OSO's second
    /// query). It is paid for by `increase` more noise on the gradient, say 0.01.
    #[must_use]
    pub fn direction_query(mut self, increase: f64) -> Self {
        self.direction_increase = Some(increase);
        self
    }

    /// Finds the smallest certified noise (or certifies the given one) and fixes the plan.
    ///
    /// ```
    /// use tacita::{Budget, Clipping, Plan};
    ///
    /// let plan = Plan::new(Budget::new(3.0, 1e-5))
    ///     .public_record_count(60_000)
    ///     .expected_batch(512)
    ///     .epochs(20.0)
    ///     .clipping(Clipping::auto())
    ///     .calibrate()?;
    /// assert!(plan.epsilon().upper_bound().is_some_and(|epsilon| epsilon <= 3.0));
    /// # Ok::<(), tacita::PlanError>(())
    /// ```
    pub fn calibrate(self) -> Result<CheckedPlan, PlanError> {
        self.check()?;
        let steps = match self.length {
            Length::Steps(steps) => steps,
            Length::Epochs(epochs) => {
                (epochs * self.records as f64 / self.expected_batch).ceil() as u64
            }
        };
        let rate = self.expected_batch / self.records as f64;
        let mut shape = Shape::constant(Sampling::Poisson { rate }, steps);
        if let Some(increase) = self.direction_increase {
            shape = shape.with_noise_increase(increase)?;
        }
        let (ledger, epsilon, delta) = match self.noise {
            Noise::Multiplier {
                noise_multiplier,
                delta,
            } => {
                let ledger = shape.ledger(noise_multiplier)?;
                let epsilon = Pld::default().epsilon(&ledger, delta * (1.0 - TAIL_SHARE))?;
                (ledger, epsilon, delta)
            }
            Noise::Budget(Budget { epsilon, delta }) => {
                let budget = calibrate::Budget::new(epsilon, delta * (1.0 - TAIL_SHARE))?;
                let found = calibrate::smallest_noise(&shape, budget, &Pld::default())?;
                (found.ledger, found.epsilon, delta)
            }
        };
        Ok(CheckedPlan {
            records: self.records,
            expected_batch: self.expected_batch,
            steps,
            clipping: self.clipping,
            rate,
            ledger,
            epsilon,
            delta,
        })
    }

    fn check(&self) -> Result<(), PlanError> {
        let value = |what, range, value, ok: bool| match ok {
            true => Ok(()),
            false => Err(PlanError::Value { what, range, value }),
        };
        let positive = |v: f64| v > 0.0 && v.is_finite();
        let delta = match self.noise {
            Noise::Budget(budget) => {
                let epsilon = budget.epsilon;
                value(
                    "epsilon",
                    "a finite number above 0",
                    epsilon,
                    positive(epsilon),
                )?;
                budget.delta
            }
            Noise::Multiplier {
                noise_multiplier: z,
                delta,
            } => {
                value(
                    "noise multiplier",
                    "a finite number above 0",
                    z,
                    positive(z),
                )?;
                delta
            }
        };
        value("delta", "in (0, 1)", delta, delta > 0.0 && delta < 1.0)?;
        let records = self.records as f64;
        value("public record count", "at least 1", records, records >= 1.0)?;
        let batch = self.expected_batch;
        value("expected batch", "at least 1", batch, batch >= 1.0)?;
        if batch > records {
            return Err(PlanError::BatchTooLarge {
                batch,
                records: self.records,
            });
        }
        match self.length {
            Length::Steps(steps) => value("steps", "at least 1", steps as f64, steps >= 1)?,
            Length::Epochs(epochs) => value(
                "epochs",
                "a finite number above 0",
                epochs,
                positive(epochs),
            )?,
        }
        let threshold = self.clipping.threshold;
        value(
            "clipping threshold",
            "a finite number above 0",
            threshold,
            positive(threshold),
        )?;
        if let ClipRule::Auto { gamma } = self.clipping.rule {
            let ok = gamma >= 0.0 && gamma.is_finite();
            value(
                "stability constant gamma",
                "a finite number of at least 0",
                gamma,
                ok,
            )?;
        }
        Ok(())
    }
}

/// A plan with its certificate. Nothing in it depends on the data.
#[derive(Debug, Clone, PartialEq)]
pub struct CheckedPlan {
    records: u64,
    expected_batch: f64,
    steps: u64,
    clipping: Clipping,
    rate: f64,
    ledger: Ledger,
    epsilon: Reading,
    delta: f64,
}

impl CheckedPlan {
    /// The certified ε of the whole plan: the guarantee.
    pub fn epsilon(&self) -> Reading {
        self.epsilon
    }

    /// δ of the guarantee.
    pub fn delta(&self) -> f64 {
        self.delta
    }

    /// Steps in all.
    pub fn steps(&self) -> u64 {
        self.steps
    }

    /// The probability with which a record takes part in a step.
    pub fn rate(&self) -> f64 {
        self.rate
    }

    /// Records as declared.
    pub fn public_record_count(&self) -> u64 {
        self.records
    }

    /// Records per step on average: what sums are divided by.
    pub fn expected_batch(&self) -> f64 {
        self.expected_batch
    }

    /// How gradients are clipped.
    pub fn clipping(&self) -> &Clipping {
        &self.clipping
    }

    /// Noise multiplier of each query of a step: the gradient first.
    pub fn noise_multipliers(&self, step: u64) -> Vec<f64> {
        let round = self.ledger.round_at(step);
        round
            .map(|round| round.noise_multipliers)
            .unwrap_or_default()
    }

    /// The ledger the run will leave.
    pub fn ledger(&self) -> &Ledger {
        &self.ledger
    }

    /// Queries per round.
    pub(crate) fn queries(&self) -> usize {
        self.noise_multipliers(0).len()
    }

    /// The threshold of each group in a step.
    pub(crate) fn thresholds(&self, _step: u64, shares: &[f64]) -> Vec<f64> {
        let threshold = self.clipping.threshold;
        shares.iter().map(|share| threshold * share).collect()
    }

    /// The noise of each query in a step: multiplier times sensitivity. The gradient's sensitivity is
    /// the 2-norm of the group thresholds, the directions' that of the shares.
    pub(crate) fn noise_stds(&self, step: u64, shares: &[f64]) -> Vec<f64> {
        // A few roundings, on the safe side.
        let length =
            |values: &[f64]| values.iter().map(|v| v * v).sum::<f64>().sqrt() * (1.0 + 1e-12);
        let sensitivities = [length(&self.thresholds(step, shares)), length(shares)];
        self.noise_multipliers(step)
            .into_iter()
            .zip(sensitivities)
            .map(|(multiplier, sensitivity)| multiplier * sensitivity)
            .collect()
    }
}
