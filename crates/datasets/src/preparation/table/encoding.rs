//! What becomes of a value of a column, by kind.

use super::dates::{self, Cycle};
use super::missing::MissingValues;
use super::numbers::NumberFormat;
use super::value::Value;
use crate::bad_record::BadRecord;
use crate::nearest::known;
use crate::preparation::fact::Basis;
use crate::preparation::words::bucket;
use serde::{Deserialize, Serialize};

/// What becomes of a value of a column.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Encoding {
    /// A number, clamped to the bounds and scaled to [0, 1].
    Numeric {
        /// Becomes 0.
        min: f64,
        /// Becomes 1.
        max: f64,
        /// Who said so.
        basis: Basis,
    },
    /// A number whose bounds are yet to be estimated privately; never in a finished preparation.
    Pending,
    /// A date or a time, clamped and scaled like a number, with its places in cycles.
    Date {
        /// Becomes 0, in seconds since the beginning of 1970.
        min: f64,
        /// Becomes 1.
        max: f64,
        /// How it is written, if not in ISO 8601.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        format: Option<String>,
        /// What else is known of it than when it was: two numbers each.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        cycles: Vec<Cycle>,
    },
    /// One of a public list in an order: its place, from 0 to 1.
    Ordinal {
        /// The list.
        order: Vec<String>,
    },
    /// Yes or no, as 1 or 0.
    Boolean,
    /// One of a public list, one-hot.
    Categorical {
        /// The list.
        categories: Vec<String>,
        /// Whether what is not in the list is a category of its own.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        other: bool,
    },
    /// Any text, hashed and one-hot.
    Hashed {
        /// How many values remain.
        buckets: usize,
    },
}

/// What a value says.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Read {
    /// Nothing.
    Missing,
    /// A number: that of a number or a date, the place of a category.
    As(f64),
}

/// What is wrong with a value, with the value.
pub(super) type Problem = (&'static str, Option<String>, String);

impl Encoding {
    /// Reads a value. Declared categories take precedence over texts that stand for missing values.
    pub(super) fn read(
        &self,
        value: Value<'_>,
        format: &NumberFormat,
        missing: &MissingValues,
    ) -> Result<Read, Problem> {
        if value == Value::None {
            return Ok(Read::Missing);
        }
        match self {
            Self::Numeric { .. } | Self::Pending => number(value, format, missing),
            Self::Date { format, .. } => date(value, format.as_deref(), missing),
            Self::Boolean => boolean(value, missing),
            Self::Ordinal { order: list } => {
                let listed = listed(value, list, missing)?;
                listed.map_err(|value| unknown("is not in the declared order", value, list))
            }
            Self::Categorical {
                categories: list,
                other,
            } => match listed(value, list, missing)? {
                Ok(read) => Ok(read),
                Err(_) if *other => Ok(Read::As(list.len() as f64)),
                Err(value) => Err(unknown(
                    "is not one of the declared categories",
                    value,
                    list,
                )),
            },
            Self::Hashed { buckets } => {
                let text = value.text().ok_or_else(no_text)?;
                Ok(match missing.has_text(&text) {
                    true => Read::Missing,
                    false => Read::As(bucket(&text, *buckets) as f64),
                })
            }
        }
    }

    /// The least and the greatest that a number is clamped to.
    pub fn range(&self) -> Option<(f64, f64)> {
        match self {
            Self::Numeric { min, max, .. } | Self::Date { min, max, .. } => Some((*min, *max)),
            Self::Ordinal { order } => Some((0.0, order.len().saturating_sub(1) as f64)),
            Self::Boolean => Some((0.0, 1.0)),
            Self::Pending | Self::Categorical { .. } | Self::Hashed { .. } => None,
        }
    }

    /// Categories that a value may become, if it becomes one.
    pub(super) fn categories(&self) -> Option<usize> {
        match self {
            Self::Categorical { categories, other } => Some(categories.len() + usize::from(*other)),
            Self::Hashed { buckets } => Some(*buckets),
            _ => None,
        }
    }
}

fn number(
    value: Value<'_>,
    format: &NumberFormat,
    missing: &MissingValues,
) -> Result<Read, Problem> {
    let number = match value {
        Value::Text(text) if missing.has_text(text) => return Ok(Read::Missing),
        Value::Text(text) => match format.parse(text) {
            Some(number) => number,
            None => return Err(("is not a number", Some(text.into()), String::new())),
        },
        Value::Number(number) => number,
        Value::Single(number) => f64::from(number),
        Value::Integer(number) | Value::Moment { raw: number, .. } => number as f64,
        Value::Unsigned(number) => number as f64,
        Value::None | Value::Bytes(_) => return Err(no_text()),
    };
    if !matches!(value, Value::Text(_)) && missing.has_number(number) {
        return Ok(Read::Missing);
    }
    match number.is_finite() {
        true => Ok(Read::As(number)),
        false => Err(("is not finite", Some(seen(value)), String::new())),
    }
}

fn date(value: Value<'_>, format: Option<&str>, missing: &MissingValues) -> Result<Read, Problem> {
    if let Value::Moment { seconds, .. } = value {
        return Ok(Read::As(seconds));
    }
    let text = value.text().ok_or_else(no_text)?;
    if missing.has_text(&text) {
        return Ok(Read::Missing);
    }
    let seconds = dates::seconds(&text, format);
    let wrong = match format {
        Some(_) => "is not a date in the declared format",
        None => "is not a date in ISO 8601",
    };
    seconds
        .map(Read::As)
        .ok_or_else(|| (wrong, Some(seen(value)), String::new()))
}

fn boolean(value: Value<'_>, missing: &MissingValues) -> Result<Read, Problem> {
    // With decimals, as programs write a column of 0 and 1 in which a value is missing.
    const YES: [&str; 7] = ["true", "yes", "1", "1.0", "t", "y", "on"];
    const NO: [&str; 7] = ["false", "no", "0", "0.0", "f", "n", "off"];
    let text = value.text().ok_or_else(no_text)?;
    let is_one_of = |list: [&str; 7]| list.iter().any(|known| known.eq_ignore_ascii_case(&text));
    if is_one_of(YES) {
        Ok(Read::As(1.0))
    } else if is_one_of(NO) {
        Ok(Read::As(0.0))
    } else if missing.has_text(&text) {
        Ok(Read::Missing)
    } else {
        Err(("is neither yes nor no", Some(seen(value)), String::new()))
    }
}

/// The place of a value in a list, or the value if it is not there.
fn listed(
    value: Value<'_>,
    list: &[String],
    missing: &MissingValues,
) -> Result<Result<Read, String>, Problem> {
    let text = value.text().ok_or_else(no_text)?;
    let place = list.iter().position(|known| *known == text);
    Ok(match place {
        Some(place) => Ok(Read::As(place as f64)),
        None if missing.has_text(&text) => Ok(Read::Missing),
        None => Err(text.into_owned()),
    })
}

fn unknown(what: &'static str, value: String, list: &[String]) -> Problem {
    let hint = known(&value, list);
    (what, Some(value), hint)
}

fn no_text() -> Problem {
    ("is not UTF-8", None, String::new())
}

fn seen(value: Value<'_>) -> String {
    value.shown().into_owned()
}

/// The problem as that of a record.
pub(super) fn bad(column: &str, (what, value, hint): Problem) -> BadRecord {
    let bad = BadRecord::new(format!("column `{column}` {what}")).hint(hint);
    match value {
        Some(value) => bad.value(&value),
        None => bad,
    }
}
