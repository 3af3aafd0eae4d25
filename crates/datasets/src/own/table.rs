//! Tables: the rows of a file by the columns a schema declares.

use super::format::{Format, Written};
use super::rows::RawTable;
use super::{TestChoice, Unbounded, about, short_name};
use crate::bad_record::{BadRecord, BadRecords};
use crate::nearest::known;
use crate::preparation::{Encoding, TablePreparation, names};
use crate::schema::Schema;
use crate::{Opened, Options};
use anyhow::{Context, Result, ensure};
use std::collections::HashSet;
use std::path::Path;

/// What a table is called unless its owner names it.
const KIND: &str = "table";

/// What was read of a file: cells of rows, but for numbers whose bounds are not known yet.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Cells {
    pub cells: Vec<f32>,
    /// The numbers of columns without bounds, as they were; NaN where one is missing.
    pub unbounded: Vec<f64>,
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
    let (table, [training, held_out]) = reader.read(file, format, &options.test)?;
    let test = match &options.test {
        TestChoice::None => None,
        TestChoice::Share { public, .. } => Some((held_out, *public)),
        TestChoice::File { path, public } => {
            let (others, [test, _]) = reader.read(path, format, &TestChoice::None)?;
            ensure!(
                others == table,
                "{} must have the columns of {}, in the same order",
                path.display(),
                file.display()
            );
            Some((test, *public))
        }
    };
    Unbounded {
        name: short_name(options, KIND),
        table,
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
    ) -> Result<(TablePreparation, [Cells; 2])> {
        let written = Written {
            delimiter: self.schema.delimiter,
            encoding: self.schema.encoding,
        };
        ensure!(
            format != Format::Jsonl || !self.schema.columns.is_empty(),
            "no column is declared. Of texts say which field holds them with --text FIELD; of a table in JSON lines declare \
             the fields in the schema"
        );
        let mut fields: Vec<String> = self.schema.columns.keys().cloned().collect();
        fields.retain(|field| field != self.label);
        fields.push(self.label.to_string());
        format
            .open(path, written, &fields)
            .and_then(|table| self.rows(path, table, test))
            .with_context(|| format!("{}", path.display()))
    }

    /// The columns, and the rows to train on and those held out.
    fn rows(
        &self,
        path: &Path,
        raw: RawTable,
        test: &TestChoice,
    ) -> Result<(TablePreparation, [Cells; 2])> {
        let header = &raw.header;
        check_names(header)?;
        let label = header.iter().position(|name| name == self.label);
        let label = label.with_context(|| {
            let near = known(self.label, &names(header));
            format!("there is no column `{}`{near}", self.label)
        })?;
        let table = self.schema.table(header, self.label, self.estimate)?;
        let places = table.places(header)?;
        // Every field counts in the hash that splits records.
        let mut needed = vec![matches!(test, TestChoice::Share { .. }); header.len()];
        for place in places.iter().chain([&label]) {
            needed[*place] = true;
        }
        let mut parts = [Cells::default(), Cells::default()];
        raw.rows.each(&needed, &mut |line, row| {
            let read = row.and_then(|row| {
                let read = (table.columns.iter().zip(&places))
                    .map(|(column, &place)| column.read(row[place], &table.missing_values))
                    .collect::<Result<Vec<Option<f64>>>>()?;
                let text = row[label].text();
                let text = text.with_context(|| BadRecord::new("the class is not UTF-8"))?;
                let class = class_number(&text, self.label, self.classes)?;
                Ok((read, class, test.holds_out_row(row)))
            });
            let place = || (path.display().to_string(), Some(line));
            if let Some((read, class, held_out)) = self.bad_records.kept(read, place)? {
                parts[usize::from(held_out)].push(&table, &read, class);
            }
            Ok(())
        })?;
        Ok((table, parts))
    }
}

impl Cells {
    fn push(&mut self, table: &TablePreparation, read: &[Option<f64>], class: u16) {
        for (column, &read) in table.columns.iter().zip(read) {
            column.push(read, &mut self.cells);
            if column.encoding == Encoding::Pending {
                self.unbounded.push(read.unwrap_or(f64::NAN));
            }
        }
        self.labels.push(class);
    }
}

/// Refuses two columns of one name. Those without a name are ignored, such as the numbers of rows that some
/// programs put first.
pub(super) fn check_names(header: &[String]) -> Result<()> {
    let mut seen = HashSet::new();
    for name in header.iter().filter(|name| !name.is_empty()) {
        ensure!(
            seen.insert(name),
            "the header has two columns{}; rename one",
            match names(header).is_empty() {
                true => " of one name".to_string(),
                false => format!(" named `{name}`"),
            }
        );
    }
    Ok(())
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
