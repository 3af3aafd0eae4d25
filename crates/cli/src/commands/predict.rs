//! `tacita predict`: what a trained model says of new input.

use crate::device::host;
use crate::models::ModelSpec;
use crate::run::{RunFolder, workbench};
use anyhow::{Result, bail};
use serde_json::json;
use std::io::Write;
use std::path::PathBuf;
use tacita_datasets as datasets;

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
    let rows = bench.probabilities(&inputs.records)?;
    let mut out = std::io::stdout().lock();
    for (name, row) in inputs.names.iter().zip(rows) {
        let best = (0..row.len())
            .max_by(|a, b| row[*a].total_cmp(&row[*b]))
            .unwrap_or(0);
        let written = if args.json {
            let all: serde_json::Map<_, _> = (classes.iter().zip(&row))
                .map(|(class, value)| (class.clone(), json!(value)))
                .collect();
            writeln!(
                out,
                "{}",
                json!({ "input": name, "class": classes[best], "probability": all })
            )
        } else {
            writeln!(out, "{name}\t{}\t{:.3}", classes[best], row[best])
        };
        // The reader has had enough (a closed pipe).
        if written.is_err() {
            break;
        }
    }
    Ok(())
}
