//! Short names of learning-rate schedules.

use super::{Names, PolicyNameError, write_name};
use crate::training::optim::RateSchedule;
use std::fmt;
use std::str::FromStr;

const NAMES: Names = Names {
    kind: "rate schedule",
    known: "constant, linear, linear:END, cosine, cosine:END, exponential:R or online",
};

/// `constant`, `linear[:END]`, `cosine[:END]`, `exponential:R` or `online`; END is a share of the rate.
impl FromStr for RateSchedule {
    type Err = PolicyNameError;

    fn from_str(text: &str) -> Result<Self, PolicyNameError> {
        let (name, numbers) = NAMES.parts(text)?;
        Ok(match (name, numbers.as_slice()) {
            ("constant", []) => Self::Constant,
            ("linear", []) => Self::Linear { end: 0.0 },
            ("linear", [end]) => Self::Linear { end: *end },
            ("cosine", []) => Self::Cosine { end: 0.0 },
            ("cosine", [end]) => Self::Cosine { end: *end },
            ("exponential", [ratio]) => Self::Exponential { ratio: *ratio },
            ("online", []) => Self::Online,
            _ => return Err(NAMES.unknown(text)),
        })
    }
}

/// The short name.
impl fmt::Display for RateSchedule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Constant => f.write_str("constant"),
            Self::Linear { end: 0.0 } => f.write_str("linear"),
            Self::Linear { end } => write_name(f, "linear", &[end]),
            Self::Cosine { end: 0.0 } => f.write_str("cosine"),
            Self::Cosine { end } => write_name(f, "cosine", &[end]),
            Self::Exponential { ratio } => write_name(f, "exponential", &[ratio]),
            Self::Online => f.write_str("online"),
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn unknown_names_and_missing_numbers_are_named_with_what_is_known() {
        for text in ["", "exponential", "online:1", "linear:x", "cosin"] {
            let message = text.parse::<RateSchedule>().unwrap_err().to_string();
            assert!(
                message.contains(text) && message.contains(NAMES.known),
                "{message}"
            );
        }
    }

    proptest! {
        #[test]
        fn rate_schedules_come_back_from_their_names(
            name in "constant|online|linear|linear:#|cosine|cosine:#|exponential:#",
            number in prop_oneof![any::<f64>(), Just(0.0)]
        ) {
            prop_assume!(number.is_finite());
            let schedule: RateSchedule = name.replace('#', &number.to_string()).parse().unwrap();
            prop_assert_eq!(schedule.to_string().parse(), Ok(schedule));
        }
    }
}
