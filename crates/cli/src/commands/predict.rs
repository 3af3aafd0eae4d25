//! `tacita predict`: what a trained model says of new input.

use crate::device::host;
use crate::models::ModelSpec;
use crate::run::{RunFolder, workbench};
use anyhow::{Result, bail};
use serde_json::{Map, Value, json};
use std::io::Write;
use std::path::PathBuf;
use tacita_datasets::{self as datasets, Target, TargetKind};

/// Arguments of `tacita predict`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Input is prepared as the training records were. A table needs the columns the model learned from; texts are \
lines of a file, or a field of JSON lines (--text); images are a file or a folder.

Examples:
  tacita predict runs/patients-1 --input new.csv
  tacita predict runs/imdb-1 --input reviews.txt --json")]
pub struct Args {
    /// Folder of a finished run
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    /// File or folder with new input
    #[arg(long, value_name = "FILE")]
    input: PathBuf,
    /// Field of the text, if the input is JSON lines
    #[arg(long, value_name = "FIELD")]
    text: Option<String>,
    /// Print JSON lines with the probability of every class
    #[arg(long)]
    json: bool,
}

/// Runs `tacita predict`.
pub fn run(args: &Args) -> Result<()> {
    crate::tune::refuse_secret(&args.folder)?;
    let (folder, record) = RunFolder::open(&args.folder)?;
    if !folder.model().exists() {
        bail!(
            "{} does not exist: the run has not finished; resume it by: tacita resume {}",
            folder.model().display(),
            args.folder.display()
        );
    }
    let options = record.settings.options(true)?;
    let preparation = &record.preparation;
    let vectors = datasets::word_vectors(preparation, &options)?;
    let delimiter = options.schema.delimiter;
    let text = args.text.as_deref();
    let inputs = datasets::read_inputs(&args.input, preparation, text, delimiter, vectors)?;
    let classes = &preparation.classes;
    let spec = ModelSpec {
        name: record.model,
        shape: record.shape,
        classes: classes.len(),
        hidden: record.settings.hidden,
        seed: None,
    };
    let mut bench = workbench(spec, &host())?;
    bench.load(&folder.model())?;
    let target = match options.schema.label.kind() {
        TargetKind::Class => Target::Classes(classes.clone()),
        _ => options.schema.label.target()?,
    };
    let rows = bench.answers(&inputs.records, &target)?;
    let mut out = std::io::stdout().lock();
    for (name, row) in inputs.names.iter().zip(rows) {
        let written = match args.json {
            true => writeln!(out, "{}", as_json(name, &row, &target)),
            false => writeln!(out, "{name}\t{}", in_words(&row, &target)),
        };
        // The reader has had enough (a closed pipe).
        if written.is_err() {
            break;
        }
    }
    Ok(())
}

/// The most likely class.
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

fn in_words(row: &[f64], target: &Target) -> String {
    match target {
        Target::Classes(classes) => {
            let best = best(row);
            format!("{}\t{:.3}", classes[best], row[best])
        }
        Target::Number(_) => format!("{}", row[0]),
        Target::Labels { names, .. } => likely(names, row).join("|"),
    }
}

fn as_json(input: &str, row: &[f64], target: &Target) -> Value {
    let all = |names: &[String]| -> Map<String, Value> {
        // As they were computed, in single precision.
        let pairs = names.iter().zip(row);
        pairs
            .map(|(name, value)| (name.clone(), json!(*value as f32)))
            .collect()
    };
    match target {
        Target::Classes(classes) => {
            json!({ "input": input, "class": classes[best(row)], "probability": all(classes) })
        }
        Target::Number(number) => json!({ "input": input, number.name.clone(): row[0] }),
        Target::Labels { names, .. } => {
            json!({ "input": input, "labels": likely(names, row), "probability": all(names) })
        }
    }
}
