//! CSV files with a header.

use super::rows::{Hint, RawTable, Rows, Sink};
use crate::bad_record::BadRecord;
use crate::nearest::shown;
use crate::preparation::{Value, names};
use anyhow::{Context, Result, anyhow, bail, ensure};
use csv_core::ReadRecordResult;
use std::io::{BufRead, BufReader, Read};

/// A record with a longer field is a bad one: most likely a quote was never closed.
const LONGEST_FIELD: usize = 1 << 20;
/// What is kept of a record at most; the rest is read over.
const LONGEST_RECORD: usize = 1 << 24;
/// Fields of a record at most.
const MOST_FIELDS: usize = 1 << 17;

/// Reads the header; the rows follow.
pub(super) fn parse(file: impl Read + 'static, delimiter: char) -> Result<RawTable> {
    let delimiter = u8::try_from(delimiter)
        .ok()
        .filter(u8::is_ascii)
        .with_context(|| format!("the delimiter must be an ASCII character, got {delimiter:?}"))?;
    let mut records = Records::new(file, delimiter);
    let first = records.next().context("line 1: cannot read the header")?;
    ensure!(
        first.is_some(),
        "the file is empty: a header with the names of the columns was expected"
    );
    ensure!(
        !records.is_cut,
        "line 1: a header of more than {LONGEST_RECORD} bytes or {MOST_FIELDS} columns"
    );
    let header: Vec<String> = records
        .fields()
        .map(|field| field.map(str::to_string))
        .collect::<Result<_>>()
        .context("line 1")?;
    ensure!(
        header.iter().any(|name| !name.is_empty()),
        "the file is empty: a header with the names of the columns was expected"
    );
    if let [only] = header.as_slice() {
        let other = [';', '\t', '|', ',']
            .into_iter()
            .find(|mark| only.contains(*mark));
        if let Some(mark) = other {
            // It is the first record if there is no header.
            let fields: Vec<String> = only
                .split(mark)
                .map(|name| name.trim().to_string())
                .collect();
            let seen = if names(&fields).is_empty() {
                String::new()
            } else {
                format!(" {}", shown(only))
            };
            bail!(
                "line 1: the header{seen} is one column; if fields are separated by {mark:?}, declare delimiter = {:?} in the schema, \
                 or give `tacita schema` a --delimiter",
                mark.to_string()
            );
        }
    }
    Ok(RawTable {
        hints: vec![Hint::Nothing; header.len()],
        rows: Box::new(CsvRows {
            records,
            width: header.len(),
        }),
        header,
    })
}

struct CsvRows {
    records: Records,
    width: usize,
}

impl Rows for CsvRows {
    fn each(mut self: Box<Self>, needed: &[bool], sink: &mut Sink<'_>) -> Result<()> {
        while let Some(line) = self.records.next().context("cannot read on")? {
            let mut row = Vec::with_capacity(self.width);
            let read = self.row(needed, &mut row);
            sink(line, read.map(|()| row.as_slice()))?;
        }
        Ok(())
    }
}

impl CsvRows {
    fn row<'a>(&'a self, needed: &[bool], row: &mut Vec<Value<'a>>) -> Result<()> {
        let fields = self.records.count;
        if self.records.is_cut || self.records.longest() > LONGEST_FIELD {
            let problem = "a field of more than a mebibyte; is a closing quote missing?";
            return Err(BadRecord::new(problem).into());
        }
        if fields != self.width {
            let problem = format!("{fields} fields, but the header has {}", self.width);
            return Err(BadRecord::new(problem).into());
        }
        for (field, needed) in self.records.fields().zip(needed) {
            let text = field?;
            row.push(match needed {
                true => Value::Text(text),
                false => Value::None,
            });
        }
        Ok(())
    }
}

/// The records of a file one after the other, each in the same buffer, whose size is limited.
struct Records {
    file: BufReader<Box<dyn Read>>,
    core: csv_core::Reader,
    bytes: Vec<u8>,
    ends: Vec<usize>,
    /// Fields of the present record.
    count: usize,
    /// Whether the present record was too long to be kept.
    is_cut: bool,
}

impl Records {
    fn new(file: impl Read + 'static, delimiter: u8) -> Self {
        Self {
            file: BufReader::with_capacity(1 << 16, Box::new(file)),
            core: csv_core::ReaderBuilder::new().delimiter(delimiter).build(),
            bytes: vec![0; 1 << 12],
            ends: vec![0; 1 << 6],
            count: 0,
            is_cut: false,
        }
    }

    /// Reads the next record; the line it begins on, or none at the end.
    fn next(&mut self) -> Result<Option<u64>> {
        self.skip_line_ends()?;
        let line = self.core.line();
        (self.count, self.is_cut) = (0, false);
        let mut length = 0;
        loop {
            let input = self.file.fill_buf()?;
            let (result, taken, written, ends) = self.core.read_record(
                input,
                &mut self.bytes[length..],
                &mut self.ends[self.count..],
            );
            self.file.consume(taken);
            length += written;
            self.count += ends;
            match result {
                ReadRecordResult::InputEmpty => {}
                ReadRecordResult::OutputFull if self.bytes.len() < LONGEST_RECORD => {
                    self.bytes.resize(2 * self.bytes.len(), 0);
                }
                ReadRecordResult::OutputEndsFull if self.ends.len() < MOST_FIELDS => {
                    self.ends.resize(2 * self.ends.len(), 0);
                }
                // Read over.
                ReadRecordResult::OutputFull | ReadRecordResult::OutputEndsFull => {
                    (length, self.count, self.is_cut) = (0, 0, true);
                }
                ReadRecordResult::Record => return Ok(Some(line)),
                ReadRecordResult::End => return Ok(None),
            }
        }
    }

    /// Reads over what is left of the last line's end on Windows, and over empty lines, so that a record has the number
    /// of its own line.
    fn skip_line_ends(&mut self) -> Result<()> {
        loop {
            let input = self.file.fill_buf()?;
            let ends = |byte: &&u8| matches!(**byte, b'\r' | b'\n');
            let count = input.iter().take_while(ends).count();
            if count == 0 {
                return Ok(());
            }
            (self.core).read_record(&input[..count], &mut self.bytes, &mut self.ends);
            self.file.consume(count);
        }
    }

    /// Bytes of the longest field.
    fn longest(&self) -> usize {
        let mut start = 0;
        let lengths = self.ends[..self.count].iter().map(|end| {
            let length = end.saturating_sub(start);
            start = *end;
            length
        });
        lengths.max().unwrap_or(0)
    }

    /// The fields without spaces at their ends.
    fn fields(&self) -> impl Iterator<Item = Result<&str>> {
        let mut start = 0;
        (self.ends[..self.count].iter().enumerate()).map(move |(at, &end)| {
            let field = self.bytes.get(start..end).unwrap_or_default();
            start = end;
            let text = std::str::from_utf8(field).map_err(|_| {
                let problem = format!(
                    "field {} is not UTF-8; save the file as UTF-8, or declare encoding = \"latin-1\"",
                    at + 1
                );
                anyhow!(BadRecord::new(problem).value(&String::from_utf8_lossy(field)))
            })?;
            Ok(text.trim_start_matches('\u{feff}').trim())
        })
    }
}
