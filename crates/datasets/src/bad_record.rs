//! A record that cannot be used: what is wrong with it, apart from what it holds.

use super::nearest::shown;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

/// What is wrong with a record.
///
/// What the record holds is kept apart: messages end up in logs, so it is shown only where the user
/// asked for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BadRecord {
    problem: String,
    value: Option<String>,
    hint: String,
}

impl BadRecord {
    /// A problem, in words that quote nothing of the record.
    pub fn new(problem: impl Into<String>) -> Self {
        Self {
            problem: problem.into(),
            value: None,
            hint: String::new(),
        }
    }

    /// With the value that was seen.
    #[must_use]
    pub fn value(mut self, value: &str) -> Self {
        self.value = Some(value.to_string());
        self
    }

    /// With what was perhaps meant, which depends on the value.
    #[must_use]
    pub fn hint(mut self, hint: String) -> Self {
        self.hint = hint;
        self
    }

    /// The problem with the value that was seen.
    pub fn with_value(&self) -> String {
        let value = self.value.as_deref();
        let value = value.map_or_else(String::new, |value| format!(": {}", shown(value)));
        format!("{}{value}{}", self.problem, self.hint)
    }
}

impl fmt::Display for BadRecord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.problem)
    }
}

impl std::error::Error for BadRecord {}

/// What becomes of records that cannot be used.
///
/// Whether a record is left out depends on that record alone, so neighbouring data sets stay
/// neighbours. Refusing would tell whether a single record is there.
#[derive(Debug, Clone, Default)]
pub enum BadRecords {
    /// They are left out, and nothing is said of them.
    #[default]
    Drop,
    /// The first one is an error; for public data sets.
    Refuse,
    /// They are left out and listed, for `tacita check`.
    List(Arc<Mutex<Vec<Listed>>>),
}

/// A bad record and where it is.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Listed {
    /// The file.
    pub file: String,
    /// The line; none for an image, which is a file.
    pub line: Option<u64>,
    /// The problem.
    pub problem: String,
    /// The same with what the record holds.
    pub with_value: String,
}

impl BadRecords {
    /// Keeps a record that could be used; another is treated by this rule.
    pub(super) fn kept<T>(
        &self,
        record: anyhow::Result<T>,
        place: impl FnOnce() -> (String, Option<u64>),
    ) -> anyhow::Result<Option<T>> {
        let error = match record {
            Ok(record) => return Ok(Some(record)),
            Err(error) => error,
        };
        match self {
            Self::Drop => Ok(None),
            Self::Refuse => {
                let (file, line) = place();
                let line = line.map_or_else(String::new, |line| format!(", line {line}"));
                Err(error.context(format!("{file}{line}")))
            }
            Self::List(list) => {
                let (file, line) = place();
                let problem = error.to_string();
                let bad = error.downcast_ref::<BadRecord>();
                let with_value = bad.map_or_else(|| problem.clone(), BadRecord::with_value);
                let mut list = list.lock().unwrap_or_else(PoisonError::into_inner);
                list.push(Listed {
                    file,
                    line,
                    problem,
                    with_value,
                });
                Ok(None)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_quotes_nothing_of_the_record() {
        let bad = BadRecord::new("column `age` is not a number")
            .value("Smith")
            .hint("; did you mean “Smyth”?".into());
        assert_eq!(bad.to_string(), "column `age` is not a number");
        let error = anyhow::Error::from(bad.clone()).context("line 3");
        assert!(!format!("{error:#}").contains("Sm"));
        assert!(bad.with_value().contains("“Smith”; did you mean"));
    }
}
