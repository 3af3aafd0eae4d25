//! Tables: the rows of a file by the columns a schema declares.

use super::{TestChoice, Unbounded, about, csv_file, parquet_file, short_name};
use crate::bad_record::{BadRecord, BadRecords};
use crate::nearest::known;
use crate::preparation::Column;
use crate::schema::Schema;
use crate::{Opened, Options};
use anyhow::{Context, Result, ensure};
use std::path::Path;

/// What a table is called unless its owner names it.
const KIND: &str = "table";

/// A file of rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Format {
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
pub(crate) fn open(file: &Path, format: Format, options: &Options) -> Result<Opened> {
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
        bad_records: &options.bad_records,
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
        name: short_name(options, KIND),
        columns,
        classes: classes.to_vec(),
        training,
        test,
        public_count: options.declared_count(),
        about: about(options, KIND),
    }
    .opened()
}

struct Reader<'a> {
    schema: &'a Schema,
    label: &'a str,
    classes: &'a [String],
    estimate: bool,
    bad_records: &'a BadRecords,
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
            .and_then(|table| self.rows(path, table, test))
            .with_context(|| format!("{}", path.display()))
    }

    /// The columns, and the rows to train on and those held out.
    fn rows(
        &self,
        path: &Path,
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
            let place = || (path.display().to_string(), Some(line));
            if let Some((cells, class, held_out)) = self.bad_records.kept(read, place)? {
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
    if value.is_empty() {
        return Err(BadRecord::new(format!("the class in `{column}` is empty")).into());
    }
    let number = classes.iter().position(|class| class == value);
    let number = number.ok_or_else(|| {
        BadRecord::new(format!(
            "the class in `{column}` is not one of the declared classes"
        ))
        .value(value)
        .hint(known(value, classes))
    })?;
    Ok(u16::try_from(number)?)
}
