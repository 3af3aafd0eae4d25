//! Policies by short names, as on a command line and in settings files: a name, and numbers after colons.
//!
//! Each kind of policy has its names in a file; what they share is here.

mod clipping;
mod noise_schedule;
mod optimizer;
mod precision;
mod rate_schedule;

use std::fmt;
use thiserror::Error;

/// A text that names no policy.
///
/// ```
/// use tacita::Clipping;
///
/// let error = "abady:1".parse::<Clipping>().unwrap_err().to_string();
/// assert!(error.contains("abady:1") && error.contains("abadi:C"));
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum PolicyNameError {
    /// No policy of the kind has this name and so many numbers.
    #[error("{kind} {text} is unknown; use {known}")]
    Unknown {
        /// The kind of policy.
        kind: &'static str,
        /// The text seen.
        text: String,
        /// The names there are.
        known: &'static str,
    },
    /// A part after a colon is no finite number.
    #[error("“{part}” in “{text}” is no number; use {known}")]
    NoNumber {
        /// The part.
        part: String,
        /// The text seen.
        text: String,
        /// The names there are.
        known: &'static str,
    },
    /// The name is known, but not with these numbers.
    #[error("{kind} {text}: {rule}")]
    Numbers {
        /// The kind of policy.
        kind: &'static str,
        /// The text seen.
        text: String,
        /// Which numbers the names take.
        rule: &'static str,
    },
}

/// A kind of policy and the short names it has.
pub(crate) struct Names {
    pub kind: &'static str,
    pub known: &'static str,
}

impl Names {
    /// The name and the numbers after its colons.
    pub fn parts<'a>(&self, text: &'a str) -> Result<(&'a str, Vec<f64>), PolicyNameError> {
        let mut parts = text.split(':');
        let name = parts.next().unwrap_or_default();
        let number = |part: &str| {
            let number = part.parse().ok().filter(|number: &f64| number.is_finite());
            number.ok_or_else(|| PolicyNameError::NoNumber {
                part: part.into(),
                text: text.into(),
                known: self.known,
            })
        };
        Ok((name, parts.map(number).collect::<Result<_, _>>()?))
    }

    /// The refusal of a text whose name is unknown.
    pub fn unknown(&self, text: &str) -> PolicyNameError {
        PolicyNameError::Unknown {
            kind: self.kind,
            text: text.into(),
            known: self.known,
        }
    }

    /// The refusal of a text whose numbers break a rule.
    pub fn numbers(&self, text: &str, rule: &'static str) -> PolicyNameError {
        PolicyNameError::Numbers {
            kind: self.kind,
            text: text.into(),
            rule,
        }
    }
}

/// Writes a name and its numbers. Rust prints the fewest digits that give the same number back.
pub(crate) fn write_name(f: &mut fmt::Formatter<'_>, name: &str, numbers: &[f64]) -> fmt::Result {
    f.write_str(name)?;
    numbers.iter().try_for_each(|number| write!(f, ":{number}"))
}
