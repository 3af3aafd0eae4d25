//! `tacita predict`: what a trained model says of new input.

mod output;

use crate::device::host;
use crate::exit_codes::SOME_UNUSABLE;
use crate::run::{RunFolder, Workbench, fine_tuned, workbench};
use anyhow::{Result, bail};
use output::{Columns, Format, Output, Prediction};
use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;
use tacita_datasets::{self as datasets, InputOptions, Inputs, NewInput, Take, Target, TargetKind};

/// Arguments of `tacita predict`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Input is prepared as the training records were. A table needs the columns the model learned from, in any order, \
and may have others; texts are lines of a file, or a field of JSON lines or a column (--text); images are a file or \
a folder. Files may be compressed (.gz, .zst, .bz2, .xz).

A record that cannot be used has a line without a prediction, is reported on standard error, and stops nothing; \
the exit code is then 3.

Examples:
  tacita predict runs/patients-1 --input new.csv --id patient --output scores.csv
  tacita predict runs/patients-1 --input new.parquet --proba
  zcat reviews.jsonl.gz | tacita predict runs/imdb-1 --input - --text body --json")]
pub struct Args {
    /// Folder of a finished run
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    /// File or folder with new input, or - for standard input
    #[arg(long, value_name = "FILE")]
    input: PathBuf,
    /// Format of the input, if its name does not tell
    #[arg(long, value_name = "FORMAT")]
    input_format: Option<datasets::Format>,
    /// Field or column of the text [default: that of the run, for JSON lines]
    #[arg(long, value_name = "FIELD")]
    text: Option<String>,
    /// Field or column of the second text of a pair [default: that of the run]
    #[arg(long, value_name = "FIELD")]
    text_pair: Option<String>,
    /// Folder of the pre-trained model, if it has moved
    #[arg(long, value_name = "DIR")]
    pretrained: Option<PathBuf>,
    /// Column to hand on to the output; may be repeated
    #[arg(long, value_name = "COLUMN")]
    id: Vec<String>,
    /// Hand on all columns that the schema of the run ignores
    #[arg(long)]
    keep_ignored: bool,
    /// The probability of every class, not only of the likeliest
    #[arg(long)]
    proba: bool,
    /// JSON lines with the probability of every class, instead of CSV
    #[arg(long)]
    json: bool,
    /// File to write instead of standard output; it must not exist
    #[arg(long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Replace the file of --output
    #[arg(long, requires = "output")]
    overwrite: bool,
    /// Also print what records that cannot be used hold, where they are wrong
    #[arg(long)]
    show_values: bool,
}

/// Runs `tacita predict`.
pub fn run(args: &Args) -> Result<ExitCode> {
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
    let base = record.pretrained(args.pretrained.as_deref(), &args.folder)?;
    let preparation = &match &base {
        Some(base) => base.attached(record.preparation.clone())?,
        None => record.preparation.clone(),
    };
    let vectors = datasets::word_vectors(preparation, &options)?;
    let classes = &preparation.classes;
    let schema = &options.schema;
    let mut ids = args.id.clone();
    if args.keep_ignored {
        let others = schema
            .ignored()
            .filter(|name| !args.id.iter().any(|id| id == name));
        ids.extend(others.map(str::to_string));
    }
    let is_json_lines = (args.input_format).unwrap_or_else(|| datasets::Format::of(&args.input))
        == datasets::Format::Jsonl;
    let of_run = record.settings.text.clone().filter(|_| is_json_lines);
    let unused = schema.ignored().map(str::to_string);
    let input = InputOptions {
        format: args.input_format,
        text: args.text.clone().or(of_run),
        second_text: (args.text_pair.clone()).or(record.settings.text_pair.clone()),
        delimiter: schema.delimiter,
        encoding: schema.encoding,
        unused: unused.chain(schema.label.column.clone()).collect(),
        ids: ids.clone(),
    };
    let mut bench = match &base {
        Some(base) => {
            let pinned = record.settings.pretrained_sha256.as_deref();
            fine_tuned(base, classes.len(), None, pinned, &host())?.0
        }
        None => workbench(record.model_spec(), &host())?,
    };
    bench.load(&folder.model())?;
    let format = if args.json { Format::Json } else { Format::Csv };
    let target = match schema.label.kind() {
        TargetKind::Class => Target::Classes(classes.clone()),
        _ => schema.label.target()?,
    };
    let columns = Columns {
        ids,
        target: target.clone(),
        all: args.proba || args.json,
    };
    let mut answers = Answers {
        bench,
        target,
        output: Output::open(args.output.as_deref(), args.overwrite, format, columns)?,
        show_values: args.show_values,
        unusable: 0,
    };
    datasets::read_inputs(&args.input, preparation, &input, vectors, &mut answers)?;
    answers.output.finish()?;
    Ok(match answers.unusable {
        0 => ExitCode::SUCCESS,
        _ => ExitCode::from(SOME_UNUSABLE),
    })
}

/// Answers records as they come.
struct Answers {
    bench: Box<dyn Workbench>,
    target: Target,
    output: Output,
    show_values: bool,
    unusable: u64,
}

impl Take for Answers {
    fn note(&mut self, note: String) {
        eprintln!("note: {note}");
    }

    fn take(&mut self, Inputs { inputs, records }: Inputs) -> Result<()> {
        let rows = match records.count() {
            0 => Vec::new(),
            _ => self.bench.answers(&records, &self.target)?,
        };
        let mut rows = rows.into_iter();
        for input in inputs {
            let answer = match &input.problem {
                None => rows.next(),
                Some(problem) => {
                    self.unusable += 1;
                    let words = match self.show_values {
                        true => &problem.with_value,
                        false => &problem.plain,
                    };
                    // Standard error may be closed as well.
                    let _ = writeln!(std::io::stderr(), "{}: {words}", input.name);
                    None
                }
            };
            self.write(input, answer)?;
        }
        Ok(())
    }
}

impl Answers {
    fn write(&mut self, input: NewInput, answer: Option<Vec<f64>>) -> Result<()> {
        self.output.write(&Prediction {
            name: input.name,
            ids: input.ids,
            answer,
            problem: input.problem.map(|problem| match self.show_values {
                true => problem.with_value,
                false => problem.plain,
            }),
        })
    }
}
