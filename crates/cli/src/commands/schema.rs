//! `tacita schema`: the beginning of a schema for a table.

use anyhow::{Context, Result, bail, ensure};
use std::fs::OpenOptions;
use std::io::{ErrorKind, Write};
use std::path::PathBuf;
use tacita_datasets::{self as datasets, Schema, TextEncoding};

/// Arguments of `tacita schema`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Names and types come from the header of a CSV file, the schema of a Parquet file, or the first object of JSON lines; \
no value is looked at. With --look-at-values all are, and what is written is NOT PRIVATE.

Examples:
  tacita schema patients.csv --label outcome --out patients.toml
  tacita schema visits.parquet")]
pub struct Args {
    /// Table: CSV, Parquet or JSON lines, which may be compressed
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Column to predict
    #[arg(long, value_name = "COLUMN")]
    label: Option<String>,
    /// What separates the fields of a CSV file
    #[arg(long, value_name = "MARK")]
    delimiter: Option<char>,
    /// Encoding of a text file that is not UTF-8: latin-1
    #[arg(long, value_name = "NAME")]
    encoding: Option<String>,
    /// Also fill in bounds and categories from the values: NOT PRIVATE
    #[arg(long)]
    look_at_values: bool,
    /// File to write, which must not exist [default: standard output]
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

/// Runs `tacita schema`.
pub fn run(args: &Args) -> Result<()> {
    ensure!(
        !args.file.is_dir(),
        "{} is a folder; of images a schema says their size: image = {{ width = 64, height = 64, channels = 1 }}",
        args.file.display()
    );
    let schema = Schema {
        delimiter: args.delimiter,
        encoding: args
            .encoding
            .as_deref()
            .map(TextEncoding::named)
            .transpose()?,
        ..Schema::default()
    };
    let fields = datasets::fields(&args.file, &schema, args.look_at_values)?;
    if let Some(label) = &args.label {
        let names: Vec<&String> = fields.iter().map(|field| &field.name).collect();
        ensure!(
            names.contains(&label),
            "there is no column `{label}`{}",
            datasets::nearest::known(label, &names)
        );
    }
    if fields.iter().any(|field| field.name.parse::<f64>().is_ok()) {
        eprintln!(
            "warning: a column of {} is named like a number. If the file has no header, the names are its first record, \
             which is NOT PRIVATE: write a header first.",
            args.file.display()
        );
    }
    let mut text = String::new();
    if let Some(delimiter) = args.delimiter {
        text += &format!("delimiter = {:?}\n", delimiter.to_string());
    }
    if let Some(encoding) = &args.encoding {
        text += &format!("encoding = {encoding:?}\n");
    }
    // Keys of the whole file come before the first table.
    let skeleton = datasets::skeleton(&fields, args.label.as_deref());
    let (head, tables) = skeleton.split_once("\n[label]").unwrap_or((&skeleton, ""));
    let text = format!("{head}{text}\n[label]{tables}");
    if args.look_at_values {
        eprintln!(
            "NOT PRIVATE: looked at all values of {} columns of {}.",
            fields.len(),
            args.file.display()
        );
    }
    match &args.out {
        None => {
            // The reader may have had enough.
            let _ = std::io::stdout().write_all(text.as_bytes());
            Ok(())
        }
        Some(path) => {
            let file = OpenOptions::new().write(true).create_new(true).open(path);
            let mut file = match file {
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {
                    bail!("{} exists already; give --out another name", path.display())
                }
                file => file.with_context(|| format!("cannot write {}", path.display()))?,
            };
            file.write_all(text.as_bytes())
                .with_context(|| format!("cannot write {}", path.display()))
        }
    }
}
