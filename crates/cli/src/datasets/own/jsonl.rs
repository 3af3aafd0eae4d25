//! Texts in JSON, one object a line.

use super::table::class_number;
use super::{TestChoice, data_set, kept};
use crate::datasets::Options;
use crate::datasets::builtin::{text_preparation, vectors};
use crate::datasets::data_set::DataSet;
use crate::datasets::formats::compressed;
use crate::datasets::nearest::known;
use crate::datasets::preparation::{Input, InputPreparation, Preparation, Values, WordVectors};
use crate::datasets::records::Shape;
use anyhow::{Context, Result, bail, ensure};
use serde_json::{Map, Value};
use std::io::{BufRead, BufReader, Read};
use std::path::Path;

/// A longer line is not read.
const LONGEST_LINE: usize = 1 << 24;
/// Words of a text that are used unless declared otherwise.
const LENGTH: usize = 256;

type Part = (Values, Vec<u16>);

/// Opens the file and, if there is one, the test file.
pub(in crate::datasets) fn open(file: &Path, text: &str, options: &Options) -> Result<DataSet> {
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
    data_set(file, options, preparation.clone(), read, records)
}

/// The input of a model for texts whose words are hashed.
pub(in crate::datasets) fn shape(options: &Options) -> Result<Option<Shape>> {
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
        compressed::open(path)
            .and_then(|file| self.read(file, test))
            .with_context(|| format!("{}", path.display()))
    }

    /// The texts to train on and those held out.
    pub(super) fn read(&self, file: impl Read, test: &TestChoice) -> Result<[Part; 2]> {
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
            ensure!(
                read <= LONGEST_LINE,
                "line {line} is longer than {LONGEST_LINE} bytes; is this one object a line?"
            );
            if bytes.trim_ascii().is_empty() {
                continue;
            }
            let whence = || format!("line {line}");
            if let Some((text, class)) =
                kept(self.record(&bytes), self.options.schema.bad_rows, whence)?
            {
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
            _ => bail!(
                "the class in `{}` is neither a text nor a number",
                self.label
            ),
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
        .ok()
        .context("not UTF-8; save the file as UTF-8")?;
    serde_json::from_str(line).context("not a JSON object")
}

/// The text of an object.
pub(super) fn text<'a>(object: &'a Map<String, Value>, name: &str) -> Result<&'a str> {
    let Value::String(text) = field(object, name)? else {
        bail!("the field `{name}` is not a text");
    };
    ensure!(!text.trim().is_empty(), "the text in `{name}` is empty");
    Ok(text)
}

fn field<'a>(object: &'a Map<String, Value>, name: &str) -> Result<&'a Value> {
    object.get(name).with_context(|| {
        let names: Vec<_> = object.keys().collect();
        format!("there is no field `{name}`{}", known(name, &names))
    })
}
