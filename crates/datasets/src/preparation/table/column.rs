//! A column of a table: from a value to the cells of a row.

use super::dates;
use super::encoding::{Encoding, Read, bad};
use super::missing::{Missing, MissingValues};
use super::numbers::NumberFormat;
use super::value::Value;
use crate::preparation::fact::{Basis, Fact};
use crate::preparation::words::bucket;
use crate::records::Cell;
use anyhow::{Result, bail, ensure};
use serde::{Deserialize, Serialize};

/// A column, its encoding and what becomes of its missing values.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Column {
    /// The name in the header.
    pub name: String,
    /// What becomes of a value.
    pub encoding: Encoding,
    /// What becomes of a missing value. Where it is not declared, the record is left out, but in a hashed column
    /// the text is a category like any other.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub missing: Option<Missing>,
    /// How numbers are written.
    #[serde(default, skip_serializing_if = "NumberFormat::is_plain")]
    pub format: NumberFormat,
}

impl Column {
    /// A column whose missing values are treated as usual.
    pub fn new(name: impl Into<String>, encoding: Encoding) -> Self {
        Self {
            name: name.into(),
            encoding,
            missing: None,
            format: NumberFormat::default(),
        }
    }

    /// Reads a value: a number as it is, a date in seconds, a category as its place. None is a missing value that
    /// is kept.
    pub fn read(&self, value: Value<'_>, missing: &MissingValues) -> Result<Option<f64>> {
        let read = self.encoding.read(value, &self.format, missing);
        match read.map_err(|problem| bad(&self.name, problem))? {
            Read::As(read) => Ok(Some(read)),
            Read::Missing => self.read_missing(value),
        }
    }

    fn read_missing(&self, value: Value<'_>) -> Result<Option<f64>> {
        match (self.missing, &self.encoding) {
            (Some(Missing::Indicator { .. } | Missing::Category), _) => Ok(None),
            (Some(Missing::Fill { value }), _) => Ok(Some(value)),
            (None, Encoding::Hashed { buckets }) => {
                let text = value.text().unwrap_or_default();
                Ok(Some(bucket(&text, *buckets) as f64))
            }
            (None | Some(Missing::Drop), _) => {
                let text = value.text().unwrap_or_default();
                let problem = match text.is_empty() {
                    true => ("is empty", None, String::new()),
                    false => ("is missing", Some(text.into_owned()), String::new()),
                };
                Err(bad(&self.name, problem).into())
            }
        }
    }

    /// Appends what was read as cells of a row. Bounds that are not known yet are left for
    /// [`scaled`](Self::scaled).
    pub fn push(&self, read: Option<f64>, cells: &mut Vec<f32>) {
        if let Some(categories) = self.encoding.categories() {
            // The last one is that of missing values.
            cells.push(read.map_or(categories as f32, |read| read as f32));
            return;
        }
        cells.push(self.scaled(read));
        if let Encoding::Date { cycles, .. } = &self.encoding {
            let known = read.or(self.replacement());
            for cycle in cycles {
                cells.extend(known.map_or([0.5; 2], |seconds| cycle.place(seconds)));
            }
        }
        if matches!(self.missing, Some(Missing::Indicator { .. })) {
            cells.push(f32::from(u8::from(read.is_none())));
        }
    }

    /// A number between the bounds, which become 0 and 1.
    pub fn scaled(&self, read: Option<f64>) -> f32 {
        let Some((min, max)) = self.encoding.range() else {
            return 0.0;
        };
        match read.or(self.replacement()) {
            Some(number) => ((number.clamp(min, max) - min) / (max - min)) as f32,
            None => 0.5,
        }
    }

    fn replacement(&self) -> Option<f64> {
        match self.missing {
            Some(Missing::Indicator { value }) => value,
            _ => None,
        }
    }

    /// What the cells are.
    pub fn cells(&self) -> Vec<Cell> {
        if let Some(categories) = self.encoding.categories() {
            let missing = usize::from(self.missing == Some(Missing::Category));
            return vec![Cell::OneHot(categories + missing)];
        }
        let cycles = match &self.encoding {
            Encoding::Date { cycles, .. } => 2 * cycles.len(),
            _ => 0,
        };
        let indicator = usize::from(matches!(self.missing, Some(Missing::Indicator { .. })));
        vec![Cell::Number; 1 + cycles + indicator]
    }

    /// Numbers of a row that the column becomes.
    pub fn width(&self) -> usize {
        self.cells().into_iter().map(Cell::width).sum()
    }

    /// Refuses bounds by which nothing can be scaled.
    pub(super) fn check(&self) -> Result<()> {
        let name = &self.name;
        if self.encoding == Encoding::Pending {
            bail!(
                "column `{name}` has no bounds: declare `min` and `max`, or have them estimated privately"
            );
        }
        if let Some((min, max)) = self.encoding.range() {
            ensure!(
                min < max && (max - min).is_finite(),
                "column `{name}`: the lower bound {min} must be below the upper bound {max}"
            );
        }
        Ok(())
    }

    pub(super) fn fact(&self) -> Fact {
        let name = &self.name;
        let (what, basis) = match &self.encoding {
            Encoding::Numeric { min, max, basis } => (
                format!("clamped to [{min}, {max}] and scaled to [0, 1]"),
                *basis,
            ),
            Encoding::Pending => (
                "bounds not yet estimated".to_string(),
                Basis::PrivatelyEstimated,
            ),
            Encoding::Date {
                min, max, cycles, ..
            } => {
                let (min, max) = (dates::iso(*min), dates::iso(*max));
                let cycles: String = cycles
                    .iter()
                    .map(|cycle| format!(", and its {}", format!("{cycle:?}").to_lowercase()))
                    .collect();
                let what =
                    format!("a date, clamped to [{min}, {max}] and scaled to [0, 1]{cycles}");
                (what, Basis::Declared)
            }
            Encoding::Ordinal { order } => (
                format!("its place among {} values, scaled to [0, 1]", order.len()),
                Basis::Declared,
            ),
            Encoding::Boolean => ("1 for yes and 0 for no".to_string(), Basis::Declared),
            Encoding::Categorical { categories, other } => {
                let other = if *other { " or another one" } else { "" };
                (
                    format!("one of {} categories{other}", categories.len()),
                    Basis::Declared,
                )
            }
            Encoding::Hashed { buckets } => {
                (format!("hashed into {buckets} values"), Basis::Declared)
            }
        };
        let missing = match self.missing {
            None => "",
            Some(Missing::Drop) => "; records without it are left out",
            Some(Missing::Fill { .. }) => "; missing values are replaced by a declared one",
            Some(Missing::Indicator { .. }) => "; missing values are replaced and marked",
            Some(Missing::Category) => "; missing values are a category",
        };
        Fact {
            what: format!("column {name}: {what}{missing}"),
            basis,
        }
    }
}
