//! Predictions as CSV with a header, or as JSON lines.

use anyhow::{Context, Result, ensure};
use serde_json::{Map, Value, json};
use std::fs::{self, File};
use std::io::{self, BufWriter, ErrorKind, Write};
use std::path::{Path, PathBuf};
use tacita_datasets::Target;

/// How predictions are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Format {
    /// A header and a line for each record.
    Csv,
    /// An object a line.
    Json,
}

/// What is written of each record.
pub(super) struct Columns {
    /// Columns that are handed on.
    pub(super) ids: Vec<String>,
    /// What is predicted.
    pub(super) target: Target,
    /// Whether the probability of each class or label is wanted.
    pub(super) all: bool,
}

/// What the model says of a record.
pub(super) struct Prediction {
    /// The line of a record, or the file of an image.
    pub(super) name: String,
    /// The values of the columns that are handed on.
    pub(super) ids: Vec<String>,
    /// The probability of each class or label, or the number; none of a record that cannot be used.
    pub(super) answer: Option<Vec<f64>>,
    /// Why it cannot be used.
    pub(super) problem: Option<String>,
}

/// Where predictions go.
pub(super) struct Output {
    out: BufWriter<Box<dyn Write>>,
    format: Format,
    columns: Columns,
    /// The file, and what it is called until it is whole.
    file: Option<(PathBuf, PathBuf)>,
    /// Whether the first line was written.
    has_begun: bool,
    /// The reader has had enough (a closed pipe).
    is_closed: bool,
}

impl Output {
    /// Standard output, or a file that appears when it is whole.
    pub(super) fn open(
        path: Option<&Path>,
        overwrite: bool,
        format: Format,
        columns: Columns,
    ) -> Result<Self> {
        let (out, file): (Box<dyn Write>, _) = match path {
            None => (Box::new(io::stdout()), None),
            Some(path) => {
                ensure!(
                    overwrite || !path.exists(),
                    "{} exists already; give --output another name, or say --overwrite",
                    path.display()
                );
                let mut name = path.file_name().unwrap_or_default().to_os_string();
                name.push(".new");
                let beside = path.with_file_name(name);
                let file = File::create(&beside)
                    .with_context(|| format!("cannot write {}", path.display()))?;
                (Box::new(file), Some((path.to_path_buf(), beside)))
            }
        };
        Ok(Self {
            out: BufWriter::new(out),
            format,
            columns,
            file,
            has_begun: false,
            is_closed: false,
        })
    }

    /// Writes a record.
    pub(super) fn write(&mut self, prediction: &Prediction) -> Result<()> {
        // Not before: input that cannot be read at all has no output.
        if !self.has_begun && self.format == Format::Csv {
            let header = self.columns.header();
            self.line(&csv(header.iter().map(String::as_str)))?;
        }
        self.has_begun = true;
        let line = match self.format {
            Format::Csv => csv(self.columns.fields(prediction).iter().map(String::as_str)),
            Format::Json => self.columns.object(prediction).to_string(),
        };
        self.line(&line)
    }

    fn line(&mut self, line: &str) -> Result<()> {
        let written = match self.is_closed {
            true => Ok(()),
            false => writeln!(self.out, "{line}"),
        };
        self.checked(written)
    }

    /// A closed pipe is no error; a full disk is.
    fn checked(&mut self, written: io::Result<()>) -> Result<()> {
        match written {
            Err(error) if error.kind() == ErrorKind::BrokenPipe => {
                self.is_closed = true;
                Ok(())
            }
            written => written.context("cannot write the predictions"),
        }
    }

    /// Writes what is left, and gives the file its name.
    pub(super) fn finish(mut self) -> Result<()> {
        let written = match self.is_closed {
            true => Ok(()),
            false => self.out.flush(),
        };
        self.checked(written)?;
        if let Some((path, beside)) = self.file.take() {
            fs::rename(&beside, &path)
                .with_context(|| format!("cannot write {}", path.display()))?;
        }
        Ok(())
    }
}

impl Drop for Output {
    /// A file that was not finished goes.
    fn drop(&mut self) {
        if let Some((_, beside)) = self.file.take() {
            let _ = fs::remove_file(beside);
        }
    }
}

impl Columns {
    fn header(&self) -> Vec<String> {
        let mut header = vec!["input".to_string()];
        header.extend(self.ids.iter().cloned());
        header.push("prediction".into());
        if let Target::Classes(_) = self.target {
            header.push("probability".into());
        }
        let name = |name: &String| format!("probability of {name}");
        header.extend(self.wanted().iter().map(name));
        header.push("problem".into());
        header
    }

    fn fields(&self, prediction: &Prediction) -> Vec<String> {
        let mut fields = vec![prediction.name.clone()];
        let ids = prediction
            .ids
            .iter()
            .cloned()
            .chain(std::iter::repeat(String::new()));
        fields.extend(ids.take(self.ids.len()));
        let answer = prediction.answer.as_deref();
        let share = |value: f64| format!("{value:.4}");
        let said = |say: &dyn Fn(&[f64]) -> String| answer.map_or_else(String::new, say);
        match &self.target {
            Target::Classes(classes) => {
                fields.push(said(&|row| classes[best(row)].clone()));
                fields.push(said(&|row| share(row[best(row)])));
            }
            Target::Number(_) => fields.push(said(&|row| row[0].to_string())),
            Target::Labels { names, .. } => fields.push(said(&|row| likely(names, row).join("|"))),
        }
        fields.extend((0..self.wanted().len()).map(|at| said(&|row| share(row[at]))));
        fields.push(prediction.problem.clone().unwrap_or_default());
        fields
    }

    fn object(&self, prediction: &Prediction) -> Value {
        let mut object = Map::new();
        object.insert("input".into(), json!(prediction.name));
        if !self.ids.is_empty() && !prediction.ids.is_empty() {
            let ids: Map<_, _> = (self.ids.iter().cloned())
                .zip(prediction.ids.iter().map(|id| json!(id)))
                .collect();
            object.insert("id".into(), ids.into());
        }
        let answer = prediction.answer.as_deref();
        let all = |names: &[String]| {
            answer.map(|row| -> Map<String, Value> {
                // As they were computed, in single precision.
                let values = row.iter().map(|value| json!(*value as f32));
                names.iter().cloned().zip(values).collect()
            })
        };
        match &self.target {
            Target::Classes(classes) => {
                let class = answer.map(|row| &classes[best(row)]);
                object.insert("class".into(), json!(class));
                object.insert("probability".into(), json!(all(classes)));
            }
            Target::Number(number) => {
                object.insert(number.name.clone(), json!(answer.map(|row| row[0])));
            }
            Target::Labels { names, .. } => {
                let labels = answer.map(|row| likely(names, row));
                object.insert("labels".into(), json!(labels));
                object.insert("probability".into(), json!(all(names)));
            }
        }
        if let Some(problem) = &prediction.problem {
            object.insert("problem".into(), json!(problem));
        }
        object.into()
    }

    /// The classes or labels whose probabilities are wanted.
    fn wanted(&self) -> &[String] {
        match &self.target {
            Target::Classes(names) | Target::Labels { names, .. } if self.all => names,
            _ => &[],
        }
    }
}

/// The likeliest class.
fn best(row: &[f64]) -> usize {
    (0..row.len())
        .max_by(|a, b| row[*a].total_cmp(&row[*b]))
        .unwrap_or(0)
}

/// Labels that are more likely than not.
fn likely<'a>(names: &'a [String], row: &[f64]) -> Vec<&'a str> {
    let pairs = names.iter().zip(row).filter(|(_, value)| **value > 0.5);
    pairs.map(|(name, _)| name.as_str()).collect()
}

/// Fields as a line of CSV (RFC 4180).
fn csv<'a>(fields: impl Iterator<Item = &'a str>) -> String {
    let quoted = fields.map(|field| match field.contains([',', '"', '\n', '\r']) {
        true => format!("\"{}\"", field.replace('"', "\"\"")),
        false => field.to_string(),
    });
    quoted.collect::<Vec<_>>().join(",")
}
