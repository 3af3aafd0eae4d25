//! Columns of a table: scaled by public bounds, or one of a public list, or hashed.

use super::{Basis, Fact, Standard, bucket};
use crate::bad_record::BadRecord;
use crate::nearest::known;
use crate::records::{Cell, ROW_LENGTH, RowLayout};
use anyhow::{Context, Result, bail, ensure};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// The columns a model sees, in order.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TablePreparation {
    /// One entry for each column used.
    pub columns: Vec<Column>,
    /// What centres and scales the row of all columns, where it was released.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub standard: Option<Standard>,
}

/// A column and its encoding.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Column {
    /// The name in the header.
    pub name: String,
    /// What becomes of a value.
    pub encoding: Encoding,
}

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
    /// One of a public list, one-hot.
    Categorical {
        /// The list.
        categories: Vec<String>,
    },
    /// Any text, hashed and one-hot.
    Hashed {
        /// How many values remain.
        buckets: usize,
    },
}

impl Column {
    /// Reads a value: a number as it is, a category as its number.
    pub fn read(&self, value: &str) -> Result<f64> {
        let value = value.trim();
        let bad = |what: &str| BadRecord::new(format!("column `{}` {what}", self.name));
        Ok(match &self.encoding {
            Encoding::Numeric { .. } | Encoding::Pending if value.is_empty() => {
                return Err(bad("is empty").into());
            }
            Encoding::Numeric { .. } | Encoding::Pending => {
                let number: f64 =
                    (value.parse()).map_err(|_| bad("is not a number").value(value))?;
                if !number.is_finite() {
                    return Err(bad("is not finite").value(value).into());
                }
                number
            }
            Encoding::Categorical { categories } => {
                let place = categories.iter().position(|category| category == value);
                place.ok_or_else(|| {
                    bad("is not one of the declared categories")
                        .value(value)
                        .hint(known(value, categories))
                })? as f64
            }
            Encoding::Hashed { buckets } => bucket(value, *buckets) as f64,
        })
    }

    /// What was read, as a cell of a row.
    pub fn cell(&self, read: f64) -> f32 {
        match self.encoding {
            Encoding::Numeric { min, max, .. } => {
                ((read.clamp(min, max) - min) / (max - min)) as f32
            }
            _ => read as f32,
        }
    }
}

impl Encoding {
    /// Numbers that a value becomes.
    pub fn width(&self) -> usize {
        match self {
            Self::Categorical { categories } => categories.len(),
            Self::Hashed { buckets } => *buckets,
            Self::Pending | Self::Numeric { .. } => 1,
        }
    }
}

impl TablePreparation {
    /// The cells of a row given by names and values.
    pub fn prepare(&self, row: &[(&str, &str)]) -> Result<Vec<f32>> {
        self.columns
            .iter()
            .map(|column| {
                let (_, value) = row
                    .iter()
                    .find(|(name, _)| *name == column.name)
                    .with_context(|| {
                        let names: Vec<_> = row.iter().map(|(name, _)| *name).collect();
                        format!(
                            "there is no column `{}`{}",
                            column.name,
                            known(&column.name, &names)
                        )
                    })?;
                Ok(column.cell(column.read(value)?))
            })
            .collect()
    }

    /// How cells become rows.
    pub(crate) fn layout(&self) -> Result<RowLayout> {
        let cells = self.columns.iter().map(|column| match &column.encoding {
            Encoding::Numeric { min, max, .. } => {
                ensure!(
                    min < max && (max - min).is_finite(),
                    "column `{}`: the lower bound {min} must be below the upper bound {max}",
                    column.name
                );
                Ok(Cell::Number)
            }
            Encoding::Pending => bail!(
                "column `{}` has no bounds: declare `min` and `max`, or have them estimated privately",
                column.name
            ),
            Encoding::Categorical { categories } => Ok(Cell::OneHot(categories.len())),
            Encoding::Hashed { buckets } => Ok(Cell::OneHot(*buckets)),
        });
        let cells: Vec<Cell> = cells.collect::<Result<_>>()?;
        let Some(standard) = &self.standard else {
            return Ok(RowLayout::Columns(cells));
        };
        let width = RowLayout::Columns(cells.clone()).width();
        ensure!(
            standard.mean.len() == width && standard.scale.len() == width,
            "the means and spreads are of {} numbers, but the columns become {width}",
            standard.mean.len()
        );
        Ok(RowLayout::Standardised(cells, Arc::new(standard.clone())))
    }

    pub(super) fn facts(&self) -> Vec<Fact> {
        let columns = self
            .columns
            .iter()
            .map(|Column { name, encoding }| match encoding {
                Encoding::Numeric { min, max, basis } => Fact {
                    what: format!("column {name}: clamped to [{min}, {max}] and scaled to [0, 1]"),
                    basis: *basis,
                },
                Encoding::Pending => Fact {
                    what: format!("column {name}: bounds not yet estimated"),
                    basis: Basis::PrivatelyEstimated,
                },
                Encoding::Categorical { categories } => Fact {
                    what: format!("column {name}: one of {} categories", categories.len()),
                    basis: Basis::Declared,
                },
                Encoding::Hashed { buckets } => Fact {
                    what: format!("column {name}: hashed into {buckets} values"),
                    basis: Basis::Declared,
                },
            });
        let standard = self.standard.iter().map(|_| Fact {
            what: format!(
                "columns centred and scaled by means and spreads from one noisy sum, and rows brought to length \
                 {ROW_LENGTH}"
            ),
            basis: Basis::PrivatelyEstimated,
        });
        columns.chain(standard).collect()
    }
}
