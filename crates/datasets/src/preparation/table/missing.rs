//! Values that are missing: which texts mean that, and what becomes of them.

use serde::{Deserialize, Serialize};

/// Texts that stand for a missing value unless others are declared.
const USUAL: [&str; 7] = ["", "NA", "N/A", "#N/A", "NaN", "null", "?"];

/// What becomes of a missing value.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(tag = "rule", rename_all = "kebab-case")]
pub enum Missing {
    /// The record is left out.
    Drop,
    /// It is replaced.
    Fill {
        /// What would have been read.
        value: f64,
    },
    /// It is replaced, and one more number says so.
    Indicator {
        /// What would have been read; the middle of the range if not declared.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        value: Option<f64>,
    },
    /// It is one more category.
    Category,
}

/// The texts that stand for a missing value, in capitals or not.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(from = "Vec<String>", into = "Vec<String>")]
pub struct MissingValues {
    texts: Vec<String>,
    /// Those of them that are numbers, for files that hold numbers and not texts.
    numbers: Vec<f64>,
}

impl MissingValues {
    /// Whether a text stands for a missing value.
    pub fn has_text(&self, text: &str) -> bool {
        (self.texts.iter()).any(|known| known.eq_ignore_ascii_case(text))
    }

    /// Whether a number does.
    pub fn has_number(&self, number: f64) -> bool {
        number.is_nan() || self.numbers.contains(&number)
    }

    /// Whether these are the usual ones.
    pub fn are_usual(&self) -> bool {
        *self == Self::default()
    }

    /// The texts.
    pub fn texts(&self) -> &[String] {
        &self.texts
    }
}

impl Default for MissingValues {
    fn default() -> Self {
        USUAL.map(str::to_string).to_vec().into()
    }
}

impl From<Vec<String>> for MissingValues {
    fn from(texts: Vec<String>) -> Self {
        let numbers = texts.iter().filter_map(|text| text.parse().ok());
        Self {
            numbers: numbers.filter(|number: &f64| !number.is_nan()).collect(),
            texts,
        }
    }
}

impl From<MissingValues> for Vec<String> {
    fn from(missing: MissingValues) -> Self {
        missing.texts
    }
}
