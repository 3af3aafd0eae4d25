//! Sampling rate and number of steps, from the two ways a user may state them.

use anyhow::{Result, bail};
use clap::Args;
use tacita_accounting::{Ledger, Length, Neighbours, Round, RunSize, Sampling};

/// Size of a training run with Poisson sampling.
#[derive(Debug, Clone, Args)]
pub struct SizeArgs {
    /// Number of records, public knowledge; with --batch and --epochs
    #[arg(long, value_name = "N")]
    pub records: Option<f64>,
    /// Expected records per step: the sampling rate is batch/records
    #[arg(long, value_name = "B", requires = "records")]
    pub batch: Option<f64>,
    /// Passes over the records: epochs·records/batch steps, rounded up
    #[arg(long, value_name = "K", requires = "records")]
    pub epochs: Option<f64>,
    /// Poisson sampling rate, in (0, 1]
    #[arg(long, value_name = "Q", conflicts_with_all = ["records", "batch", "epochs"])]
    pub rate: Option<f64>,
    /// Number of steps
    #[arg(long, value_name = "T", conflicts_with = "epochs")]
    pub steps: Option<u64>,
    /// Protect a user with up to K records, each drawn on its own, instead of one record
    #[arg(long, value_name = "K")]
    pub records_per_unit: Option<u32>,
}

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
        Ok(RunSize::rate(records, batch)?)
    }

    /// The number of steps, if it was stated.
    pub fn steps_if_given(&self) -> Result<Option<u64>> {
        match (self.steps, self.epochs, self.records, self.batch) {
            (Some(steps), ..) => Ok(Some(RunSize::check_steps(steps)?)),
            (None, Some(epochs), Some(records), Some(batch)) => {
                let size = RunSize::new(records, batch, Length::Epochs(epochs))?;
                Ok(Some(size.steps()))
            }
            (None, Some(_), ..) => bail!("--epochs needs --records and --batch"),
            (None, None, ..) => Ok(None),
        }
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
