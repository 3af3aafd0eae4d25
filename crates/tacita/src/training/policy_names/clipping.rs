//! Short names of clipping policies.

use super::{Names, PolicyNameError, write_name};
use crate::mechanism::plan::Clipping;
use crate::sensitivity::clipping::{ClipRule, Grouping, Online, Quantile, Threshold};
use std::fmt;
use std::str::FromStr;

const NAMES: Names = Names {
    kind: "clipping",
    known: "auto, auto:GAMMA, auto-v, abadi:C, quantile:G, online or online:C0, such as abadi:1.5",
};

/// `auto`, `auto:GAMMA`, `auto-v`, `abadi:C`, `quantile:G`, `online` or `online:C0`; the plan checks the numbers.
///
/// ```
/// use tacita::Clipping;
///
/// assert_eq!("abadi:1.5".parse(), Ok(Clipping::abadi(1.5)));
/// assert_eq!("online".parse(), Ok(Clipping::online()));
/// ```
impl FromStr for Clipping {
    type Err = PolicyNameError;

    fn from_str(text: &str) -> Result<Self, PolicyNameError> {
        let (name, numbers) = NAMES.parts(text)?;
        Ok(match (name, numbers.as_slice()) {
            ("auto", []) => Self::auto(),
            ("auto", [gamma]) => Self {
                rule: ClipRule::Auto { gamma: *gamma },
                ..Self::auto()
            },
            ("auto-v", []) => Self::auto_v(),
            ("abadi", [threshold]) => Self::abadi(*threshold),
            ("quantile", [quantile]) => Self::quantile(*quantile),
            ("online", []) => Self::online(),
            ("online", [initial]) => Self::online().threshold(Threshold::Online(Online {
                initial: *initial,
                ..Online::default()
            })),
            _ => return Err(NAMES.unknown(text)),
        })
    }
}

/// The short name; the fields of a policy that has none, such as one with groups.
///
/// ```
/// use tacita::Clipping;
///
/// assert_eq!(Clipping::auto().to_string(), "auto");
/// assert_eq!(Clipping::quantile(0.5).to_string(), "quantile:0.5");
/// ```
impl fmt::Display for Clipping {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.grouping != Grouping::Flat {
            return write!(f, "{self:?}");
        }
        let standard = Online::default();
        match (self.rule, &self.threshold) {
            (ClipRule::AUTO, Threshold::Constant { value: 1.0 }) => f.write_str("auto"),
            (ClipRule::Auto { gamma: 0.0 }, Threshold::Constant { value: 1.0 }) => {
                f.write_str("auto-v")
            }
            (ClipRule::Auto { gamma }, Threshold::Constant { value: 1.0 }) => {
                write_name(f, "auto", &[gamma])
            }
            (ClipRule::Abadi, Threshold::Constant { value }) => write_name(f, "abadi", &[*value]),
            (ClipRule::Abadi, Threshold::Quantile(policy))
                if *policy == Quantile::new(policy.quantile) =>
            {
                write_name(f, "quantile", &[policy.quantile])
            }
            (ClipRule::Abadi, Threshold::Online(policy)) if *policy == standard => {
                f.write_str("online")
            }
            (ClipRule::Abadi, Threshold::Online(policy))
                if (Online {
                    initial: policy.initial,
                    ..standard
                }) == *policy =>
            {
                write_name(f, "online", &[policy.initial])
            }
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
    fn short_names_give_the_policies_they_name() {
        assert_eq!("abadi:1.5".parse(), Ok(Clipping::abadi(1.5)));
        assert_eq!("auto-v".parse(), Ok(Clipping::auto_v()));
        assert_eq!("online".parse(), Ok(Clipping::online()));
    }

    #[test]
    fn unknown_names_and_missing_numbers_are_named_with_what_is_known() {
        for text in [
            "",
            "abadi",
            "abadi:x",
            "abadi:inf",
            "quantile",
            "autos",
            "auto:1:2",
        ] {
            let message = text.parse::<Clipping>().unwrap_err().to_string();
            assert!(
                message.contains(text) && message.contains(NAMES.known),
                "{message}"
            );
        }
    }

    #[test]
    fn a_policy_without_a_short_name_is_not_taken_for_another() {
        for clipping in [
            Clipping::abadi(1.0).per_layer(),
            Clipping::abadi(1.0).threshold_decay(2.0),
            Clipping::auto().threshold(2.0),
            Clipping::quantile(0.5).threshold(Threshold::Quantile(Quantile {
                initial: 3.0,
                ..Quantile::new(0.5)
            })),
        ] {
            assert!(
                clipping.to_string().parse::<Clipping>().is_err(),
                "{clipping}"
            );
        }
    }

    proptest! {
        #[test]
        fn clipping_comes_back_from_its_name(
            name in "auto|auto-v|auto:#|abadi:#|quantile:#|online|online:#",
            number in prop_oneof![any::<f64>(), Just(0.01), Just(0.1), Just(0.0), Just(1.0)]
        ) {
            prop_assume!(number.is_finite());
            let clipping: Clipping = name.replace('#', &number.to_string()).parse().unwrap();
            prop_assert_eq!(clipping.to_string().parse(), Ok(clipping));
        }
    }
}
