//! Short names of precisions.

use super::{Names, PolicyNameError};
use crate::compute::backend::ops::Precision;
use std::fmt;
use std::str::FromStr;

const NAMES: Names = Names {
    kind: "precision",
    known: "single or mixed",
};

/// `single` or `mixed`.
impl FromStr for Precision {
    type Err = PolicyNameError;

    fn from_str(text: &str) -> Result<Self, PolicyNameError> {
        match text {
            "single" => Ok(Self::Single),
            "mixed" => Ok(Self::Mixed),
            _ => Err(NAMES.unknown(text)),
        }
    }
}

/// The short name.
impl fmt::Display for Precision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Single => "single",
            Self::Mixed => "mixed",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn precisions_come_back_from_their_names_and_others_are_refused() {
        for precision in [Precision::Single, Precision::Mixed] {
            assert_eq!(precision.to_string().parse(), Ok(precision));
        }
        assert!("half".parse::<Precision>().is_err());
    }
}
