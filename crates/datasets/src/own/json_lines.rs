//! Lines of a file, and the objects in JSON that they hold.

use crate::bad_record::BadRecord;
use anyhow::Result;
use serde_json::{Map, Value};
use std::io::{BufRead, BufReader, Read};

/// A longer line is a bad record.
const LONGEST_LINE: usize = 1 << 24;
/// The lines of a file that are not blank, each in the same buffer, whose size is limited.
pub(super) struct Lines {
    file: BufReader<Box<dyn Read>>,
    bytes: Vec<u8>,
    number: u64,
}

/// A line and its number.
pub(super) struct Line<'a> {
    pub number: u64,
    /// Without a byte order mark; an error if the line is too long.
    pub bytes: Result<&'a [u8]>,
}

impl Lines {
    pub(super) fn new(file: Box<dyn Read>) -> Self {
        Self {
            file: BufReader::new(file),
            bytes: Vec::new(),
            number: 0,
        }
    }

    /// The next line, or none at the end.
    pub(super) fn next(&mut self) -> Result<Option<Line<'_>>> {
        loop {
            self.bytes.clear();
            let most = LONGEST_LINE as u64 + 1;
            let read = (self.file.by_ref().take(most)).read_until(b'\n', &mut self.bytes)?;
            if read == 0 {
                return Ok(None);
            }
            self.number += 1;
            let is_long = read > LONGEST_LINE;
            if is_long && !self.bytes.ends_with(b"\n") {
                self.file.skip_until(b'\n')?;
            }
            if is_long || !self.bytes.trim_ascii().is_empty() {
                let number = self.number;
                let bytes = match is_long {
                    false => Ok(self.bytes.as_slice()),
                    true => {
                        let problem =
                            format!("longer than {LONGEST_LINE} bytes; is this one object a line?");
                        Err(BadRecord::new(problem).into())
                    }
                };
                return Ok(Some(Line { number, bytes }));
            }
        }
    }
}

/// The object of a line.
pub(super) fn object(line: &[u8]) -> Result<Map<String, Value>> {
    let line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line);
    let line = std::str::from_utf8(line)
        .map_err(|_| BadRecord::new("not UTF-8; save the file as UTF-8"))?;
    // The parser's own words quote what it found.
    let object = serde_json::from_str(line)
        .map_err(|error| BadRecord::new("not a JSON object").hint(format!(" ({error})")))?;
    Ok(object)
}
