//! New input for a trained model, from a file: no classes, the preparation of the run.

use super::{csv_file, images, jsonl, parquet_file};
use crate::formats::compressed;
use crate::preparation::{Input, InputPreparation, Preparation, Values};
use crate::records::RecordSet;
use crate::word_vectors::WordVectors;
use anyhow::{Context, Result, ensure};
use std::path::Path;
use std::sync::Arc;

/// New input, with a name for each record.
#[derive(Debug)]
pub struct Inputs {
    /// The line of a record, or the file of an image.
    pub names: Vec<String>,
    /// The records, all of class 0.
    pub records: RecordSet,
}

/// Reads new input of the kind a model takes: a table (CSV or Parquet) with the columns it learned
/// from, texts (`text` names the field of a JSON file; without it, each line is a text), or an image
/// or a folder of images.
pub fn read(
    path: &Path,
    preparation: &Preparation,
    text: Option<&str>,
    delimiter: Option<char>,
    vectors: Option<Arc<WordVectors>>,
) -> Result<Inputs> {
    let mut sink = Sink {
        preparation,
        vectors: vectors.as_deref(),
        names: Vec::new(),
        values: Values::default(),
    };
    match &preparation.input {
        InputPreparation::Table(_) => table(path, delimiter, &mut sink),
        InputPreparation::Picture(_) | InputPreparation::Scattering(_) => pictures(path, &mut sink),
        _ => texts(path, text, &mut sink),
    }
    .with_context(|| format!("{}", path.display()))?;
    let Sink { names, values, .. } = sink;
    ensure!(!names.is_empty(), "{}: there is no input", path.display());
    let labels = vec![0; names.len()];
    Ok(Inputs {
        names,
        records: preparation.records(values, labels, vectors)?,
    })
}

struct Sink<'a> {
    preparation: &'a Preparation,
    vectors: Option<&'a WordVectors>,
    names: Vec<String>,
    values: Values,
}

impl Sink<'_> {
    fn push(&mut self, name: String, input: Input<'_>) -> Result<()> {
        self.preparation
            .push(input, self.vectors, &mut self.values)
            .with_context(|| name.clone())?;
        self.names.push(name);
        Ok(())
    }
}

fn table(path: &Path, delimiter: Option<char>, sink: &mut Sink) -> Result<()> {
    let table = match path.extension().is_some_and(|end| end == "parquet") {
        true => parquet_file::open(path)?,
        false => csv_file::open(path, delimiter)?,
    };
    for row in table.rows {
        let row = row?;
        let name = format!("line {}", row.line);
        let fields = row.fields.with_context(|| name.clone())?;
        let pairs: Vec<(&str, &str)> = table
            .header
            .iter()
            .map(String::as_str)
            .zip(fields.iter().map(String::as_str))
            .collect();
        sink.push(name, Input::Row(&pairs))?;
    }
    Ok(())
}

fn texts(path: &Path, field: Option<&str>, sink: &mut Sink) -> Result<()> {
    let file = compressed::read_text(path)?;
    for (at, line) in file.lines().enumerate() {
        if line.trim().is_empty() {
            continue;
        }
        let name = format!("line {}", at + 1);
        match field {
            None => sink.push(name, Input::Text(line))?,
            Some(field) => {
                let object = jsonl::object(line.as_bytes()).with_context(|| name.clone())?;
                let text = jsonl::text(&object, field).with_context(|| name.clone())?;
                sink.push(name, Input::Text(text))?;
            }
        }
    }
    Ok(())
}

fn pictures(path: &Path, sink: &mut Sink) -> Result<()> {
    let files = match path.is_dir() {
        true => images::files(path)?,
        false => vec![path.to_path_buf()],
    };
    for file in files {
        let bytes = compressed::read(&file)?;
        let name = file.file_name().unwrap_or(file.as_os_str());
        sink.push(name.to_string_lossy().into_owned(), Input::Image(&bytes))?;
    }
    Ok(())
}
