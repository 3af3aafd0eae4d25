//! What the owner of a data set declares to be public about it, in TOML.

use super::label::{LabelSchema, distinct};
use super::nearest::{known, toml_error};
use super::preparation::{Basis, Column, Encoding, Picture};
use super::records::ImageSize;
use anyhow::{Context, Result, bail, ensure};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::Path;

/// Values of a hashed column when the number is not declared.
const BUCKETS: usize = 32;
/// Values of a categorical or hashed column at most.
const MOST_BUCKETS: usize = 4096;

/// Declarations: none of them is read from the records.
///
/// ```toml
/// records = 5000                    # how many there are, if that is public
/// bad-rows = "drop"                 # the rule for records that cannot be used, and the only one
///
/// [label]
/// column = "outcome"
/// classes = ["healthy", "ill"]     # or min and max, of a number to predict
///
/// [columns.age]
/// min = 0
/// max = 120
/// [columns.income]
/// kind = "numeric"                  # no bounds: estimated privately, if that is asked for
/// [columns.ward]
/// categories = ["north", "south"]
/// [columns.postcode]
/// buckets = 64                      # hashed
/// [columns.id]
/// kind = "ignored"
/// ```
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct Schema {
    /// The number of records, where it is public.
    pub records: Option<u64>,
    /// What to do with a record that cannot be read.
    #[serde(alias = "bad_rows")]
    pub bad_rows: BadRows,
    /// What separates the fields of a CSV file, a comma unless declared.
    pub delimiter: Option<char>,
    /// The column to predict.
    pub label: LabelSchema,
    /// Every other column of a table.
    pub columns: BTreeMap<String, ColumnSchema>,
    /// How texts are prepared.
    pub text: TextSchema,
    /// The size images are brought to.
    pub image: Option<ImageSize>,
}

/// What to do with a record that cannot be read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum BadRows {
    /// Leave it out. Whether a record is left out depends on that record alone, and how many were
    /// is not said.
    #[default]
    Drop,
    /// Stop and name the line, as earlier versions did: a run that was not stopped tells that every
    /// record is good. Understood in old run folders, where it means [`BadRows::Drop`] now, and
    /// refused in new ones.
    Error,
}

/// A column of a table.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ColumnSchema {
    /// May be left out where the other keys tell it.
    pub kind: Option<ColumnKind>,
    /// Lower bound of a number.
    pub min: Option<f64>,
    /// Upper bound of a number.
    pub max: Option<f64>,
    /// All values of a category.
    pub categories: Option<Vec<String>>,
    /// How many values are told apart where categories are not declared.
    pub buckets: Option<usize>,
}

/// What a column holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ColumnKind {
    /// Numbers.
    Numeric,
    /// Texts that stand for categories.
    Categorical,
    /// Something not to be used.
    Ignored,
}

/// How texts are prepared.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct TextSchema {
    /// Numbers that words are hashed into; 10,000 unless declared.
    pub vocabulary: Option<usize>,
    /// Words of a text that are used.
    pub length: Option<usize>,
    /// Use public vectors of so many words instead of hashing.
    #[serde(alias = "word_vectors")]
    pub word_vectors: Option<usize>,
}

impl Schema {
    /// Reads a TOML file.
    pub fn read(path: &Path) -> Result<Self> {
        let text = super::formats::compressed::read_text(path)?;
        (toml::from_str(&text).map_err(|error| toml_error(&error)))
            .with_context(|| format!("{}", path.display()))
    }

    /// Refuses a rule under which the end of a run would depend on a single record.
    pub fn check_bad_rows(&self) -> Result<()> {
        ensure!(
            self.bad_rows == BadRows::Drop,
            "bad-rows = \"error\" cannot be kept by a private run: whether it stops would tell whether a single \
             record is good. Leave the line out, and such records are left out; `tacita check` lists them \
             beforehand. Nothing was spent"
        );
        Ok(())
    }

    /// The declared size of images.
    pub(super) fn picture(&self) -> Result<Picture> {
        Picture::new(self.image.context(
            "the size of images must be declared, because sizes of private images are private too: \
             add `image = { width = 64, height = 64, channels = 1 }` to the schema",
        )?)
    }

    /// The columns a model sees, in the order of the header: every column must be declared.
    pub(super) fn columns(
        &self,
        header: &[String],
        label: &str,
        estimate: bool,
    ) -> Result<Vec<Column>> {
        for name in self.columns.keys() {
            ensure!(
                header.contains(name),
                "the schema declares a column `{name}` that the file does not have{}",
                known(name, header)
            );
        }
        let mut columns = Vec::new();
        let inputs = |name: &&String| *name != label && !self.label.uses(name);
        for name in header.iter().filter(inputs) {
            let Some(declared) = self.columns.get(name) else {
                bail!(
                    "column `{name}` is not declared. What a column holds is not read from private \
                     records, so add to the schema (--schema FILE, or [declared] in the settings) one of:\n  \
                     [columns.\"{name}\"]\n    min = 0\n    max = 100\n  or  categories = [\"a\", \"b\"]\n  \
                     or  buckets = {BUCKETS}\n  or  kind = \"ignored\""
                );
            };
            if let Some(encoding) = declared
                .encoding(estimate)
                .with_context(|| format!("column `{name}`"))?
            {
                columns.push(Column {
                    name: name.clone(),
                    encoding,
                });
            }
        }
        ensure!(!columns.is_empty(), "no column is left to learn from");
        Ok(columns)
    }

    /// Whether a column is declared to hold numbers whose bounds are not.
    pub fn lacks_bounds(&self) -> Result<bool> {
        for (name, column) in &self.columns {
            let encoding = column.encoding(true);
            let encoding = encoding.with_context(|| format!("column `{name}`"))?;
            if !self.label.uses(name) && encoding == Some(Encoding::Pending) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Numbers of a row by the declared columns, if there are any.
    pub(super) fn declared_width(&self, estimate: bool) -> Result<Option<usize>> {
        let mut width = None;
        for (name, column) in &self.columns {
            if self.label.uses(name) {
                continue;
            }
            let encoding = column.encoding(estimate);
            if let Some(encoding) = encoding.with_context(|| format!("column `{name}`"))? {
                width = Some(width.unwrap_or(0) + encoding.width());
            }
        }
        Ok(width)
    }
}

impl ColumnSchema {
    /// What becomes of the column; nothing if it is ignored.
    fn encoding(&self, estimate: bool) -> Result<Option<Encoding>> {
        let numeric = self.min.is_some() || self.max.is_some();
        let categorical = self.categories.is_some() || self.buckets.is_some();
        let kind = match self.kind {
            Some(kind) => kind,
            None if numeric => ColumnKind::Numeric,
            None if categorical => ColumnKind::Categorical,
            None => bail!("declare `min` and `max`, `categories`, `buckets`, or a `kind`"),
        };
        ensure!(
            !(numeric && kind != ColumnKind::Numeric
                || categorical && kind != ColumnKind::Categorical),
            "`min` and `max` are for numeric columns, `categories` and `buckets` for categorical ones"
        );
        Ok(Some(match kind {
            ColumnKind::Ignored => return Ok(None),
            ColumnKind::Numeric => match (self.min, self.max) {
                (Some(min), Some(max)) => {
                    ensure!(
                        min < max && (max - min).is_finite(),
                        "`min` must be below `max`, got {min} and {max}"
                    );
                    Encoding::Numeric {
                        min,
                        max,
                        basis: Basis::Declared,
                    }
                }
                (None, None) if estimate => Encoding::Pending,
                (None, None) => bail!(
                    "no bounds are declared: add `min` and `max`, or have them estimated privately with \
                     --estimate-bounds, which costs budget"
                ),
                _ => bail!("declare both `min` and `max`, or neither"),
            },
            ColumnKind::Categorical => match (&self.categories, self.buckets) {
                (Some(_), Some(_)) => bail!("declare `categories` or `buckets`, not both"),
                (Some(categories), None) => {
                    distinct(categories, "category")?;
                    ensure!(
                        (2..=MOST_BUCKETS).contains(&categories.len()),
                        "between 2 and {MOST_BUCKETS} categories can be used, got {}",
                        categories.len()
                    );
                    Encoding::Categorical {
                        categories: categories.clone(),
                    }
                }
                (None, buckets) => {
                    let buckets = buckets.unwrap_or(BUCKETS);
                    ensure!(
                        (2..=MOST_BUCKETS).contains(&buckets),
                        "`buckets` must be between 2 and {MOST_BUCKETS}, got {buckets}"
                    );
                    Encoding::Hashed { buckets }
                }
            },
        }))
    }
}
