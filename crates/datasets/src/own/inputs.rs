//! New input for a trained model: no classes, the preparation of the run, some hundred records at a time.

use super::characters::{bytes, characters};
use super::format::{Format, Written};
use super::images;
use super::json_lines::{Line, Lines};
use crate::bad_record::BadRecord;
use crate::formats::compressed;
use crate::nearest::known;
use crate::preparation::{Input as Raw, InputPreparation, Preparation, Value, Values, names};
use crate::records::RecordSet;
use crate::schema::TextEncoding;
use crate::word_vectors::WordVectors;
use anyhow::{Context, Result, bail, ensure};
use std::path::Path;
use std::sync::Arc;

/// Records that are handed over at a time.
const CHUNK: usize = 512;
/// Images that are.
const CHUNK_OF_IMAGES: usize = 64;

/// How new input is read.
#[derive(Debug, Clone, Default)]
pub struct InputOptions {
    /// The format of the file, if its name does not tell.
    pub format: Option<Format>,
    /// The field or column of the text. Without it each line is a text.
    pub text: Option<String>,
    /// The field or column of the second text of a pair.
    pub second_text: Option<String>,
    /// What separates fields of CSV.
    pub delimiter: Option<char>,
    /// How the characters of a text file are written.
    pub encoding: Option<TextEncoding>,
    /// Columns to hand on as they are.
    pub ids: Vec<String>,
    /// Columns that are known not to be used.
    pub unused: Vec<String>,
}

/// Some records of the input, one after the other.
#[derive(Debug)]
pub struct Inputs {
    /// What is known of each record.
    pub inputs: Vec<Input>,
    /// Those that can be used, all of class 0.
    pub records: RecordSet,
}

/// A record of the input.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Input {
    /// The line of a record, or the file of an image.
    pub name: String,
    /// The values of the columns to hand on.
    pub ids: Vec<String>,
    /// Why it cannot be used.
    pub problem: Option<Problem>,
}

/// Why a record cannot be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// In words that quote nothing of the record.
    pub plain: String,
    /// The same with what the record holds.
    pub with_value: String,
}

/// What becomes of the records that were read.
pub trait Take {
    /// Something about the file that is good to know.
    fn note(&mut self, note: String);

    /// The next records.
    fn take(&mut self, inputs: Inputs) -> Result<()>;
}

/// Reads new input of the kind a model takes: a table with the columns it learned from, texts, or an image or a
/// folder of images. `-` is standard input.
pub fn read(
    path: &Path,
    preparation: &Preparation,
    options: &InputOptions,
    vectors: Option<Arc<WordVectors>>,
    take: &mut dyn Take,
) -> Result<()> {
    let mut chunks = Chunks {
        preparation,
        vectors,
        take,
        inputs: Vec::new(),
        values: Values::default(),
        good: 0,
        all: 0,
    };
    match &preparation.input {
        InputPreparation::Table(_) => table(path, options, &mut chunks),
        InputPreparation::Picture(_) | InputPreparation::Scattering(_) => {
            ensure!(
                options.ids.is_empty(),
                "images have no columns to hand on; leave --id out"
            );
            pictures(path, &mut chunks)
        }
        _ => texts(path, options, &mut chunks),
    }
    .and_then(|()| chunks.flush())
    .with_context(|| path.display().to_string())?;
    ensure!(chunks.all > 0, "{}: there is no input", path.display());
    Ok(())
}

/// Records on their way.
struct Chunks<'a> {
    preparation: &'a Preparation,
    vectors: Option<Arc<WordVectors>>,
    take: &'a mut dyn Take,
    inputs: Vec<Input>,
    values: Values,
    /// Of those, how many can be used.
    good: usize,
    /// How many there were.
    all: usize,
}

impl Chunks<'_> {
    fn push(&mut self, name: String, ids: Vec<String>, input: Result<Raw<'_>>) -> Result<()> {
        let pushed = input.and_then(|input| {
            let vectors = self.vectors.as_deref();
            self.preparation.push(input, vectors, &mut self.values)
        });
        let problem = pushed.err().map(|error| {
            let bad = error.downcast_ref::<BadRecord>();
            let plain = bad.map_or_else(|| format!("{error:#}"), ToString::to_string);
            // What a decoder says may end with a line of its own.
            let plain = plain.split_whitespace().collect::<Vec<_>>().join(" ");
            let with_value = bad.map_or_else(|| plain.clone(), BadRecord::with_value);
            Problem { plain, with_value }
        });
        self.good += usize::from(problem.is_none());
        self.all += 1;
        self.inputs.push(Input { name, ids, problem });
        let pictures = matches!(
            self.preparation.input,
            InputPreparation::Picture(_) | InputPreparation::Scattering(_)
        );
        let most = if pictures { CHUNK_OF_IMAGES } else { CHUNK };
        match self.inputs.len() < most {
            true => Ok(()),
            false => self.flush(),
        }
    }

    fn flush(&mut self) -> Result<()> {
        if self.inputs.is_empty() {
            return Ok(());
        }
        let values = std::mem::take(&mut self.values);
        let labels = vec![0; std::mem::take(&mut self.good)];
        let records = self
            .preparation
            .records(values, labels, self.vectors.clone())?;
        let inputs = std::mem::take(&mut self.inputs);
        self.take.take(Inputs { inputs, records })
    }
}

fn written(options: &InputOptions) -> Written {
    Written {
        delimiter: options.delimiter,
        encoding: options.encoding,
        list: None,
    }
}

fn table(path: &Path, options: &InputOptions, chunks: &mut Chunks<'_>) -> Result<()> {
    let InputPreparation::Table(table) = &chunks.preparation.input else {
        bail!("the model takes no table");
    };
    let mut fields: Vec<String> = table
        .columns
        .iter()
        .map(|column| column.name.clone())
        .collect();
    fields.extend(options.ids.iter().cloned());
    let format = options.format.unwrap_or_else(|| Format::of(path));
    let raw = format.open(path, written(options), &fields)?;
    raw.check_names()?;
    let places = table.places(&raw.header)?;
    let ids = places_of(&options.ids, &raw.header)?;
    note_unused(&raw.header, &fields, options, chunks);
    raw.each(&mut |line, row| {
        let passed = row
            .as_ref()
            .map_or_else(|_| Vec::new(), |row| shown(row, &ids));
        let input = row.map(|row| Raw::Row(row, &places));
        chunks.push(format!("line {line}"), passed, input)
    })
}

/// Where columns to hand on are.
fn places_of(ids: &[String], header: &[String]) -> Result<Vec<usize>> {
    let place = |id: &String| {
        let place = header.iter().position(|name| name == id);
        place.with_context(|| {
            let near = known(id, &names(header));
            format!("there is no column `{id}` to hand on{near}")
        })
    };
    ids.iter().map(place).collect()
}

fn shown(row: &[Value<'_>], places: &[usize]) -> Vec<String> {
    (places.iter())
        .map(|&place| {
            row.get(place)
                .map_or_else(String::new, |value| value.shown().into_owned())
        })
        .collect()
}

/// Says which columns of the file the model does not know.
fn note_unused(
    header: &[String],
    fields: &[String],
    options: &InputOptions,
    chunks: &mut Chunks<'_>,
) {
    let used: std::collections::HashSet<&String> = fields.iter().chain(&options.unused).collect();
    let unknown: Vec<&String> = names(header)
        .into_iter()
        .filter(|name| !name.is_empty() && !used.contains(name))
        .collect();
    if unknown.is_empty() {
        return;
    }
    const MOST: usize = 8;
    let shown: Vec<String> = (unknown.iter().take(MOST))
        .map(|name| format!("`{name}`"))
        .collect();
    let more = if unknown.len() > MOST { ", …" } else { "" };
    let note = format!(
        "columns that the model did not learn from are not used: {}{more}",
        shown.join(", ")
    );
    chunks.take.note(note);
}

fn texts(path: &Path, options: &InputOptions, chunks: &mut Chunks<'_>) -> Result<()> {
    let by_name = || {
        let plain = compressed::plain_name(path);
        let end = plain.extension()?.to_string_lossy().to_lowercase();
        let rows = ["jsonl", "ndjson", "json", "csv", "tsv", "parquet", "pq"];
        rows.contains(&end.as_str()).then(|| Format::of(path))
    };
    // A field can only be that of an object.
    let format = options
        .format
        .or_else(by_name)
        .or(options.text.as_ref().map(|_| Format::Jsonl));
    let (format, field) = match (format, &options.text) {
        (Some(format), Some(field)) => (format, field),
        (Some(Format::Csv | Format::Parquet), None) => {
            bail!("say which column holds the text with --text COLUMN")
        }
        (Some(Format::Jsonl), None) => bail!("say which field holds the text with --text FIELD"),
        (None, _) => return lines(path, options, chunks),
    };
    let second = options.second_text.as_ref();
    let texts = [field].into_iter().chain(second);
    let fields: Vec<String> = texts.chain(&options.ids).cloned().collect();
    let raw = format.open(path, written(options), &fields)?;
    let text = places_of(std::slice::from_ref(field), &raw.header)?[0];
    let second = match second {
        Some(second) => Some((
            second,
            places_of(std::slice::from_ref(second), &raw.header)?[0],
        )),
        None => None,
    };
    let ids = places_of(&options.ids, &raw.header)?;
    raw.each(&mut |line, row| {
        let passed = row
            .as_ref()
            .map_or_else(|_| Vec::new(), |row| shown(row, &ids));
        let input = row.and_then(|row| {
            let text = plain_text(row[text], field)?;
            match second {
                Some((second, place)) => Ok(Raw::Pair(text, plain_text(row[place], second)?)),
                None => Ok(Raw::Text(text)),
            }
        });
        chunks.push(format!("line {line}"), passed, input)
    })
}

/// A text that is not empty.
fn plain_text<'a>(value: Value<'a>, field: &str) -> Result<&'a str> {
    match value {
        Value::Text(text) if !text.trim().is_empty() => Ok(text),
        Value::Text(_) | Value::None => {
            Err(BadRecord::new(format!("the text in `{field}` is empty")).into())
        }
        _ => Err(BadRecord::new(format!("the field `{field}` is not a text")).into()),
    }
}

/// Each line that is not blank is a text.
fn lines(path: &Path, options: &InputOptions, chunks: &mut Chunks<'_>) -> Result<()> {
    ensure!(
        options.ids.is_empty(),
        "lines of text have no columns to hand on; leave --id out, or give JSON lines with --text FIELD"
    );
    let mut lines = Lines::new(characters(bytes(path)?, options.encoding));
    while let Some(Line { number, bytes }) = lines.next()? {
        let text = bytes.and_then(|bytes| {
            std::str::from_utf8(bytes)
                .map(|text| Raw::Text(text.trim_end_matches(['\r', '\n'])))
                .map_err(|_| BadRecord::new("not UTF-8; save the file as UTF-8").into())
        });
        chunks.push(format!("line {number}"), Vec::new(), text)?;
    }
    Ok(())
}

fn pictures(path: &Path, chunks: &mut Chunks<'_>) -> Result<()> {
    ensure!(
        path.as_os_str() != "-",
        "images are not read from standard input; give a file or a folder"
    );
    ensure!(path.exists(), "there is no such file or folder");
    let files = match path.is_dir() {
        true => images::files(path)?,
        false => vec![path.to_path_buf()],
    };
    for file in files {
        let name = match path.is_dir() {
            true => file.strip_prefix(path).unwrap_or(&file),
            false => Path::new(file.file_name().unwrap_or(file.as_os_str())),
        };
        let bytes = compressed::read(&file);
        let input = match &bytes {
            Ok(bytes) => Ok(Raw::Image(bytes)),
            Err(_) => Err(BadRecord::new("cannot be read").into()),
        };
        chunks.push(name.to_string_lossy().into_owned(), Vec::new(), input)?;
    }
    Ok(())
}
