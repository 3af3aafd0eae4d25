//! Texts in JSON, one object a line.

use super::table::class_number;
use super::{TestChoice, data_set};
use crate::Options;
use crate::bad_record::BadRecord;
use crate::builtin::{text_preparation, vectors};
use crate::data_set::DataSet;
use crate::formats::compressed;
use crate::nearest::known;
use crate::preparation::{Input, InputPreparation, Preparation, Values, WordVectors};
use crate::records::Shape;
use anyhow::{Context, Result};
use serde_json::{Map, Value};
use std::io::{BufRead, BufReader, Read};
use std::path::Path;

/// A longer line is a bad record.
const LONGEST_LINE: usize = 1 << 24;
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
        InputPreparation::Counts(counts) => Some(Shape::Rows {
            width: counts.buckets,
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
        compressed::open(path)
            .and_then(|file| self.read(path, file, test))
            .with_context(|| format!("{}", path.display()))
    }

    /// The texts to train on and those held out.
    fn read(&self, path: &Path, file: impl Read, test: &TestChoice) -> Result<[Part; 2]> {
        let mut file = BufReader::new(file);
        let mut parts = [Part::default(), Part::default()];
        let mut bytes = Vec::new();
        for line in 1.. {
            bytes.clear();
            let read = file
                .by_ref()
                .take(LONGEST_LINE as u64 + 1)
                .read_until(b'\n', &mut bytes)?;
            if read == 0 {
                break;
            }
            let too_long = read > LONGEST_LINE;
            if too_long && !bytes.ends_with(b"\n") {
                file.skip_until(b'\n')?;
            }
            if bytes.trim_ascii().is_empty() && !too_long {
                continue;
            }
            let record = match too_long {
                false => self.record(&bytes),
                true => {
                    let problem =
                        format!("longer than {LONGEST_LINE} bytes; is this one object a line?");
                    Err(BadRecord::new(problem).into())
                }
            };
            let place = || (path.display().to_string(), Some(line));
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

/// The object of a line.
pub(super) fn object(line: &[u8]) -> Result<Map<String, Value>> {
    let line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line);
    let line = std::str::from_utf8(line)
        .map_err(|_| BadRecord::new("not UTF-8; save the file as UTF-8"))?;
    // The parser's own words quote what it found.
    let object = serde_json::from_str(line)
        .map_err(|error| BadRecord::new("not a JSON object").hint(format!(" ({error})")))?;
    Ok(object)
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
