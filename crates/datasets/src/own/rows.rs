//! A file of rows, whatever its format.

use super::{csv_file, json_rows, parquet_file};
use crate::formats::compressed;
use crate::preparation::Value;
use crate::schema::TextEncoding;
use anyhow::Result;
use encoding_rs_io::DecodeReaderBytesBuilder;
use std::io::Read;
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
#[derive(Debug, Clone, Copy, Default)]
pub struct Written {
    /// What separates fields of CSV.
    pub delimiter: Option<char>,
    /// How its characters are written.
    pub encoding: Option<TextEncoding>,
}

/// What a file says of a column before any value is looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Hint {
    /// Nothing but its name.
    Nothing,
    /// Numbers.
    Numbers,
    /// Yes or no.
    Booleans,
    /// Dates or times.
    Dates,
    /// Texts.
    Texts,
}

/// Takes a line number and the values of a row, or what is wrong with it; an error of its own ends the reading.
pub(super) type Sink<'s> = dyn FnMut(u64, Result<&[Value<'_>]>) -> Result<()> + 's;

/// The rows below a header.
pub(super) trait Rows {
    /// Hands every row to the sink. Values of columns that are not needed may be left out.
    fn each(self: Box<Self>, needed: &[bool], sink: &mut Sink<'_>) -> Result<()>;
}

/// A header and the rows below it.
pub(super) struct RawTable {
    pub header: Vec<String>,
    /// What the file says of each column.
    pub hints: Vec<Hint>,
    pub rows: Box<dyn Rows>,
}

impl RawTable {
    /// All columns are needed.
    pub(super) fn each(self, sink: &mut Sink<'_>) -> Result<()> {
        let needed = vec![true; self.header.len()];
        self.rows.each(&needed, sink)
    }
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
                let file = characters(bytes(path)?, written.encoding);
                Ok(json_rows::parse(file, fields))
            }
        }
    }
}

/// The content of a file, or of standard input if it is called `-`.
pub(super) fn bytes(path: &Path) -> Result<Box<dyn Read>> {
    match path.as_os_str() == "-" {
        true => Ok(Box::new(std::io::stdin())),
        false => compressed::open(path),
    }
}

/// The characters of a file in UTF-8. A byte order mark counts more than what is declared, and is taken off.
pub(super) fn characters(
    file: impl Read + 'static,
    encoding: Option<TextEncoding>,
) -> Box<dyn Read> {
    let declared = match encoding {
        None | Some(TextEncoding::Utf8) => None,
        Some(TextEncoding::Latin1) => Some(encoding_rs::WINDOWS_1252),
        Some(TextEncoding::Utf16Le) => Some(encoding_rs::UTF_16LE),
        Some(TextEncoding::Utf16Be) => Some(encoding_rs::UTF_16BE),
    };
    let reader = DecodeReaderBytesBuilder::new()
        .encoding(declared)
        .bom_override(true)
        .strip_bom(true)
        // Bytes that are not UTF-8 are found where they are, unless another encoding was declared.
        .utf8_passthru(declared.is_none())
        .build(file);
    Box::new(reader)
}
