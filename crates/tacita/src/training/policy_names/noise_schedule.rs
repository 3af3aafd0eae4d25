//! Short names of noise schedules.

use super::{Names, PolicyNameError, write_name};
use crate::mechanism::schedule::{NoiseDecay, NoiseSchedule};
use std::fmt;
use std::str::FromStr;

const NAMES: Names = Names {
    kind: "noise schedule",
    known: "constant, growing-mu:RATIO, optimal, time:K, exponential:K, step:FACTOR:EPOCHS or \
            polynomial:POWER:END:EPOCHS",
};

/// Whole numbers up to here are told apart in double precision.
const MOST_EPOCHS: f64 = 9_007_199_254_740_992.0;

/// `constant`, `growing-mu:RATIO`, `optimal`, `time:K`, `exponential:K`, `step:FACTOR:EPOCHS` or
/// `polynomial:POWER:END:EPOCHS`; the plan checks the numbers.
///
/// ```
/// use tacita::{NoiseDecay, NoiseSchedule};
///
/// let decay = NoiseDecay::Step { factor: 0.5, period: 3 };
/// assert_eq!("step:0.5:3".parse(), Ok(NoiseSchedule::Decay(decay)));
/// ```
impl FromStr for NoiseSchedule {
    type Err = PolicyNameError;

    fn from_str(text: &str) -> Result<Self, PolicyNameError> {
        let (name, numbers) = NAMES.parts(text)?;
        let epochs = |number: f64| {
            if number.fract() == 0.0 && (0.0..=MOST_EPOCHS).contains(&number) {
                return Ok(number as u64);
            }
            Err(NAMES.numbers(text, "epochs are a whole number"))
        };
        Ok(match (name, numbers.as_slice()) {
            ("constant", []) => Self::Constant,
            ("growing-mu", [ratio]) => Self::GrowingMu { ratio: *ratio },
            ("optimal", []) => Self::Optimal,
            ("time", [rate]) => Self::Decay(NoiseDecay::TimeBased { rate: *rate }),
            ("exponential", [rate]) => Self::Decay(NoiseDecay::Exponential { rate: *rate }),
            ("step", [factor, period]) => Self::Decay(NoiseDecay::Step {
                factor: *factor,
                period: epochs(*period)?,
            }),
            ("polynomial", [power, end, period]) => Self::Decay(NoiseDecay::Polynomial {
                power: *power,
                end: *end,
                period: epochs(*period)?,
            }),
            _ => return Err(NAMES.unknown(text)),
        })
    }
}

/// The short name; the fields of a schedule that lists its steps.
impl fmt::Display for NoiseSchedule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Constant => f.write_str("constant"),
            Self::GrowingMu { ratio } => write_name(f, "growing-mu", &[*ratio]),
            Self::Optimal => f.write_str("optimal"),
            Self::Table { .. } | Self::OptimalForCurvature { .. } => write!(f, "{self:?}"),
            Self::Decay(decay) => match *decay {
                NoiseDecay::TimeBased { rate } => write_name(f, "time", &[rate]),
                NoiseDecay::Exponential { rate } => write_name(f, "exponential", &[rate]),
                NoiseDecay::Step { factor, period } => write!(f, "step:{factor}:{period}"),
                NoiseDecay::Polynomial { power, end, period } => {
                    write!(f, "polynomial:{power}:{end}:{period}")
                }
            },
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn unknown_names_and_missing_numbers_are_named() {
        for text in [
            "",
            "step:0.5",
            "time",
            "time:nan",
            "optimal:1",
            "step:0.5:1.5",
            "step:0.5:-1",
        ] {
            let message = text.parse::<NoiseSchedule>().unwrap_err().to_string();
            assert!(message.contains(text), "{message}");
        }
    }

    proptest! {
        #[test]
        fn noise_schedules_come_back_from_their_names(
            name in "constant|optimal|growing-mu:#|time:#|exponential:#|step:#:@|polynomial:#:#:@",
            number in any::<f64>(),
            epochs in 0..=MOST_EPOCHS as u64
        ) {
            prop_assume!(number.is_finite());
            let text = name.replace('#', &number.to_string()).replace('@', &epochs.to_string());
            let schedule: NoiseSchedule = text.parse().unwrap();
            prop_assert_eq!(schedule.to_string().parse(), Ok(schedule));
        }
    }
}
