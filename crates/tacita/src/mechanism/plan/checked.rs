//! A plan with its certificate.

use super::{Claim, Clipping};
use crate::mechanism::schedule::NoiseSchedule;
use tacita_accounting::{Ledger, Reading};

/// A plan with its certificate. Nothing in it depends on the data.
#[derive(Debug, Clone, PartialEq)]
pub struct CheckedPlan {
    pub(super) records: u64,
    pub(super) expected_batch: f64,
    pub(super) steps: u64,
    pub(super) clipping: Clipping,
    pub(super) schedule: NoiseSchedule,
    pub(super) statistics: u64,
    pub(super) scores: u64,
    pub(super) records_per_unit: Option<u64>,
    pub(super) rate: f64,
    pub(super) scale: f64,
    pub(super) ledger: Ledger,
    pub(super) epsilon: Reading,
    pub(super) delta: f64,
    pub(super) claim: Option<Claim>,
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

    /// What the authors of a method would claim, if the noise was found their way.
    pub fn claim(&self) -> Option<Claim> {
        self.claim
    }

    /// Steps in all.
    pub fn steps(&self) -> u64 {
        self.steps
    }

    /// The probability with which a record takes part in a step.
    pub fn rate(&self) -> f64 {
        self.rate
    }

    /// Records of a unit that take part in a step, at most; none if the unit of privacy is one record.
    pub fn records_per_unit(&self) -> Option<u64> {
        self.records_per_unit
    }

    /// Records as declared; units where [`CheckedPlan::records_per_unit`] is given.
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

    /// How noise is spread over the steps.
    pub fn noise_schedule(&self) -> &NoiseSchedule {
        &self.schedule
    }

    /// Noise multiplier of each query of a step: the gradient first.
    pub fn noise_multipliers(&self, step: u64) -> Vec<f64> {
        self.multipliers_of_round(self.statistics + step)
    }

    /// The scale of the noise: with it, [`Plan::with_noise`](crate::Plan::with_noise) makes the very
    /// same rounds again.
    pub fn scale(&self) -> f64 {
        self.scale
    }

    /// The ledger the run will leave: statistics, steps, scores.
    pub fn ledger(&self) -> &Ledger {
        &self.ledger
    }

    /// Statistics released before the first step.
    pub fn statistics(&self) -> u64 {
        self.statistics
    }

    /// Scores released after the last step.
    pub fn scores(&self) -> u64 {
        self.scores
    }

    /// Queries per step.
    pub(crate) fn queries(&self) -> usize {
        self.noise_multipliers(0).len()
    }

    /// Noise multiplier of each query of a round of the ledger.
    pub(crate) fn multipliers_of_round(&self, round: u64) -> Vec<f64> {
        let round = self.ledger.round_at(round);
        round
            .map(|round| round.noise_multipliers)
            .unwrap_or_default()
    }
}
