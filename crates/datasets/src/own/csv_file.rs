//! CSV files with a header.

use super::table::{RawRow, RawTable};
use crate::bad_record::BadRecord;
use crate::formats::compressed;
use crate::nearest::shown;
use anyhow::{Context, Result, bail, ensure};
use std::io::Read;
use std::path::Path;

/// A record with a longer field is a bad one: most likely a quote was never closed.
pub(super) const LONGEST_FIELD: usize = 1 << 20;

/// Opens a file, which may be compressed.
pub(super) fn open(path: &Path, delimiter: Option<char>) -> Result<RawTable> {
    let tabs = path.to_string_lossy().contains(".tsv");
    let delimiter = delimiter.unwrap_or(if tabs { '\t' } else { ',' });
    parse(compressed::open(path)?, delimiter)
}

/// Reads the header; the rows follow.
pub(super) fn parse(file: impl Read + 'static, delimiter: char) -> Result<RawTable> {
    let delimiter = u8::try_from(delimiter)
        .ok()
        .filter(u8::is_ascii)
        .with_context(|| format!("the delimiter must be an ASCII character, got {delimiter:?}"))?;
    let mut reader = csv::ReaderBuilder::new()
        .delimiter(delimiter)
        .has_headers(true)
        .flexible(true)
        .from_reader(file);
    let first = reader
        .byte_headers()
        .context("line 1: cannot read the header")?
        .clone();
    let header = fields(&first).context("line 1")?;
    ensure!(
        header.iter().any(|name| !name.is_empty()),
        "the file is empty: a header with the names of the columns was expected"
    );
    if header.len() == 1 {
        let other = [';', '\t', '|', ',']
            .into_iter()
            .find(|mark| header[0].contains(*mark));
        if let Some(mark) = other {
            bail!(
                "line 1: the header {} is one column; if fields are separated by {mark:?}, declare delimiter = {mark:?} in the schema",
                shown(&header[0])
            );
        }
    }
    let width = header.len();
    let rows = reader.into_byte_records().map(move |record| {
        let record = record.context("cannot read on")?;
        let line = record.position().map_or(0, csv::Position::line);
        let fields = match record.len() == width {
            _ if record.iter().any(|field| field.len() > LONGEST_FIELD) => {
                let problem = "a field of more than a mebibyte; is a closing quote missing?";
                Err(BadRecord::new(problem).into())
            }
            true => fields(&record),
            false => {
                let fields = record.len();
                let problem = format!("{fields} fields, but the header has {width}");
                Err(BadRecord::new(problem).into())
            }
        };
        Ok(RawRow { line, fields })
    });
    Ok(RawTable {
        header,
        rows: Box::new(rows),
    })
}

fn fields(record: &csv::ByteRecord) -> Result<Vec<String>> {
    record
        .iter()
        .enumerate()
        .map(|(at, field)| {
            let text = std::str::from_utf8(field).map_err(|_| {
                let problem = format!("field {} is not UTF-8; save the file as UTF-8", at + 1);
                BadRecord::new(problem).value(&String::from_utf8_lossy(field))
            })?;
            Ok(text.trim_start_matches('\u{feff}').trim().to_string())
        })
        .collect()
}
