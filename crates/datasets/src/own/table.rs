//! Tables: the rows of a file by the columns a schema declares.

use super::format::{Format, Written};
use super::rows::RawTable;
use super::shards::shards;
use super::{People, Person, TestChoice, Unbounded, about, asked, decided, short_name};
use crate::bad_record::BadRecord;
use crate::chunk::Chunk;
use crate::disk::{Keep, Kept, Part, Unit};
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
    options: &'a Options,
}

impl Reader<'_> {
    fn read(
        &self,
        path: &Path,
        format: Format,
        test: &TestChoice,
    ) -> Result<(TablePreparation, [Kept; 2])> {
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
        let files = shards(path, format)?;
        let targets = Targets::of(self.target);
        let keep = Keep {
            asked: asked(self.options),
            prepared_by: format!("{format:?}\n{}", decided(self.options, test)?),
            path,
            files: &files,
            files_are_records: false,
            unit: Unit::Cells,
            targets: &targets,
        };
        keep.read(|parts| {
            let mut people = [People::none(self.options), People::none(self.options)];
            let mut table = None;
            for file in &files {
                let read = format
                    .open(file, written.clone(), &fields)
                    .and_then(|table| self.rows(file, table, test, parts, &mut people))
                    .with_context(|| format!("{}", file.display()))?;
                ensure!(
                    *table.get_or_insert_with(|| read.clone()) == read,
                    "{} must have the columns of {}, in the same order",
                    file.display(),
                    files[0].display()
                );
            }
            for (part, people) in parts.iter_mut().zip(people) {
                part.own(|targets| people.own(targets));
                part.write(|values| values)?;
            }
            table.context("there is no file")
        })
    }

    /// Adds the rows to train on and those held out, and returns the columns.
    fn rows(
        &self,
        path: &Path,
        raw: RawTable,
        test: &TestChoice,
        parts: &mut [Part; 2],
        people: &mut [People; 2],
    ) -> Result<TablePreparation> {
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
            let kept = self.options.bad_records.kept(read, place)?;
            if let Some((read, truth, weight, held_out, person)) = kept {
                if !people[usize::from(held_out)].keeps(person) {
                    return Ok(());
                }
                let part = &mut parts[usize::from(held_out)];
                push(&table, &read, &mut part.chunk);
                let weight = (!self.weighting.is_even()).then_some(weight);
                part.chunk.targets.push(truth, weight)?;
                part.settle(|values| values)?;
            }
            Ok(())
        })?;
        Ok(table)
    }
}

/// Adds what was read of a row.
fn push(table: &TablePreparation, read: &[Option<f64>], chunk: &mut Chunk) {
    for (column, &read) in table.columns.iter().zip(read) {
        column.push(read, &mut chunk.values.cells);
        if column.encoding == Encoding::Pending {
            chunk.unbounded.push(read.unwrap_or(f64::NAN));
        }
    }
}
