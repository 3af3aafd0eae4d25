//! Columns of a table: scaled by public bounds, or one of a public list, or hashed.
//!
//! | file | what it holds |
//! |---|---|
//! | `value.rs` | a value as its file holds it |
//! | `encoding.rs` | what a value says, by kind of column |
//! | `missing.rs` | which values are missing, and what becomes of them |
//! | `numbers.rs`, `dates.rs` | how numbers and dates are written |
//! | `column.rs` | from a value to the cells of a row |

mod column;
mod dates;
mod encoding;
mod missing;
mod numbers;
mod scale;
#[cfg(test)]
mod tests;
mod value;

pub use column::Column;
pub use dates::{Cycle, is_format, iso, seconds};
pub use encoding::Encoding;
pub use missing::{Missing, MissingValues};
pub use numbers::NumberFormat;
pub(crate) use scale::scale_estimated;
pub use value::Value;

use super::fact::{Basis, Fact};
use crate::nearest::known;
use crate::records::{ROW_LENGTH, RowLayout, Standard};
use anyhow::{Context, Result, ensure};
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::sync::Arc;

/// The columns a model sees, in order.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TablePreparation {
    /// One entry for each column used.
    pub columns: Vec<Column>,
    /// Texts that stand for a missing value.
    #[serde(default, skip_serializing_if = "MissingValues::are_usual")]
    pub missing_values: MissingValues,
    /// What centres and scales the row of all columns, where it was released.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub standard: Option<Standard>,
}

impl TablePreparation {
    /// Where the columns are in a header, which may hold others and have another order.
    pub fn places(&self, header: &[String]) -> Result<Vec<usize>> {
        let places: HashMap<&str, usize> = header
            .iter()
            .enumerate()
            .map(|(place, name)| (name.as_str(), place))
            .collect();
        self.columns
            .iter()
            .map(|column| {
                let place = places.get(column.name.as_str()).copied();
                place.with_context(|| {
                    let near = known(&column.name, &names(header));
                    format!("there is no column `{}`{near}", column.name)
                })
            })
            .collect()
    }

    /// Appends the cells of a row whose columns are at these places; nothing of a row that cannot be used.
    pub fn push(&self, row: &[Value<'_>], places: &[usize], cells: &mut Vec<f32>) -> Result<()> {
        let before = cells.len();
        for (column, &place) in self.columns.iter().zip(places) {
            let value = row.get(place).copied().unwrap_or(Value::None);
            match column.read(value, &self.missing_values) {
                Ok(read) => column.push(read, cells),
                Err(error) => {
                    cells.truncate(before);
                    return Err(error);
                }
            }
        }
        Ok(())
    }

    /// How cells become rows.
    pub(crate) fn layout(&self) -> Result<RowLayout> {
        let mut cells = Vec::new();
        for column in &self.columns {
            column.check()?;
            cells.extend(column.cells());
        }
        let Some(standard) = &self.standard else {
            return Ok(RowLayout::Columns(cells));
        };
        let width: usize = cells.iter().map(|cell| cell.width()).sum();
        ensure!(
            standard.mean.len() == width && standard.scale.len() == width,
            "the means and spreads are of {} numbers, but the columns become {width}",
            standard.mean.len()
        );
        Ok(RowLayout::Standardised(cells, Arc::new(standard.clone())))
    }

    pub(super) fn facts(&self) -> Vec<Fact> {
        let standard = self.standard.iter().map(|_| Fact {
            what: format!(
                "columns centred and scaled by means and spreads from one noisy sum, and rows brought to length \
                 {ROW_LENGTH}"
            ),
            basis: Basis::PrivatelyEstimated,
        });
        self.columns
            .iter()
            .map(Column::fact)
            .chain(standard)
            .collect()
    }
}

/// The names of a header that may be shown: none if it is perhaps the first record of a file without a header.
pub fn names(header: &[String]) -> Vec<&String> {
    match header.iter().any(|name| name.parse::<f64>().is_ok()) {
        true => Vec::new(),
        false => header.iter().collect(),
    }
}
