//! The columns of a file, as its header and types tell them, or, if asked for, as its values do.

use super::format::{Format, Written};
use super::rows::Hint;
use crate::preparation::{MissingValues, Value, seconds};
use crate::schema::Schema;
use anyhow::{Context, Result, bail};
use std::collections::BTreeMap;
use std::path::Path;

/// Values that are listed as categories; a column of more is not one of few categories.
const MOST_CATEGORIES: usize = 24;

/// A column of a file.
#[derive(Debug, Clone, PartialEq)]
pub struct Field {
    /// Its name.
    pub name: String,
    /// What the file says of it.
    pub hint: Hint,
    /// What its values are, if they were looked at: NOT PRIVATE.
    pub seen: Option<Seen>,
}

/// What the values of a column are. NOT PRIVATE: all of it depends on single records.
#[derive(Debug, Clone, PartialEq)]
pub struct Seen {
    /// Values that are there.
    pub there: u64,
    /// Values that are missing.
    pub missing: u64,
    /// The least and the greatest, if all are numbers.
    pub numbers: Option<(f64, f64)>,
    /// The least and the greatest in seconds, if all are dates.
    pub dates: Option<(f64, f64)>,
    /// All values, if they are few.
    pub values: Option<Vec<String>>,
}

/// The columns of a table; `look_at_values` reads all of it.
pub fn fields(path: &Path, schema: &Schema, look_at_values: bool) -> Result<Vec<Field>> {
    let written = Written {
        delimiter: schema.delimiter,
        encoding: schema.encoding,
        list: None,
    };
    let format = Format::of(path);
    let names = match format {
        Format::Jsonl => names_of_first_object(path, schema)?,
        _ => Vec::new(),
    };
    let table = format
        .open(path, written, &names)
        .with_context(|| path.display().to_string())?;
    table
        .check_names()
        .with_context(|| path.display().to_string())?;
    let mut fields: Vec<Field> = (table.header.iter().zip(&table.hints))
        .map(|(name, &hint)| Field {
            name: name.clone(),
            hint,
            seen: None,
        })
        .collect();
    if look_at_values {
        let mut looks = vec![Look::default(); fields.len()];
        let missing = &schema.missing_values;
        let read = table.each(&mut |_, row| {
            for (look, value) in looks.iter_mut().zip(row.unwrap_or_default()) {
                look.at(*value, missing);
            }
            Ok(())
        });
        read.with_context(|| path.display().to_string())?;
        for (field, look) in fields.iter_mut().zip(looks) {
            field.seen = Some(look.seen());
        }
    }
    Ok(fields)
}

/// The field names of the first line of JSON lines.
fn names_of_first_object(path: &Path, schema: &Schema) -> Result<Vec<String>> {
    let file = super::characters::characters(super::characters::bytes(path)?, schema.encoding);
    let mut lines = super::json_lines::Lines::new(file);
    let Some(line) = lines.next()? else {
        bail!("{}: the file is empty", path.display());
    };
    let object = line.bytes.and_then(super::json_lines::object);
    let object = object.with_context(|| format!("{}, line {}", path.display(), line.number))?;
    Ok(object.keys().cloned().collect())
}

/// What has been seen of a column so far.
#[derive(Debug, Clone, Default)]
struct Look {
    there: u64,
    missing: u64,
    numbers: Range,
    dates: Range,
    values: BTreeMap<String, u64>,
}

/// The least and the greatest, while all values are of the kind.
#[derive(Debug, Clone, Copy)]
struct Range(Option<(f64, f64)>);

impl Default for Range {
    fn default() -> Self {
        Self(Some((f64::INFINITY, f64::NEG_INFINITY)))
    }
}

impl Range {
    fn take(&mut self, value: Option<f64>) {
        let value = value.filter(|value| value.is_finite());
        self.0 = match (self.0, value) {
            (Some((least, greatest)), Some(value)) => Some((least.min(value), greatest.max(value))),
            _ => None,
        };
    }
}

impl Look {
    fn at(&mut self, value: Value<'_>, missing: &MissingValues) {
        let text = value.shown();
        if value == Value::None || missing.has_text(&text) {
            self.missing += 1;
            return;
        }
        self.there += 1;
        let number = match value {
            Value::Moment { .. } => None,
            _ => text.parse().ok(),
        };
        self.numbers.take(number);
        let date = match value {
            Value::Moment { seconds, .. } => Some(seconds),
            Value::Text(text) => seconds(text, None),
            _ => None,
        };
        self.dates.take(date);
        if self.values.len() <= MOST_CATEGORIES {
            *self.values.entry(text.into_owned()).or_default() += 1;
        }
    }

    fn seen(self) -> Seen {
        let any = self.there > 0;
        Seen {
            there: self.there,
            missing: self.missing,
            numbers: self.numbers.0.filter(|_| any),
            dates: self.dates.0.filter(|_| any),
            values: (any && self.values.len() <= MOST_CATEGORIES)
                .then(|| self.values.into_keys().collect()),
        }
    }
}
