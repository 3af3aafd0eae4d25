//! What a run will release, decided and certified before it starts.

mod check;
mod checked;
mod clipping;
mod error;
mod paper;

pub use checked::CheckedPlan;
pub use clipping::Clipping;
pub use error::PlanError;
pub use paper::{Claim, PaperAccountant};
pub use tacita_mechanism::noise::TAIL_SHARE;

use crate::mechanism::schedule::{NoiseSchedule, PublicRun};
use crate::sensitivity::clipping::{DirectionNoise, Threshold};
use serde::{Deserialize, Serialize};
use tacita_accounting::calibrate::{self, QueryNoise, Shape};
use tacita_accounting::{
    AccountError, Accountant, Ledger, Length, Neighbours, Pld, RunSize, RunSizeError, Sampling,
    epsilon_of_mu, mu_of_budget,
};

/// Statistics and scores must leave something of the budget's μ for the steps.
const LARGEST_SIDE_SHARE: f64 = 0.999;

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

/// Where the scale of the noise comes from.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Scale {
    /// The least that keeps the budget.
    Budget(Budget),
    /// Given: the noise multiplier of a constant schedule.
    Given { noise_multiplier: f64, delta: f64 },
    /// The least that an accountant of the literature allows.
    Paper(PaperAccountant, Budget),
}

/// A run to be certified. See [`Plan::calibrate`].
///
/// Clipping rule, grouping, threshold, noise schedule and optimiser are chosen independently;
/// combinations without meaning or without a proof are refused with the reason.
#[derive(Debug, Clone, PartialEq)]
pub struct Plan {
    scale: Scale,
    records: u64,
    expected_batch: f64,
    length: Length,
    clipping: Clipping,
    schedule: NoiseSchedule,
    statistics: Vec<f64>,
    scores: Vec<f64>,
    records_per_unit: Option<u64>,
    records_of_an_owner: u32,
}

impl Plan {
    /// A plan whose noise is found from the budget.
    pub fn new(budget: Budget) -> Self {
        Self::unset(Scale::Budget(budget))
    }

    /// A plan with a given noise multiplier; its ε at `delta` is computed. With a noise schedule it
    /// is the scale of the schedule: 1/μ₀ of growing μ.
    pub fn with_noise(noise_multiplier: f64, delta: f64) -> Self {
        Self::unset(Scale::Given {
            noise_multiplier,
            delta,
        })
    }

    /// A plan whose noise is found as the authors of a method did, to reproduce their results. What
    /// they claimed and what is certified then differ; both are reported.
    ///
    /// ```
    /// use tacita::{Budget, PaperAccountant, Plan};
    ///
    /// let plan = Plan::as_in_paper(Budget::new(1.2, 1e-5), PaperAccountant::CentralLimit)
    ///     .public_record_count(60_000)
    ///     .expected_batch(250)
    ///     .steps(1000)
    ///     .calibrate()?;
    /// // The central limit theorem promises 1.2; the truth is above it.
    /// assert!(plan.epsilon().lower_bound().is_some_and(|epsilon| epsilon > 1.2));
    /// # Ok::<(), tacita::PlanError>(())
    /// ```
    pub fn as_in_paper(budget: Budget, accountant: PaperAccountant) -> Self {
        Self::unset(Scale::Paper(accountant, budget))
    }

    fn unset(scale: Scale) -> Self {
        Self {
            scale,
            records: 0,
            expected_batch: 0.0,
            length: Length::Steps(0),
            clipping: Clipping::auto(),
            schedule: NoiseSchedule::Constant,
            statistics: Vec::new(),
            scores: Vec::new(),
            records_per_unit: None,
            records_of_an_owner: 1,
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

    /// Makes the unit of privacy not one record but all records of one person, say: the records say who belongs
    /// together ([`Records::units`](crate::Records::units)). A step draws units, takes at most `most` records of
    /// each, drawn anew in every step, and clips the mean of their gradients. The public record count and the expected batch then count *units*.
    ///
    /// ```
    /// use tacita::{Budget, Plan};
    ///
    /// // 5,000 patients, of each of whom up to ten visits take part when the patient is drawn.
    /// let plan = Plan::new(Budget::new(3.0, 1e-5))
    ///     .public_record_count(5000)
    ///     .expected_batch(100)
    ///     .epochs(4.0)
    ///     .records_per_unit(10)
    ///     .calibrate()?;
    /// assert_eq!(plan.records_per_unit(), Some(10));
    /// # Ok::<(), tacita::PlanError>(())
    /// ```
    #[must_use]
    pub fn records_per_unit(mut self, most: u64) -> Self {
        self.records_per_unit = Some(most);
        self
    }

    /// Draws records, and certifies ε for an owner of up to `most` of them, each of which is drawn on its own: the noise
    /// is then that of a group ([`Ledger::with_records_per_unit`]). That nobody has more in the data is the caller's to
    /// see to. The other way, [`Plan::records_per_unit`], draws owners.
    #[must_use]
    pub fn owners_of_records(mut self, most: u32) -> Self {
        self.records_of_an_owner = most;
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

    /// How gradients are clipped. The default is AUTO-S.
    #[must_use]
    pub fn clipping(mut self, clipping: Clipping) -> Self {
        self.clipping = clipping;
        self
    }

    /// How noise is spread over the steps. The default is evenly.
    #[must_use]
    pub fn noise_schedule(mut self, schedule: NoiseSchedule) -> Self {
        self.schedule = schedule;
        self
    }

    /// Also releases a statistic of the records (sums of vectors no longer than 1) before the first
    /// step, with this noise multiplier. See [`Opening::statistic`](crate::Opening::statistic).
    #[must_use]
    pub fn statistic(mut self, noise_multiplier: f64) -> Self {
        self.statistics.push(noise_multiplier);
        self
    }

    /// Also releases a score of the model on private records (sums of vectors no longer than 1) after the last
    /// step, with this noise multiplier. See [`Session::score`](crate::Session::score).
    #[must_use]
    pub fn score(mut self, noise_multiplier: f64) -> Self {
        self.scores.push(noise_multiplier);
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
        let steps = self.step_count();
        let rate = self.expected_batch / self.records as f64;
        let shape = |sampling| self.sampled(sampling, rate);
        let poisson = shape(Sampling::Poisson { rate })?;
        let certify = |scale: f64, delta: f64| -> Result<_, PlanError> {
            let ledger = poisson.ledger(scale)?;
            let epsilon = Pld::default().epsilon(&ledger, delta * (1.0 - TAIL_SHARE))?;
            Ok((ledger, epsilon))
        };
        let mut claim = None;
        let (scale, ledger, epsilon, delta) = match self.scale {
            Scale::Given {
                noise_multiplier,
                delta,
            } => {
                let (ledger, epsilon) = certify(noise_multiplier, delta)?;
                (noise_multiplier, ledger, epsilon, delta)
            }
            Scale::Budget(Budget { epsilon, delta }) => {
                let budget = calibrate::Budget::new(epsilon, delta * (1.0 - TAIL_SHARE))?;
                self.check_side_releases(epsilon, delta)?;
                let found = calibrate::smallest_noise(&poisson, budget, &Pld::default())?;
                (found.noise_multiplier, found.ledger, found.epsilon, delta)
            }
            Scale::Paper(accountant, Budget { epsilon, delta }) => {
                let budget = calibrate::Budget::new(epsilon, delta)?;
                let scale = accountant.scale(shape, rate, budget)?;
                claim = Some(Claim {
                    accountant,
                    epsilon,
                });
                let (ledger, epsilon) = certify(scale, delta)?;
                (scale, ledger, epsilon, delta)
            }
        };
        Ok(CheckedPlan {
            records: self.records,
            expected_batch: self.expected_batch,
            steps,
            clipping: self.clipping,
            schedule: self.schedule,
            statistics: self.statistics.len() as u64,
            scores: self.scores.len() as u64,
            records_per_unit: self.records_per_unit,
            rate,
            scale,
            ledger,
            epsilon,
            delta,
            claim,
        })
    }

    /// Everything the run would release, up to the scale of its noise: what a search over several
    /// plans composes to find one scale for all of them.
    ///
    /// ```
    /// use tacita::{Budget, Plan};
    /// let plan = Plan::new(Budget::new(3.0, 1e-5)).public_record_count(1000).expected_batch(50).steps(9);
    /// let scale = plan.clone().calibrate()?.scale();
    /// assert_eq!(plan.shape()?.ledger(scale)?, *plan.calibrate()?.ledger());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn shape(&self) -> Result<Shape, PlanError> {
        self.check()?;
        let rate = self.expected_batch / self.records as f64;
        Ok(self.sampled(Sampling::Poisson { rate }, rate)?)
    }

    /// Statistics and scores are Gaussian on all records, so their cost is exact: μ² = Σ multiplier⁻²
    /// (Dong, Roth & Su 2019, Corollary 3.3). What they use up is gone whatever the noise of the steps,
    /// and the search for that noise would not end.
    fn check_side_releases(&self, epsilon: f64, delta: f64) -> Result<(), PlanError> {
        let multipliers = self.statistics.iter().chain(&self.scores);
        // Each of an owner's records is in every one of them.
        let mu = multipliers.map(|z| z.powi(-2)).sum::<f64>().sqrt()
            * f64::from(self.records_of_an_owner);
        if mu > 0.0 && mu >= LARGEST_SIDE_SHARE * mu_of_budget(epsilon, delta)? {
            return Err(PlanError::NothingLeft {
                spent: epsilon_of_mu(mu, delta)?,
                epsilon,
                delta,
            });
        }
        Ok(())
    }

    /// Sampling rate and number of steps, by the rule that every program shares.
    fn size(&self) -> Result<RunSize, RunSizeError> {
        RunSize::new(self.records as f64, self.expected_batch, self.length)
    }

    /// The number of steps of a plan that was checked.
    fn step_count(&self) -> u64 {
        self.size().map_or(0, RunSize::steps)
    }

    /// Everything the run will release if records are drawn like this.
    fn sampled(&self, sampling: Sampling, rate: f64) -> Result<Shape, AccountError> {
        let run = PublicRun {
            steps: self.step_count(),
            rate,
            threshold: &self.clipping.threshold,
        };
        let runs = self.schedule.runs(run);
        let unit = Ledger::new(Neighbours::AddOrRemoveOne);
        let mut shape = Shape::after(&unit.with_records_per_unit(self.records_of_an_owner)?);
        match sampling {
            // A round of a partition is a whole epoch.
            Sampling::Partition { batches } => {
                for relative in epochs(&runs, batches) {
                    shape = shape.then(sampling, QueryNoise::Scaled(relative), 1);
                }
            }
            _ => {
                for (relative, times) in runs {
                    shape = shape.then(sampling, QueryNoise::Scaled(relative), times);
                }
            }
        }
        shape = match &self.clipping.threshold {
            Threshold::Online(online) => match online.noise {
                DirectionNoise::GradientIncrease(share) => shape.with_noise_increase(share)?,
                DirectionNoise::Multiplier(multiplier) => shape.with_side_query(multiplier),
            },
            Threshold::Quantile(quantile) => {
                shape.with_side_query(quantile.noise_multiplier(self.expected_batch))
            }
            _ => shape,
        };
        let full = |multiplier: &f64| (Sampling::Full {}, QueryNoise::Fixed(*multiplier));
        let before = self.statistics.iter().map(full);
        shape = shape.preceded_by(before);
        for (sampling, noise) in self.scores.iter().map(full) {
            shape = shape.then(sampling, noise, 1);
        }
        Ok(shape)
    }
}

/// The least relative noise of each epoch of `batches` steps.
fn epochs(runs: &[(f64, u64)], batches: u64) -> Vec<f64> {
    let mut epochs: Vec<f64> = Vec::new();
    let mut step = 0;
    for (relative, times) in runs {
        let (first, last) = (step / batches, (step + times - 1) / batches);
        for epoch in first..=last {
            match epochs.get_mut(epoch as usize) {
                Some(least) => *least = least.min(*relative),
                None => epochs.push(*relative),
            }
        }
        step += times;
    }
    epochs
}
