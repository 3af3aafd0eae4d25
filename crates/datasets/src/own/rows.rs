//! Rows of a file, whatever its format.

use crate::preparation::{Value, names};
use anyhow::{Result, ensure};
use std::collections::HashSet;

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
    /// Refuses two columns of one name. Those without a name are ignored, such as the numbers of rows that some
    /// programs put first.
    pub(super) fn check_names(&self) -> Result<()> {
        let mut seen = HashSet::new();
        for name in self.header.iter().filter(|name| !name.is_empty()) {
            ensure!(
                seen.insert(name),
                "the header has two columns{}; rename one",
                match names(&self.header).is_empty() {
                    true => " of one name".to_string(),
                    false => format!(" named `{name}`"),
                }
            );
        }
        Ok(())
    }

    /// All columns are needed.
    pub(super) fn each(self, sink: &mut Sink<'_>) -> Result<()> {
        let needed = vec![true; self.header.len()];
        self.rows.each(&needed, sink)
    }
}
