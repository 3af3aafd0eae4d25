//! Texts in JSON, one object a line.

use super::characters::{bytes, characters};
use super::json_lines::{Line, Lines, object};
use super::table::class_number;
use super::{TestChoice, data_set};
use crate::Options;
use crate::bad_record::BadRecord;
use crate::data_set::DataSet;
use crate::nearest::known;
use crate::preparation::{Input, InputPreparation, Preparation, Values};
use crate::records::Shape;
use crate::texts::{preparation as text_preparation, vectors};
use crate::word_vectors::WordVectors;
use anyhow::{Context, Result};
use serde_json::{Map, Value};
use std::io::Read;
use std::path::Path;

/// Words of a text that are used unless declared otherwise.
const LENGTH: usize = 256;

type Part = (Values, Vec<u16>);

/// Opens the file and, if there is one, the test file.
pub(crate) fn open(file: &Path, text: &str, options: &Options) -> Result<DataSet> {
    options.test.check()?;
    let label = options.schema.label.column.as_deref().context(
        "which field holds the class must be said: --label FIELD, or `column` under [label] in the schema",
    )?;
    let vectors = vectors(options)?;
    let preparation = Preparation {
        input: text_preparation(options, vectors.as_deref(), LENGTH)?,
        classes: options.schema.classes()?.to_vec(),
    };
    let reader = Reader {
        text,
        label,
        preparation: &preparation,
        vectors: vectors.as_deref(),
        options,
    };
    let records = |(values, labels): Part| preparation.records(values, labels, vectors.clone());
    let read = |file: &Path, test: &TestChoice| reader.file(file, test);
    data_set(file, "texts", options, preparation.clone(), read, records)
}

/// The input of a model for texts whose words are hashed.
pub(crate) fn shape(options: &Options) -> Result<Option<Shape>> {
    Ok(match text_preparation(options, None, LENGTH)? {
        InputPreparation::Words(words) => Some(Shape::Tokens {
            length: words.length,
            vocabulary: words.vocabulary,
        }),
        _ => None,
    })
}

pub(super) struct Reader<'a> {
    pub text: &'a str,
    pub label: &'a str,
    pub preparation: &'a Preparation,
    pub vectors: Option<&'a WordVectors>,
    pub options: &'a Options,
}

impl Reader<'_> {
    fn file(&self, path: &Path, test: &TestChoice) -> Result<[Part; 2]> {
        bytes(path)
            .map(|file| characters(file, self.options.schema.encoding))
            .and_then(|file| self.read(path, file, test))
            .with_context(|| format!("{}", path.display()))
    }

    /// The texts to train on and those held out.
    fn read(&self, path: &Path, file: Box<dyn Read>, test: &TestChoice) -> Result<[Part; 2]> {
        let mut lines = Lines::new(file);
        let mut parts = [Part::default(), Part::default()];
        while let Some(Line { number, bytes }) = lines.next()? {
            let record = bytes.and_then(|bytes| self.record(bytes));
            let place = || (path.display().to_string(), Some(number));
            if let Some((text, class)) = self.options.bad_records.kept(record, place)? {
                let class_name = class.to_le_bytes();
                let held_out = test.holds_out([text.as_bytes(), &class_name]);
                let (values, labels) = &mut parts[usize::from(held_out)];
                self.preparation
                    .push(Input::Text(&text), self.vectors, values)?;
                labels.push(class);
            }
        }
        Ok(parts)
    }

    fn record(&self, line: &[u8]) -> Result<(String, u16)> {
        let object = object(line)?;
        let text = text(&object, self.text)?;
        let class = match field(&object, self.label)? {
            Value::String(class) => class.clone(),
            Value::Number(class) => class.to_string(),
            Value::Bool(class) => class.to_string(),
            _ => {
                let label = self.label;
                let problem = format!("the class in `{label}` is neither a text nor a number");
                return Err(BadRecord::new(problem).into());
            }
        };
        Ok((
            text.to_string(),
            class_number(&class, self.label, &self.preparation.classes)?,
        ))
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
