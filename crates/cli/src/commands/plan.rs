//! Sampling rate and number of steps, from the two ways a user may state them.

use anyhow::{Result, bail, ensure};
use clap::Args;
use tacita_accounting::{Ledger, Neighbours, Round, Sampling};

/// Size of a training run with Poisson sampling.
#[derive(Debug, Clone, Args)]
pub struct SizeArgs {
    /// Number of records, public knowledge; with --batch and --epochs
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub records: Option<f64>,
    /// Expected records per step: the sampling rate is batch/records
    #[arg(
        long,
        value_name = "B",
        requires = "records",
        allow_negative_numbers = true
    )]
    pub batch: Option<f64>,
    /// Passes over the records: epochs·records/batch steps, rounded up
    #[arg(
        long,
        value_name = "K",
        requires = "records",
        allow_negative_numbers = true
    )]
    pub epochs: Option<f64>,
    /// Poisson sampling rate, in (0, 1]
    #[arg(long, value_name = "Q", conflicts_with_all = ["records", "batch", "epochs"], allow_negative_numbers = true)]
    pub rate: Option<f64>,
    /// Number of steps
    #[arg(
        long,
        value_name = "T",
        conflicts_with = "epochs",
        allow_negative_numbers = true
    )]
    pub steps: Option<u64>,
    /// Protect a user with up to K records, each drawn on its own, instead of one record
    #[arg(long, value_name = "K")]
    pub records_per_unit: Option<u32>,
}

/// Most steps a plan may have.
const MOST_STEPS: f64 = 1e9;

impl SizeArgs {
    /// True if nothing was given.
    pub fn is_empty(&self) -> bool {
        self.records.is_none() && self.rate.is_none() && self.steps.is_none()
    }

    /// The sampling rate.
    pub fn rate(&self) -> Result<f64> {
        if let Some(rate) = self.rate {
            // The ledger checks the range.
            return Ok(rate);
        }
        let (records, batch) = match (self.records, self.batch) {
            (Some(records), Some(batch)) => (records, batch),
            (Some(_), None) => bail!("--records needs --batch, the expected records per step"),
            _ => bail!("give the sampling: --rate Q, or --records N with --batch B"),
        };
        ensure!(
            records >= 1.0 && records.is_finite(),
            "--records must be a number of at least 1, got {records}"
        );
        ensure!(
            batch > 0.0 && batch <= records,
            "--batch must be above 0 and at most --records {records}, got {batch}"
        );
        Ok(batch / records)
    }

    /// The number of steps, if it was stated.
    pub fn steps_if_given(&self) -> Result<Option<u64>> {
        if let Some(steps) = self.steps {
            ensure!(steps > 0, "--steps must be at least 1, got {steps}");
            return Ok(Some(steps));
        }
        let Some(epochs) = self.epochs else {
            return Ok(None);
        };
        ensure!(
            epochs > 0.0 && epochs.is_finite(),
            "--epochs must be a number above 0, got {epochs}"
        );
        // A quotient that is whole up to rounding must not gain a step.
        let quotient = epochs / self.rate()?;
        let steps = (quotient * (1.0 - 1e-12)).ceil().max(1.0);
        ensure!(
            steps <= MOST_STEPS,
            "--epochs {epochs} makes {steps} steps, more than {MOST_STEPS}"
        );
        Ok(Some(steps as u64))
    }

    /// The number of steps.
    pub fn steps(&self) -> Result<u64> {
        match self.steps_if_given()? {
            Some(steps) => Ok(steps),
            None => bail!("give the length: --steps T, or --epochs K with --records and --batch"),
        }
    }

    /// A ledger without rounds, for the unit asked for.
    pub fn empty_ledger(&self) -> Result<Ledger> {
        let ledger = Ledger::new(Neighbours::AddOrRemoveOne);
        Ok(ledger.with_records_per_unit(self.records_per_unit.unwrap_or(1))?)
    }

    /// The ledger of a run of this size with constant noise.
    pub fn ledger(&self, noise_multipliers: &[f64]) -> Result<Ledger> {
        let sampling = Sampling::Poisson { rate: self.rate()? };
        let mut ledger = self.empty_ledger()?;
        ledger.push(Round::new(sampling, noise_multipliers.to_vec())?.times(self.steps()?))?;
        Ok(ledger)
    }
}
