//! What the owner of a data set declares to be public about it, in TOML.

mod column;
mod identifiers;
mod keys;
mod undeclared;

pub(crate) use column::BUCKETS;
pub use column::{ColumnKind, ColumnSchema};
pub use identifiers::is_named_like_an_identifier;
pub(crate) use keys::{key, quoted};

use super::label::LabelSchema;
use super::nearest::{known, toml_error};
use super::preparation::{Column, Encoding, MissingValues, Picture, TablePreparation, names};
use super::records::ImageSize;
use anyhow::{Context, Result, ensure};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, HashSet};
use std::path::Path;

/// Declarations: none of them is read from the records.
///
/// ```toml
/// records = 5000                    # how many there are, if that is public
/// bad-rows = "drop"                 # the rule for records that cannot be used, and the only one
/// person = "patient"                # who a record belongs to, if the guarantee is to be for people
/// persons = 800                     # how many there are, if that is public; records need not be said then
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
    /// The column or field that tells whose a record is; of images, `folder`. Nothing is learned from it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub person: Option<String>,
    /// The number of people, where it is public.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub persons: Option<u64>,
    /// What to do with a record that cannot be read.
    #[serde(alias = "bad_rows")]
    pub bad_rows: BadRows,
    /// What separates the fields of a CSV file, a comma unless declared.
    pub delimiter: Option<char>,
    /// How the characters of a text file are written, if neither in UTF-8 nor with a byte order mark.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub encoding: Option<TextEncoding>,
    /// Texts that stand for a missing value.
    #[serde(
        rename = "missing-values",
        skip_serializing_if = "MissingValues::are_usual"
    )]
    pub missing_values: MissingValues,
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

/// How the characters of a text file are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum TextEncoding {
    /// UTF-8, which is the default.
    #[serde(rename = "utf-8")]
    Utf8,
    /// Latin-1, as Western European programs wrote it, with the additions of Windows.
    #[serde(rename = "latin-1", alias = "windows-1252")]
    Latin1,
    /// UTF-16, the lower byte first.
    #[serde(rename = "utf-16le", alias = "utf-16")]
    Utf16Le,
    /// UTF-16, the higher byte first.
    #[serde(rename = "utf-16be")]
    Utf16Be,
}

impl TextEncoding {
    /// An encoding by its name in a schema.
    pub fn named(name: &str) -> Result<Self> {
        let named: Result<Self, serde::de::value::Error> =
            Self::deserialize(serde::de::value::StrDeserializer::new(name));
        named.ok().with_context(|| {
            format!(
                "there is no encoding {name:?}; there are utf-8, latin-1, utf-16le and utf-16be"
            )
        })
    }
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

    /// The columns a model sees, in the order of the header: every column with a name must be declared.
    pub(super) fn table(
        &self,
        header: &[String],
        label: &str,
        estimate: bool,
    ) -> Result<TablePreparation> {
        let there: HashSet<&str> = header.iter().map(String::as_str).collect();
        for name in self.columns.keys() {
            ensure!(
                there.contains(name.as_str()),
                "the schema declares a column `{name}` that the file does not have{}",
                known(name, &names(header))
            );
        }
        let named = || {
            let others = |name: &&String| {
                *name != label
                    && !name.is_empty()
                    && !self.label.uses(name)
                    && !self.is_person(name)
            };
            header.iter().filter(others)
        };
        let undeclared: Vec<&String> = named()
            .filter(|name| !self.columns.contains_key(*name))
            .collect();
        ensure!(
            undeclared.is_empty(),
            "{}",
            undeclared::message(&undeclared)
        );
        let (mut columns, mut wrong) = (Vec::new(), Vec::new());
        for (name, declared) in named().filter_map(|name| self.columns.get_key_value(name)) {
            match declared.column(name, estimate) {
                Ok(column) => columns.extend(column),
                Err(error) => wrong.push(format!("column `{name}`: {error:#}")),
            }
        }
        ensure!(wrong.is_empty(), "{}", wrong.join("\n"));
        ensure!(!columns.is_empty(), "no column is left to learn from");
        Ok(TablePreparation {
            columns,
            standard: None,
            missing_values: self.missing_values.clone(),
        })
    }

    /// The declared columns that are used, without what is to be predicted and weights.
    fn used(&self, estimate: bool) -> Result<Vec<Column>> {
        let mut used = Vec::new();
        for (name, declared) in &self.columns {
            if !self.label.uses(name) && !self.is_person(name) {
                let column = declared.column(name, estimate);
                used.extend(column.with_context(|| format!("column `{name}`"))?);
            }
        }
        Ok(used)
    }

    /// How many columns are declared to hold numbers whose bounds are not.
    pub fn unbounded_columns(&self) -> Result<usize> {
        let pending = |column: &&Column| column.encoding == Encoding::Pending;
        Ok(self.used(true)?.iter().filter(pending).count())
    }

    /// Numbers of a row by the declared columns, if there are any.
    pub(super) fn declared_width(&self, estimate: bool) -> Result<Option<usize>> {
        let used = self.used(estimate)?;
        Ok((!used.is_empty()).then(|| used.iter().map(Column::width).sum()))
    }

    /// Whether a column tells whose a record is.
    fn is_person(&self, name: &str) -> bool {
        self.person.as_deref() == Some(name)
    }

    /// Refuses declarations of people that contradict each other.
    pub fn check_person(&self) -> Result<()> {
        let Some(person) = &self.person else {
            ensure!(
                self.persons.is_none(),
                "--persons says how many people there are; say whose a record is too, with --person COLUMN"
            );
            return Ok(());
        };
        ensure!(
            !self.label.uses(person) && self.label.column.as_ref() != Some(person),
            "column `{person}` cannot tell whose a record is and be learned from; give --person another one"
        );
        Ok(())
    }

    /// Columns that are used although their names are like those of identifiers. Only the names are looked at.
    pub fn identifiers(&self) -> Vec<&str> {
        let used = |(name, declared): &(&String, &ColumnSchema)| {
            let ignored = matches!(declared.kind(), Ok(ColumnKind::Ignored) | Err(_));
            !ignored && !self.label.uses(name) && !self.is_person(name)
        };
        (self.columns.iter().filter(used))
            .map(|(name, _)| name.as_str())
            .filter(|name| is_named_like_an_identifier(name))
            .collect()
    }

    /// The names of columns that are declared to be ignored.
    pub fn ignored(&self) -> impl Iterator<Item = &str> {
        let ignored = |(_, column): &(&String, &ColumnSchema)| {
            matches!(column.kind(), Ok(ColumnKind::Ignored))
        };
        (self.columns.iter().filter(ignored)).map(|(name, _)| name.as_str())
    }
}
