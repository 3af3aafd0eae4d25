//! Formats of files of rows.

use super::characters::{bytes, characters, characters_of_records};
use super::rows::RawTable;
use super::{csv_file, json_rows, parquet_file};
use crate::formats::compressed;
use crate::schema::TextEncoding;
use anyhow::Result;
use std::path::Path;

/// A file of rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Format {
    /// Fields between commas or other marks, with a header.
    Csv,
    /// A JSON object a line.
    Jsonl,
    /// Parquet.
    Parquet,
}

/// How a text file of rows is written.
#[derive(Debug, Clone, Default)]
pub(super) struct Written {
    /// What separates fields of CSV.
    pub delimiter: Option<char>,
    /// How its characters are written.
    pub encoding: Option<TextEncoding>,
    /// The field of JSON lines that may hold a list of texts, and what separates them where the field holds one text.
    pub list: Option<(String, char)>,
}

impl Format {
    /// The format that the name of a file tells.
    pub fn of(path: &Path) -> Self {
        let plain = compressed::plain_name(path);
        let end = plain
            .extension()
            .map(|end| end.to_string_lossy().to_lowercase());
        match end.as_deref() {
            Some("parquet" | "pq") => Self::Parquet,
            Some("jsonl" | "ndjson" | "json") => Self::Jsonl,
            _ => Self::Csv,
        }
    }

    /// Opens a file. The fields of JSON lines are in the lines, so the ones wanted must be known.
    pub(super) fn open(self, path: &Path, written: Written, fields: &[String]) -> Result<RawTable> {
        match self {
            Self::Parquet => parquet_file::open(path),
            Self::Csv => {
                let tabs = compressed::plain_name(path)
                    .extension()
                    .is_some_and(|end| end == "tsv");
                let delimiter = written.delimiter.unwrap_or(if tabs { '\t' } else { ',' });
                csv_file::parse(characters(bytes(path)?, written.encoding), delimiter)
            }
            Self::Jsonl => {
                let file = characters_of_records(bytes(path)?, written.encoding);
                Ok(json_rows::parse(file, fields, written.list))
            }
        }
    }
}
