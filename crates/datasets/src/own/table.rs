//! Tables: the rows of a file by the columns a schema declares.

use super::format::{Format, Written};
use super::rows::RawTable;
use super::{People, Person, TestChoice, Unbounded, about, short_name};
use crate::bad_record::{BadRecord, BadRecords};
use crate::nearest::known;
use crate::preparation::{Encoding, TablePreparation, names};
use crate::records::Targets;
use crate::schema::Schema;
use crate::target::{Target, Weighting};
use crate::{Opened, Options};
use anyhow::{Context, Result, ensure};
use std::path::Path;

/// What a table is called unless its owner names it.
const KIND: &str = "table";

/// What was read of a file: cells of rows, but for numbers whose bounds are not known yet.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Cells {
    pub cells: Vec<f32>,
    /// The numbers of columns without bounds, as they were; NaN where one is missing.
    pub unbounded: Vec<f64>,
    pub labels: Targets,
    pub people: People,
}

/// Opens the table and, if there is one, the test file.
pub(crate) fn open(file: &Path, format: Format, options: &Options) -> Result<Opened> {
    options.test.check()?;
    options.schema.check_person()?;
    let fields = options.schema.label.fields("column")?;
    let target = options.schema.label.target()?;
    let reader = Reader {
        schema: &options.schema,
        target: &target,
        fields: &fields,
        weighting: options.schema.label.weighting()?,
        estimate: options.estimate_bounds,
        bad_records: &options.bad_records,
        options,
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
    options: &'a Options,
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
            list: match (self.target, self.fields) {
                (
                    Target::Labels {
                        separator: Some(mark),
                        ..
                    },
                    [field],
                ) => Some((field.clone(), *mark)),
                _ => None,
            },
        };
        ensure!(
            format != Format::Jsonl || !self.schema.columns.is_empty(),
            "no column is declared. Of texts say which field holds them with --text FIELD; of a table in JSON lines declare \
             the fields in the schema"
        );
        let mut fields: Vec<String> = self.schema.columns.keys().cloned().collect();
        fields.retain(|field| !self.schema.label.uses(field) && !self.fields.contains(field));
        fields.extend_from_slice(self.fields);
        fields.retain(|field| self.schema.person.as_ref() != Some(field));
        fields.extend(self.schema.person.clone());
        fields.extend(
            self.weighting
                .column
                .iter()
                .map(|(column, _)| column.clone()),
        );
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
        raw.check_names()?;
        let header = &raw.header;
        let place = |wanted: &String| {
            let found = header.iter().position(|name| name == wanted);
            found.with_context(|| {
                format!(
                    "there is no column `{wanted}`{}",
                    known(wanted, &names(header))
                )
            })
        };
        let labels = self
            .fields
            .iter()
            .map(place)
            .collect::<Result<Vec<usize>>>()?;
        let weight = self.weighting.column.as_ref();
        let weight = weight.map(|(column, _)| place(column)).transpose()?;
        let person = self.schema.person.as_ref();
        let person = person
            .map(|name| Ok::<_, anyhow::Error>((place(name)?, name)))
            .transpose()?;
        let table = self.schema.table(header, &self.fields[0], self.estimate)?;
        let places = table.places(header)?;
        // Every field counts in the hash that splits records.
        let mut needed = vec![matches!(test, TestChoice::Share { .. }); header.len()];
        let of_person = person.as_ref().map(|(place, _)| place);
        for place in places.iter().chain(&labels).chain(&weight).chain(of_person) {
            needed[*place] = true;
        }
        let mut parts = [self.none(), self.none()];
        raw.rows.each(&needed, &mut |line, row| {
            let read = row.and_then(|row| {
                let read = (table.columns.iter().zip(&places))
                    .map(|(column, &place)| column.read(row[place], &table.missing_values))
                    .collect::<Result<Vec<Option<f64>>>>()?;
                let text = |place: &usize| {
                    let text = row[*place].text();
                    text.with_context(|| BadRecord::new("the class is not UTF-8"))
                };
                let values = labels.iter().map(text).collect::<Result<Vec<_>>>()?;
                let values: Vec<&str> = values.iter().map(AsRef::as_ref).collect();
                let truth = self.target.read(&values, self.fields)?;
                let weight = weight.as_ref().map(text).transpose()?;
                let weight = self.weighting.of(&truth, weight.as_deref())?;
                let person = person.as_ref().map(|(place, name)| {
                    // Bytes, not letters: no two identifiers may be taken for one.
                    let value = row[*place].bytes();
                    match table
                        .missing_values
                        .has_text(&String::from_utf8_lossy(&value))
                    {
                        true => Person::new(b"", name),
                        false => Person::new(&value, name),
                    }
                });
                let person = person.transpose()?;
                let held_out = test.holds_out_of(person.as_ref(), || test.holds_out_row(row));
                Ok((read, truth, weight, held_out, person))
            });
            let place = || (path.display().to_string(), Some(line));
            let kept = self.bad_records.kept(read, place)?;
            if let Some((read, truth, weight, held_out, person)) = kept {
                let part = &mut parts[usize::from(held_out)];
                if !part.people.keeps(person) {
                    return Ok(());
                }
                part.push(&table, &read);
                let weight = (!self.weighting.is_even()).then_some(weight);
                part.labels.push(truth, weight)?;
            }
            Ok(())
        })?;
        let parts = parts.map(|mut part| {
            let people = std::mem::take(&mut part.people);
            part.labels = people.own(part.labels);
            part
        });
        Ok((table, parts))
    }

    fn none(&self) -> Cells {
        Cells {
            cells: Vec::new(),
            unbounded: Vec::new(),
            labels: Targets::of(self.target),
            people: People::none(self.options.owners()),
        }
    }
}

impl Cells {
    fn push(&mut self, table: &TablePreparation, read: &[Option<f64>]) {
        for (column, &read) in table.columns.iter().zip(read) {
            column.push(read, &mut self.cells);
            if column.encoding == Encoding::Pending {
                self.unbounded.push(read.unwrap_or(f64::NAN));
            }
        }
    }
}
