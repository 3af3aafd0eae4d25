//! Tables: the rows of a file by the columns a schema declares.

use super::{TestChoice, Unbounded, about, csv_file, parquet_file, short_name};
use crate::bad_record::BadRecords;
use crate::nearest::known;
use crate::preparation::Column;
use crate::records::Targets;
use crate::schema::Schema;
use crate::target::{Target, Weighting};
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
    pub labels: Targets,
}

/// Opens the table and, if there is one, the test file.
pub(crate) fn open(file: &Path, format: Format, options: &Options) -> Result<Opened> {
    options.test.check()?;
    let fields = options.schema.label.fields("column")?;
    let target = options.schema.label.target()?;
    let reader = Reader {
        schema: &options.schema,
        target: &target,
        fields: &fields,
        weighting: options.schema.label.weighting()?,
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
        classes: target.names(),
        training,
        test,
        public_count: options.declared_count(),
        about: about(options, KIND),
    }
    .opened()
}

struct Reader<'a> {
    schema: &'a Schema,
    target: &'a Target,
    /// The columns that the target is read from.
    fields: &'a [String],
    weighting: Weighting,
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
        let place = |wanted: &str| {
            let found = header.iter().position(|name| name == wanted);
            found.with_context(|| format!("there is no column `{wanted}`{}", known(wanted, header)))
        };
        let labels = self.fields.iter().map(|field| place(field));
        let labels = labels.collect::<Result<Vec<usize>>>()?;
        let weight = self.weighting.column.as_ref();
        let weight = weight.map(|(column, _)| place(column)).transpose()?;
        let columns = (self.schema).columns(header, &self.fields[0], self.estimate)?;
        let places: Vec<usize> = columns
            .iter()
            .filter_map(|column| header.iter().position(|name| *name == column.name))
            .collect();
        let mut parts = [self.none(), self.none()];
        for row in table.rows {
            let RawRow { line, fields } = row?;
            let read = fields.and_then(|fields| {
                let cells = columns
                    .iter()
                    .zip(&places)
                    .map(|(column, &place)| column.read(&fields[place]))
                    .collect::<Result<Vec<f64>>>()?;
                let values: Vec<&str> = labels.iter().map(|at| fields[*at].as_str()).collect();
                let truth = self.target.read(&values, self.fields)?;
                let weight = weight.map(|at| fields[at].as_str());
                let weight = self.weighting.of(&truth, weight)?;
                let held_out = test.holds_out(fields.iter().map(String::as_bytes));
                Ok((cells, truth, weight, held_out))
            });
            let place = || (path.display().to_string(), Some(line));
            if let Some((cells, truth, weight, held_out)) = self.bad_records.kept(read, place)? {
                let part = &mut parts[usize::from(held_out)];
                part.cells.extend(cells);
                let weight = (!self.weighting.is_even()).then_some(weight);
                part.labels.push(truth, weight)?;
            }
        }
        Ok((columns, parts))
    }

    fn none(&self) -> Cells {
        Cells {
            cells: Vec::new(),
            labels: Targets::of(self.target),
        }
    }
}
