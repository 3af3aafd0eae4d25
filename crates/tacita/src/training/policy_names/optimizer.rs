//! Short names of optimisers.

use super::{Names, PolicyNameError, write_name};
use crate::training::optim::OptimizerRule;
use std::fmt;
use std::str::FromStr;

const NAMES: Names = Names {
    kind: "optimizer",
    known: "sgd, momentum, nesterov, adam, adamw, nadam, adagrad, rmsprop, adadelta or adam-wosm",
};

/// The momentum that is meant where none is given.
const USUAL_MOMENTUM: f64 = 0.9;

/// Optimisers with their usual constants.
fn standard() -> [(&'static str, OptimizerRule); 10] {
    [
        ("sgd", OptimizerRule::Sgd),
        ("momentum", OptimizerRule::heavy_ball(USUAL_MOMENTUM)),
        ("nesterov", OptimizerRule::nesterov(USUAL_MOMENTUM)),
        ("adam", OptimizerRule::adam()),
        ("adamw", OptimizerRule::adam_w()),
        ("nadam", OptimizerRule::n_adam()),
        ("adagrad", OptimizerRule::ada_grad()),
        ("rmsprop", OptimizerRule::rms_prop()),
        ("adadelta", OptimizerRule::ada_delta()),
        ("adam-wosm", OptimizerRule::adam_without_second_moment()),
    ]
}

/// `sgd`, `momentum[:B]`, `nesterov[:B]`, `adam`, `adamw`, `nadam`, `adagrad`, `rmsprop`, `adadelta` or `adam-wosm`.
///
/// ```
/// use tacita::optim::OptimizerRule;
///
/// assert_eq!("momentum:0.5".parse(), Ok(OptimizerRule::heavy_ball(0.5)));
/// assert_eq!("adam".parse(), Ok(OptimizerRule::adam()));
/// ```
impl FromStr for OptimizerRule {
    type Err = PolicyNameError;

    fn from_str(text: &str) -> Result<Self, PolicyNameError> {
        let (name, numbers) = NAMES.parts(text)?;
        let rule = match (name, numbers.as_slice()) {
            ("momentum", [momentum]) => Self::heavy_ball(*momentum),
            ("nesterov", [momentum]) => Self::nesterov(*momentum),
            (name, numbers) => {
                let known = standard().into_iter().find(|(known, _)| *known == name);
                let (_, rule) = known.ok_or_else(|| NAMES.unknown(text))?;
                if !numbers.is_empty() {
                    return Err(NAMES.numbers(text, NUMBERS));
                }
                rule
            }
        };
        if !(0.0..1.0).contains(&rule.momentum()) {
            return Err(NAMES.numbers(text, NUMBERS));
        }
        Ok(rule)
    }
}

const NUMBERS: &str = "momentum and nesterov take one number from 0 to below 1, others none";

/// The short name; the fields of an optimiser with constants of its own.
impl fmt::Display for OptimizerRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let known = standard().into_iter().find(|(_, rule)| rule == self);
        match (known, *self) {
            (Some((name, _)), _) => f.write_str(name),
            (None, Self::HeavyBall { momentum }) => write_name(f, "momentum", &[momentum]),
            (None, Self::Nesterov { momentum }) => write_name(f, "nesterov", &[momentum]),
            _ => write!(f, "{self:?}"),
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn unknown_names_and_numbers_out_of_range_are_named() {
        for text in [
            "",
            "sgd:0.9",
            "momentum:1.5",
            "momentum:-1",
            "momentum:0.5:0.5",
            "adamax",
        ] {
            let message = text.parse::<OptimizerRule>().unwrap_err().to_string();
            assert!(message.contains(text), "{message}");
        }
    }

    #[test]
    fn every_optimiser_is_listed_and_comes_back_from_its_name() {
        for (name, rule) in standard() {
            assert_eq!((name.parse(), rule.to_string().as_str()), (Ok(rule), name));
            assert!(NAMES.known.contains(name), "{name}");
        }
        let own = OptimizerRule::AdaGrad { epsilon: 1.0 };
        assert!(own.to_string().parse::<OptimizerRule>().is_err(), "{own}");
    }

    proptest! {
        #[test]
        fn momentum_comes_back_from_its_name(momentum in 0.0..1.0f64) {
            for rule in [OptimizerRule::heavy_ball(momentum), OptimizerRule::nesterov(momentum)] {
                prop_assert_eq!(rule.to_string().parse(), Ok(rule));
            }
        }
    }
}
