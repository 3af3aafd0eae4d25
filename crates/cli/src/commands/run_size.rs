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

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::run::{DraftRun, PublicFacts, Settings};
    use tacita_datasets::random::SplitMix;
    use tacita_datasets::{InputKind, Shape, TargetKind};

    /// Steps of the plan that `tacita train` makes of settings.
    fn trained_steps(records: u64, batch: u64, epochs: f64) -> Result<u64> {
        let settings = Settings {
            batch: Some(batch),
            epochs: Some(epochs),
            noise: Some(1.0),
            ..Settings::default()
        };
        let facts = PublicFacts {
            records,
            shape: Shape::Rows { width: 4 },
            classes: 2,
            target: TargetKind::Class,
            kind: InputKind::Other,
            estimates_bounds: false,
            private_test: false,
            public_test: false,
        };
        let shape = DraftRun::new(settings, facts)?.plan.shape()?;
        Ok(shape.ledger(1.0)?.rounds_made())
    }

    /// Steps of the plan that `tacita account` states and `tacita calibrate` finds noise for.
    fn accounted_steps(records: u64, batch: u64, epochs: f64) -> Result<u64> {
        let size = SizeArgs {
            records: Some(records as f64),
            batch: Some(batch as f64),
            epochs: Some(epochs),
            rate: None,
            steps: None,
            records_per_unit: None,
        };
        Ok(size.ledger(&[1.0])?.rounds_made())
    }

    #[test]
    fn train_account_and_calibrate_agree_on_steps() {
        let mut random = SplitMix(22);
        let mut compared = 0;
        for case in 0..110_000_usize {
            let (mut records, mut batch) = (100 + random.below(1_000_000), 1 + random.below(2_000));
            // Sizes that people choose are round, and their quotients often whole up to rounding.
            if case.is_multiple_of(2) {
                (records, batch) = (1000 * (1 + random.below(1000)), 10 * (1 + random.below(60)));
            }
            let epochs = (1 + random.below(3_000)) as f64 / [1.0, 10.0, 100.0][case % 3];
            match trained_steps(records, batch, epochs) {
                Ok(steps) => {
                    let accounted = accounted_steps(records, batch, epochs).unwrap();
                    assert_eq!(steps, accounted, "{records}, {batch}, {epochs}");
                    compared += 1;
                }
                Err(_) => assert!(accounted_steps(records, batch, epochs).is_err()),
            }
        }
        assert!(compared >= 100_000, "{compared}");
        assert_eq!(trained_steps(25_000, 50, 1.1).unwrap(), 550);
    }
}
