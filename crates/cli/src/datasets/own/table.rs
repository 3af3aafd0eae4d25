//! Tables: the rows of a file by the columns a schema declares.

use super::{TestChoice, Unbounded, about, csv_file, kept, name_of, parquet_file};
use crate::datasets::nearest::{known, shown};
use crate::datasets::preparation::Column;
use crate::datasets::schema::Schema;
use crate::datasets::{Opened, Options};
use anyhow::{Context, Result, ensure};
use std::path::Path;

/// A file of rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::datasets) enum Format {
    Csv,
    Parquet,
}

/// A header and the rows below it.
pub(super) struct RawTable {
    pub header: Vec<String>,
    /// An outer error is of the file, an inner one of the row.
    pub rows: Box<dyn Iterator<Item = Result<RawRow>>>,
}

/// One row.
pub(super) struct RawRow {
    pub line: u64,
    pub fields: Result<Vec<String>>,
}

/// What was read of a file, numbers as they were.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Cells {
    pub cells: Vec<f64>,
    pub labels: Vec<u16>,
}

/// Opens the table and, if there is one, the test file.
pub(in crate::datasets) fn open(file: &Path, format: Format, options: &Options) -> Result<Opened> {
    options.test.check()?;
    let label = options.schema.label.column.as_deref().context(
        "which column holds the class must be said: --label COLUMN, or `column` under [label] in the schema",
    )?;
    let classes = options.schema.classes()?;
    let reader = Reader {
        schema: &options.schema,
        label,
        classes,
        estimate: options.estimate_bounds,
    };
    let (columns, [training, held_out]) = reader.read(file, format, &options.test)?;
    let test = match &options.test {
        TestChoice::None => None,
        TestChoice::Share { public, .. } => Some((held_out, *public)),
        TestChoice::File { path, public } => {
            let (others, [test, _]) = reader.read(path, format, &TestChoice::None)?;
            ensure!(
                others == columns,
                "{} must have the columns of {}, in the same order",
                path.display(),
                file.display()
            );
            Some((test, *public))
        }
    };
    Unbounded {
        name: name_of(file),
        columns,
        classes: classes.to_vec(),
        training,
        test,
        public_count: options.test.public_count(&options.schema),
        about: about(file, &options.test),
    }
    .opened()
}

struct Reader<'a> {
    schema: &'a Schema,
    label: &'a str,
    classes: &'a [String],
    estimate: bool,
}

impl Reader<'_> {
    fn read(
        &self,
        path: &Path,
        format: Format,
        test: &TestChoice,
    ) -> Result<(Vec<Column>, [Cells; 2])> {
        let table = match format {
            Format::Csv => csv_file::open(path, self.schema.delimiter),
            Format::Parquet => parquet_file::open(path),
        };
        table
            .and_then(|table| self.rows(table, test))
            .with_context(|| format!("{}", path.display()))
    }

    /// The columns, and the rows to train on and those held out.
    pub(super) fn rows(
        &self,
        table: RawTable,
        test: &TestChoice,
    ) -> Result<(Vec<Column>, [Cells; 2])> {
        let header = &table.header;
        for (at, name) in header.iter().enumerate() {
            ensure!(
                !name.is_empty(),
                "column {} has no name in the header",
                at + 1
            );
            ensure!(
                !header[..at].contains(name),
                "the header has two columns named `{name}`; rename one"
            );
        }
        let label = header
            .iter()
            .position(|name| name == self.label)
            .with_context(|| {
                format!(
                    "there is no column `{}`{}",
                    self.label,
                    known(self.label, header)
                )
            })?;
        let columns = self.schema.columns(header, self.label, self.estimate)?;
        let places: Vec<usize> = columns
            .iter()
            .filter_map(|column| header.iter().position(|name| *name == column.name))
            .collect();
        let mut parts = [Cells::default(), Cells::default()];
        for row in table.rows {
            let RawRow { line, fields } = row?;
            let read = fields.and_then(|fields| {
                let cells = columns
                    .iter()
                    .zip(&places)
                    .map(|(column, &place)| column.read(&fields[place]))
                    .collect::<Result<Vec<f64>>>()?;
                let class = class_number(&fields[label], self.label, self.classes)?;
                let held_out = test.holds_out(fields.iter().map(String::as_bytes));
                Ok((cells, class, held_out))
            });
            if let Some((cells, class, held_out)) =
                kept(read, self.schema.bad_rows, || format!("line {line}"))?
            {
                let part = &mut parts[usize::from(held_out)];
                part.cells.extend(cells);
                part.labels.push(class);
            }
        }
        Ok((columns, parts))
    }
}

/// The number of a class.
pub(super) fn class_number(value: &str, column: &str, classes: &[String]) -> Result<u16> {
    let value = value.trim();
    ensure!(!value.is_empty(), "the class in `{column}` is empty");
    let number = classes
        .iter()
        .position(|class| class == value)
        .with_context(|| {
            format!(
                "{} in `{column}` is not one of the declared classes{}",
                shown(value),
                known(value, classes)
            )
        })?;
    Ok(u16::try_from(number)?)
}
