//! Whose a record is.
//!
//! An identifier is compared with others, and hashed if a share of the people is held out; nothing else is done with
//! it, and it is dropped when a file has been read. A record that does not say whose it is cannot be used: it is left
//! out like every bad record, since nobody's contribution could be bounded otherwise.

use crate::bad_record::BadRecord;
use crate::records::Targets;
use anyhow::Result;
use std::fmt;
use tacita::Units;

/// The owner of a record.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(super) struct Person(Box<[u8]>);

impl Person {
    /// By an identifier, around which blanks do not count.
    pub fn new(identifier: &[u8], name: &str) -> Result<Self> {
        match identifier.trim_ascii() {
            [] => Err(BadRecord::new(format!("there is no person in `{name}`")).into()),
            identifier => Ok(Self(identifier.into())),
        }
    }

    /// For the hash that splits people.
    pub fn bytes(&self) -> &[u8] {
        &self.0
    }
}

impl fmt::Debug for Person {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Person(private)")
    }
}

/// The owners of the records that were read so far; none if nobody asked.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct People(Vec<Person>);

impl People {
    /// Takes note of whose the next record is.
    pub fn push(&mut self, person: Option<Person>) {
        self.0.extend(person);
    }

    /// The targets of the records with who belongs together, if owners are known at all.
    pub fn own(self, targets: Targets, known: bool) -> Targets {
        match known {
            true => targets.of_people(Units::of(self.0.into_iter().map(Some))),
            false => targets,
        }
    }
}
