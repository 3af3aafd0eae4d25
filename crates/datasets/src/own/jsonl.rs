//! Texts in JSON, one object a line.

use super::characters::{bytes, characters_of_records};
use super::format::Format;
use super::json_lines::{Line, Lines, object};
use super::shards::shards;
use super::{People, Person, TestChoice, asked, data_set, decided};
use crate::Options;
use crate::bad_record::BadRecord;
use crate::chunk::Chunk;
use crate::data_set::DataSet;
use crate::disk::{Keep, Kept, Part};
use crate::nearest::known;
use crate::preparation::{Input, InputPreparation, Preparation};
use crate::records::{Shape, Targets};
use crate::target::{Target, Truth, Weighting, listed};
use crate::texts::{preparation as text_preparation, vectors};
use crate::word_vectors::WordVectors;
use anyhow::{Context, Result};
use serde_json::{Map, Value};
use std::io::Read;
use std::path::Path;

/// Words of a text that are used unless declared otherwise.
const LENGTH: usize = 256;

/// Opens the file and, if there is one, the test file.
pub(crate) fn open(file: &Path, text: &str, options: &Options) -> Result<DataSet> {
    options.test.check()?;
    let fields = options.schema.label.fields("field")?;
    let target = options.schema.label.target()?;
    let vectors = vectors(options)?;
    let preparation = Preparation {
        input: text_preparation(options, vectors.as_deref(), LENGTH)?,
        classes: target.names(),
    };
    let reader = Reader {
        text,
        target: &target,
        fields: &fields,
        weighting: options.schema.label.weighting()?,
        preparation: &preparation,
        vectors: vectors.as_deref(),
        options,
    };
    let records = |kept: Kept| preparation.records_kept(kept, vectors.clone());
    let read = |path: &Path, test: &TestChoice| reader.files(path, test);
    data_set(file, "texts", options, preparation.clone(), read, records)
}

/// The input of a model for texts whose words are hashed.
pub(crate) fn shape(options: &Options) -> Result<Option<Shape>> {
    Ok(match text_preparation(options, None, LENGTH)? {
        InputPreparation::Words(words) => Some(Shape::Tokens {
            length: words.length,
            vocabulary: words.vocabulary,
        }),
        InputPreparation::Subwords(subwords) => Some(Shape::Tokens {
            length: subwords.length,
            vocabulary: subwords.vocabulary,
        }),
        InputPreparation::Counts(counts) => Some(Shape::Rows {
            width: counts.buckets,
        }),
        _ => None,
    })
}

pub(super) struct Reader<'a> {
    pub text: &'a str,
    pub target: &'a Target,
    /// The fields that the target is read from.
    pub fields: &'a [String],
    pub weighting: Weighting,
    pub preparation: &'a Preparation,
    pub vectors: Option<&'a WordVectors>,
    pub options: &'a Options,
}

impl Reader<'_> {
    /// The texts to train on and those held out.
    fn files(&self, path: &Path, test: &TestChoice) -> Result<[Kept; 2]> {
        let files = shards(path, Format::Jsonl)?;
        let prepared_by = serde_json::to_string(self.preparation)?;
        let targets = Targets::of(self.target);
        let keep = Keep {
            asked: asked(self.options),
            prepared_by: format!(
                "{}\n{prepared_by}\n{}",
                self.text,
                decided(self.options, test)?
            ),
            path,
            files: &files,
            files_are_records: false,
            unit: self.preparation.unit(),
            targets: &targets,
        };
        let ((), kept) = keep.read(|parts| {
            let mut people = [People::none(self.options), People::none(self.options)];
            for file in &files {
                bytes(file)
                    .map(|bytes| characters_of_records(bytes, self.options.schema.encoding))
                    .and_then(|bytes| self.read(file, bytes, test, parts, &mut people))
                    .with_context(|| format!("{}", file.display()))?;
            }
            for (part, people) in parts.iter_mut().zip(people) {
                part.own(|targets| people.own(targets));
                part.write(|values| values)?;
            }
            Ok(())
        })?;
        Ok(kept)
    }

    fn read(
        &self,
        path: &Path,
        file: Box<dyn Read>,
        test: &TestChoice,
        parts: &mut [Part; 2],
        people: &mut [People; 2],
    ) -> Result<()> {
        let mut lines = Lines::new(file);
        while let Some(Line { number, bytes }) = lines.next()? {
            let record = bytes.and_then(|bytes| self.record(bytes));
            let place = || (path.display().to_string(), Some(number));
            if let Some((texts, truth, weight, person)) =
                self.options.bad_records.kept(record, place)?
            {
                let held_out = test.holds_out_of(person.as_ref(), || {
                    let truth_bytes = truth.bytes();
                    let fields = texts.iter().map(String::as_bytes);
                    test.holds_out(fields.chain([truth_bytes.as_slice()]))
                });
                if !people[usize::from(held_out)].keeps(person) {
                    continue;
                }
                let input = match &texts[..] {
                    [text, second] => Input::Pair(text, second),
                    texts => Input::Text(&texts[0]),
                };
                let part = &mut parts[usize::from(held_out)];
                let Chunk {
                    values, targets, ..
                } = &mut part.chunk;
                self.preparation.push(input, self.vectors, values)?;
                targets.push(truth, (!self.weighting.is_even()).then_some(weight))?;
                part.settle(|values| values)?;
            }
        }
        Ok(())
    }

    /// The text of a record, or its two texts, what is to be predicted, its weight, and whose it is.
    fn record(&self, line: &[u8]) -> Result<(Vec<String>, Truth, f32, Option<Person>)> {
        let object = object(line)?;
        let mut texts = vec![text(&object, self.text)?.to_string()];
        if let Some(second) = &self.options.second_text {
            texts.push(text(&object, second)?.to_string());
        }
        let truth = match (self.target, field(&object, &self.fields[0])?) {
            // A list in JSON needs no separator.
            (Target::Labels { names, .. }, Value::Array(items)) => {
                let items = items.iter().filter_map(Value::as_str);
                listed(items, &self.fields[0], names)?
            }
            _ => {
                let values = self.fields.iter().map(|name| plain(&object, name));
                let values = values.collect::<Result<Vec<String>>>()?;
                let values: Vec<&str> = values.iter().map(String::as_str).collect();
                self.target.read(&values, self.fields)?
            }
        };
        let column = self.weighting.column.as_ref();
        let weight = column.map(|(name, _)| plain(&object, name)).transpose()?;
        let weight = self.weighting.of(&truth, weight.as_deref())?;
        let person = self.options.schema.person.as_ref();
        let person = person.map(|name| person_in(&object, name)).transpose()?;
        Ok((texts, truth, weight, person))
    }
}

/// Whose a record is.
fn person_in(object: &Map<String, Value>, name: &str) -> Result<Person> {
    match object.get(name) {
        Some(Value::String(value)) => Person::new(value.as_bytes(), name),
        Some(Value::Number(value)) => Person::new(value.to_string().as_bytes(), name),
        // A list or an object is nobody, as is a field that is not there.
        _ => Person::new(b"", name),
    }
}

/// A field that holds one value.
fn plain(object: &Map<String, Value>, name: &str) -> Result<String> {
    match field(object, name)? {
        Value::String(value) => Ok(value.clone()),
        Value::Number(value) => Ok(value.to_string()),
        Value::Bool(value) => Ok(value.to_string()),
        _ => {
            let problem = format!("the class in `{name}` is neither a text nor a number");
            Err(BadRecord::new(problem).into())
        }
    }
}

/// The text of an object.
pub(super) fn text<'a>(object: &'a Map<String, Value>, name: &str) -> Result<&'a str> {
    let problem = match field(object, name)? {
        Value::String(text) if !text.trim().is_empty() => return Ok(text),
        Value::String(_) => format!("the text in `{name}` is empty"),
        _ => format!("the field `{name}` is not a text"),
    };
    Err(BadRecord::new(problem).into())
}

fn field<'a>(object: &'a Map<String, Value>, name: &str) -> Result<&'a Value> {
    let found = object.get(name).ok_or_else(|| {
        let names: Vec<_> = object.keys().collect();
        BadRecord::new(format!("there is no field `{name}`")).hint(known(name, &names))
    })?;
    Ok(found)
}
