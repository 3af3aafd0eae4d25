//! The user's own data: tables, texts and images, prepared by what a [`Schema`] declares.

mod characters;
mod csv_file;
mod fields;
mod format;
mod images;
mod inputs;
mod json_lines;
mod json_rows;
mod jsonl;
mod opened;
mod parquet_column;
mod parquet_file;
mod person;
mod rows;
mod shards;
mod skeleton;
mod table;
mod unbounded;

#[cfg(test)]
mod tests;

pub use fields::{Field, Seen, fields};
pub use format::Format;
pub(super) use images::{class_folders, open as open_images};
pub use inputs::{Input as NewInput, InputOptions, Inputs, Problem, Take, read as read_inputs};
pub(super) use jsonl::{open as open_jsonl, shape as text_shape};
pub use opened::Opened;
pub use rows::Hint;
pub use shards::shards;
pub use skeleton::skeleton;
pub(super) use table::open as open_table;
pub use unbounded::Unbounded;

use person::{People, Person};

use super::Options;
use super::data_set::{About, DataSet, TestSet};
use super::disk::{Asked, Kept};
use super::preparation::{Preparation, Value};
use super::records::RecordSet;
use super::schema::Schema;
use super::split::is_held_out;
use anyhow::{Result, ensure};
use std::path::{Path, PathBuf};

/// Which records are held out for testing.
#[derive(Debug, Clone, Default, PartialEq)]
pub enum TestChoice {
    /// None.
    #[default]
    None,
    /// Those of another file, or folder of images.
    File {
        /// The file.
        path: PathBuf,
        /// Whether they are declared public; if not, they are as private as the others.
        public: bool,
    },
    /// A share of the records, chosen by a hash of each record alone.
    Share {
        /// Between 0 and 1.
        share: f64,
        /// Whether they are declared public; if not, they are as private as the others.
        public: bool,
    },
}

impl TestChoice {
    /// Refuses a share that is none.
    pub fn check(&self) -> Result<()> {
        if let Self::Share { share, .. } = self {
            ensure!(
                *share > 0.0 && *share < 1.0,
                "the share of the test set must be above 0 and below 1, got {share}"
            );
        }
        Ok(())
    }

    /// Whether a record is held out: by whose it is, if that is said, and otherwise by all of it. So a person is
    /// never on both sides.
    fn holds_out_of(&self, person: Option<&Person>, all: impl FnOnce() -> bool) -> bool {
        match (self, person) {
            (Self::Share { .. }, Some(person)) => self.holds_out([person.bytes()]),
            (Self::Share { .. }, None) => all(),
            _ => false,
        }
    }

    fn holds_out<'a>(&self, fields: impl IntoIterator<Item = &'a [u8]>) -> bool {
        match self {
            Self::Share { share, .. } => is_held_out(fields, *share),
            _ => false,
        }
    }

    fn holds_out_row(&self, row: &[Value<'_>]) -> bool {
        match self {
            Self::Share { .. } => {
                let fields: Vec<_> = row.iter().map(|value| value.bytes()).collect();
                self.holds_out(fields.iter().map(AsRef::as_ref))
            }
            _ => false,
        }
    }

    /// Whether test records are given that are declared public, or that are not.
    pub fn has_test(&self, declared_public: bool) -> bool {
        *self != Self::None && self.is_public() == declared_public
    }

    /// The declared number of training records, or of the people they belong to.
    pub(super) fn public_count(
        &self,
        schema: &Schema,
        kept_of_a_person: Option<u64>,
    ) -> Option<u64> {
        let records = match (&schema.person, kept_of_a_person) {
            (Some(_), None) => schema.persons?,
            _ => schema.records?,
        };
        Some(match self {
            Self::Share { share, .. } => (records as f64 * (1.0 - share)).round() as u64,
            _ => records,
        })
    }

    fn is_public(&self) -> bool {
        match self {
            Self::None => false,
            Self::File { public, .. } | Self::Share { public, .. } => *public,
        }
    }
}

/// How the user wants records to be kept.
fn asked(options: &Options) -> Asked<'_> {
    Asked {
        on_disk: options.on_disk.as_ref(),
        quiet: options.quiet,
        by_person: options.schema.person.is_some(),
    }
}

/// All options that decide how records are prepared, but for the files and the declared number of records.
fn decided(options: &Options, test: &TestChoice) -> Result<String> {
    let mut schema = options.schema.clone();
    schema.records = None;
    let schema = serde_json::to_string(&schema)?;
    let others = (test, options.estimate_bounds, options.features);
    Ok(format!("{schema}\n{others:?}\n{:?}", options.second_text))
}

/// Reads a file or folder, and that of the test records if there is one. `read` gives the records to train on
/// and those held out.
fn data_set(
    path: &Path,
    kind: &str,
    options: &Options,
    preparation: Preparation,
    read: impl Fn(&Path, &TestChoice) -> Result<[Kept; 2]>,
    records: impl Fn(Kept) -> Result<RecordSet>,
) -> Result<DataSet> {
    options.schema.check_person()?;
    let [training, held_out] = read(path, &options.test)?;
    let test = match &options.test {
        TestChoice::None => None,
        TestChoice::Share { .. } => Some(held_out),
        TestChoice::File { path, .. } => {
            let [test, _] = read(path, &TestChoice::None)?;
            Some(test)
        }
    };
    let test_set = |test| {
        Ok::<_, anyhow::Error>(TestSet {
            records: records(test)?,
            declared_public: options.test.is_public(),
        })
    };
    Ok(DataSet {
        name: short_name(options, kind),
        training: records(training)?,
        test: test.map(test_set).transpose()?,
        public_count: options.declared_count(),
        about: about(options, kind),
        preparation,
    })
}

/// The public name of a set as part of a file name.
fn short_name(options: &Options, kind: &str) -> String {
    let name = options.data_name.as_deref().unwrap_or(kind);
    let name: String = name
        .chars()
        .map(|letter| {
            if letter.is_ascii_alphanumeric() {
                letter.to_ascii_lowercase()
            } else {
                '-'
            }
        })
        .collect();
    match name.trim_matches('-') {
        "" => kind.to_string(),
        name => name.to_string(),
    }
}

fn about(options: &Options, kind: &str) -> About {
    let mut caveats = Vec::new();
    if options.test.is_public() {
        caveats.push(
            "the test records were declared public by the user: the guarantee is not for them"
                .into(),
        );
    }
    About {
        // Never the path: it is no part of what was declared public.
        origin: options.data_name.clone().unwrap_or_else(|| kind.into()),
        licence: "the user's own".into(),
        caveats,
    }
}
