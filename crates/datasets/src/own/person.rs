//! Whose a record is.
//!
//! An identifier is compared with others, and hashed if a share of the people is held out; nothing else is done with
//! it, and it is dropped when a file has been read. A record that does not say whose it is cannot be used: it is left
//! out like every bad record, since nobody's contribution could be bounded otherwise.

use crate::bad_record::BadRecord;
use crate::records::Targets;
use anyhow::Result;
use std::collections::HashMap;
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

/// The owners of the records that were read so far.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) enum People {
    /// Nobody asked whose a record is.
    #[default]
    Unasked,
    /// Of the next record, and so on.
    All(Vec<Person>),
    /// How many records of each were seen, of which so many are kept at most.
    First(HashMap<Person, u64>, u64),
}

impl People {
    /// No records yet. Whether anybody asks whose they are, and how many of each are kept at most; none if all.
    pub fn none(owners: (bool, Option<u64>)) -> Self {
        match owners {
            (false, _) => Self::Unasked,
            (true, None) => Self::All(Vec::new()),
            (true, Some(most)) => Self::First(HashMap::new(), most),
        }
    }

    /// Takes note of whose the next record is. Whether it is kept, which follows from its owner's records alone.
    pub fn keeps(&mut self, person: Option<Person>) -> bool {
        match self {
            Self::Unasked => true,
            Self::All(people) => {
                people.extend(person);
                true
            }
            Self::First(counts, most) => person.is_some_and(|person| {
                let count = counts.entry(person).or_default();
                *count += 1;
                *count <= *most
            }),
        }
    }

    /// The targets of the records with who belongs together, if a person is the unit.
    pub fn own(self, targets: Targets) -> Targets {
        match self {
            Self::All(people) => targets.of_people(Units::of(people.into_iter().map(Some))),
            Self::Unasked | Self::First(..) => targets,
        }
    }
}
