//! The size of a training run: the one rule that turns records, batch and epochs into a sampling
//! rate and a number of steps. Every program uses it, so that they agree.

use thiserror::Error;

/// How long a run is, as its user says it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Length {
    /// This many steps.
    Steps(u64),
    /// This many expected passes over the records.
    Epochs(f64),
}

/// Records, expected batch and length of a run with Poisson sampling, checked.
///
/// ```
/// use tacita_accounting::{Length, RunSize};
///
/// let size = RunSize::new(25_000.0, 50.0, Length::Epochs(1.1))?;
/// assert_eq!(size.sampling_rate(), 0.002);
/// // 1.1 is a little more than 11/10 in floating point, which must not cost a step.
/// assert_eq!(size.steps(), 550);
/// # Ok::<(), tacita_accounting::RunSizeError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RunSize {
    sampling_rate: f64,
    steps: u64,
}

/// Why a run of this size cannot be planned. Nothing was released.
#[derive(Debug, Clone, Copy, PartialEq, Error)]
#[non_exhaustive]
pub enum RunSizeError {
    /// A number of records that is none.
    #[error("the number of records must be at least 1, got {records}")]
    Records {
        /// The value seen.
        records: f64,
    },
    /// A batch that cannot be drawn.
    #[error(
        "the expected batch must be above 0 and at most the number of records, {records}, got {batch}"
    )]
    Batch {
        /// The value seen.
        batch: f64,
        /// Number of records.
        records: f64,
    },
    /// A number of epochs that is none.
    #[error("epochs must be a number above 0, got {epochs}")]
    Epochs {
        /// The value seen.
        epochs: f64,
    },
    /// A run without steps.
    #[error("steps must be at least 1, got 0")]
    NoSteps,
    /// A run that would never end.
    #[error("a run may have at most {most} steps, got {steps}", most = RunSize::MOST_STEPS)]
    TooManySteps {
        /// The number seen.
        steps: f64,
    },
}

/// Relative error that a whole quotient may have gained: sixteen roundings. Three or four happen
/// here; the rest is for epochs that were themselves computed.
const WHOLE_UP_TO: f64 = 8.0 * f64::EPSILON;

impl RunSize {
    /// The most steps a run may have. At a thousand a second that is two weeks.
    pub const MOST_STEPS: u64 = 1_000_000_000;

    /// Checks the size of a run.
    ///
    /// Epochs make epochs · records / batch steps, rounded up, where a quotient that is whole up to
    /// rounding does not gain a step. If epochs and batch are decimals with as many digits as
    /// people write (digits of epochs × records × ten for each decimal of the batch below 10¹⁴),
    /// the result is the exact one. Checked by `steps_are_the_exact_ceiling_for_decimals`.
    pub fn new(records: f64, batch: f64, length: Length) -> Result<Self, RunSizeError> {
        let sampling_rate = Self::rate(records, batch)?;
        let steps = match length {
            Length::Steps(steps) => Self::check_steps(steps)?,
            Length::Epochs(epochs) if epochs > 0.0 && epochs.is_finite() => {
                let quotient = epochs * records / batch;
                let steps = (quotient * (1.0 - WHOLE_UP_TO)).ceil().max(1.0);
                if steps > Self::MOST_STEPS as f64 {
                    return Err(RunSizeError::TooManySteps { steps });
                }
                steps as u64
            }
            Length::Epochs(epochs) => return Err(RunSizeError::Epochs { epochs }),
        };
        Ok(Self {
            sampling_rate,
            steps,
        })
    }

    /// The probability with which each record is drawn, batch / records, for a run whose length is
    /// still open.
    pub fn rate(records: f64, batch: f64) -> Result<f64, RunSizeError> {
        if !(records >= 1.0 && records.is_finite()) {
            return Err(RunSizeError::Records { records });
        }
        let rate = batch / records;
        // A batch so small that the rate vanishes cannot be drawn either.
        if !(batch <= records && rate > 0.0) {
            return Err(RunSizeError::Batch { batch, records });
        }
        Ok(rate)
    }

    /// The number of steps, if a run may have so many.
    pub fn check_steps(steps: u64) -> Result<u64, RunSizeError> {
        match steps {
            0 => Err(RunSizeError::NoSteps),
            1..=Self::MOST_STEPS => Ok(steps),
            _ => Err(RunSizeError::TooManySteps {
                steps: steps as f64,
            }),
        }
    }

    /// The probability with which each record is drawn in each step.
    pub fn sampling_rate(self) -> f64 {
        self.sampling_rate
    }

    /// The number of steps.
    pub fn steps(self) -> u64 {
        self.steps
    }
}
