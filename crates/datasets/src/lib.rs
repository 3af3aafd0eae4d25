//! Data sets: from a name or a file to records a model can be trained on.
//!
//! 1. [`open`] takes a [`Source`] (a public set by name, or the user's own file) and [`Options`].
//! 2. A public set is looked for in `--data-dir`, in `TACITA_DATA`, in the user's cache and in
//!    `/usr/share/datasets`, then downloaded from its own site ([`Places`], `download/`).
//! 3. Raw records become images, tokens or rows by a [`Preparation`], which uses public constants,
//!    what a [`Schema`] declares, and nothing else of the data. If bounds of numeric columns are to
//!    be estimated privately, [`Opened::NeedsBounds`] hands out vectors of norm at most 1 whose noisy
//!    sum gives them (`statistics/`).
//! 4. The result is a [`DataSet`]: records to train on, records held out and whether they are
//!    public, names of the classes, origin and caveats, and the preparation, which is written into
//!    the run folder so that new input is prepared in the same way.
//!
//! Of the user's own data, what is wrong with a *file* (it is missing, its header lacks a column) is
//! an error; what is wrong with a *record* is not, since the error would tell that the record is
//! there. Such records are left out by [`BadRecords`], and `tacita check` lists them.
//!
//! [`read_inputs`] reads new input for a trained model. The split into training and test is explicit, and decided for each record by that record alone.

mod bad_record;
mod batch;
mod builtin;
mod canaries;
mod chunk;
mod data_set;
mod digits;
mod disk;
mod distinct;
mod download;
mod formats;
mod hex;
mod image_size;
mod input_kind;
mod known;
mod label;
mod locate;
pub mod nearest;
mod own;
mod preparation;
pub mod random;
mod records;
pub mod renamed_keys;
mod schema;
mod split;
mod statistics;
mod target;
mod targets;
#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod testkit;
mod texts;
mod word_vectors;

pub use bad_record::{BadRecords, Listed};
pub use batch::{Labelled, Labels};
pub use builtin::Builtin;
pub use canaries::Canaries;
pub use data_set::{About, DataSet, TestSet};
pub use digits::Digits;
pub use disk::OnDisk;
pub use hex::hex;
pub use input_kind::InputKind;
pub use known::{Known, known};
pub use label::LabelSchema;
pub use locate::Places;
pub use locate::cache_folder;
pub use own::{
    Field, Format, Hint, InputOptions, Inputs, NewInput, Opened, Problem, Seen, Take, TestChoice,
    Unbounded, fields, read_inputs, shards, skeleton,
};
pub use preparation::{Basis, Features, InputPreparation, Preparation, SplitText, Subwords};
pub use records::{
    Cell, ImageSize, Images, ROW_LENGTH, RecordSet, RowLayout, Rows, Shape, Standard, Targets,
    Tokens, chunks, chunks_of_one_size,
};
pub use schema::{BadRows, Schema, TextEncoding};
pub use statistics::records_for_bounds;
pub use target::{NumberLoss, NumberTarget, Target, TargetKind, Truth, Weighting};
pub use word_vectors::WordVectors;

use anyhow::Result;
use std::path::PathBuf;
use std::sync::Arc;

/// Where records come from.
#[derive(Debug, Clone, PartialEq)]
pub enum Source {
    /// A public set.
    Builtin(Builtin),
    /// A table with a header; the schema names the column of the class.
    Csv {
        /// The file, which may be compressed.
        file: PathBuf,
    },
    /// A table in Parquet; the schema names the column of the class.
    Parquet {
        /// The file.
        file: PathBuf,
    },
    /// Texts, one JSON object a line; the schema names the field of the class.
    Jsonl {
        /// The file, which may be compressed.
        file: PathBuf,
        /// The field that holds the text.
        text: String,
    },
    /// A table as JSON lines; the schema names the field of the class and all others that are used.
    JsonTable {
        /// The file, which may be compressed.
        file: PathBuf,
    },
    /// Images, a folder for each class.
    Images {
        /// The folder of the folders.
        folder: PathBuf,
    },
}

/// How records are found and prepared.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// A folder to look in first, and to download to.
    pub data_dir: Option<PathBuf>,
    /// Download nothing.
    pub offline: bool,
    /// Show no progress bar.
    pub quiet: bool,
    /// What is declared to be public.
    pub schema: Schema,
    /// Which records are held out; the public sets bring their own.
    pub test: TestChoice,
    /// Names of image folders may be taken for classes.
    pub classes_are_public: bool,
    /// Bounds of numeric columns that are not declared are to be estimated privately.
    pub estimate_bounds: bool,
    /// Handcrafted features instead of pixels or words.
    pub features: Option<Features>,
    /// Tokens of a pre-trained model instead of words.
    pub subwords: Option<Subwords>,
    /// The field of the second text of a pair.
    pub second_text: Option<String>,
    /// The public name of the user's own data, which are never named by their path.
    pub data_name: Option<String>,
    /// What becomes of the user's records that cannot be used.
    pub bad_records: BadRecords,
    /// Keep the user's own records on a disk and not in memory.
    pub on_disk: Option<OnDisk>,
    /// Of each person only the first so many records are kept, each a unit of its own; none if all are, and a person is
    /// the unit.
    pub kept_of_a_person: Option<u64>,
}

impl Source {
    /// What the user's own data are called unless named: by their kind.
    pub fn kind_of_own(&self) -> Option<&'static str> {
        match self {
            Self::Builtin(_) => None,
            Self::Csv { .. } | Self::Parquet { .. } | Self::JsonTable { .. } => Some("table"),
            Self::Jsonl { .. } => Some("texts"),
            Self::Images { .. } => Some("images"),
        }
    }
}

impl Options {
    /// The folders to look in.
    pub fn places(&self) -> Places {
        Places::of_user(self.data_dir.as_deref())
    }

    /// The declared number of records to train on: those that are held out are not among them.
    pub fn declared_count(&self) -> Option<u64> {
        self.test.public_count(&self.schema, self.kept_of_a_person)
    }
}

/// Finds, reads and prepares a data set.
pub fn open(source: &Source, options: &Options) -> Result<Opened> {
    let ready = |data: DataSet| Opened::Ready(Box::new(data));
    match source {
        Source::Builtin(set) => set.open(options).map(ready),
        Source::Csv { file } => own::open_table(file, Format::Csv, options),
        Source::Parquet { file } => own::open_table(file, Format::Parquet, options),
        Source::JsonTable { file } => own::open_table(file, Format::Jsonl, options),
        Source::Jsonl { file, text } => own::open_jsonl(file, text, options).map(ready),
        Source::Images { folder } => own::open_images(folder, options).map(ready),
    }
}

/// The input of a model and the number of classes, as far as they are declared. Opens no data.
pub fn declared(source: &Source, options: &Options) -> Result<(Option<Shape>, Option<usize>)> {
    let schema = &options.schema;
    let mut classes = Some(schema.label.classes.len()).filter(|count| *count > 0);
    if !matches!(source, Source::Builtin(_) | Source::Images { .. }) {
        classes = Some(schema.label.target()?.names().len());
    }
    let shape = match source {
        Source::Builtin(_) => None,
        Source::Csv { .. } | Source::Parquet { .. } | Source::JsonTable { .. } => schema
            .declared_width(options.estimate_bounds)?
            .map(|width| Shape::Rows { width }),
        Source::Jsonl { .. } if schema.text.word_vectors.is_some() => None,
        Source::Jsonl { .. } => own::text_shape(options)?,
        Source::Images { .. } => Some(Shape::Images(schema.picture()?.size)),
    };
    let shape = match (shape, options.features) {
        // That of texts is the shape of their counts already.
        (counts, Some(Features::Counts)) if matches!(source, Source::Jsonl { .. }) => counts,
        (Some(shape), Some(features)) => Some(features.shape(shape)?),
        (shape, _) => shape,
    };
    Ok((shape, classes))
}

/// The public word vectors a preparation needs, if it needs any.
pub fn word_vectors(
    preparation: &Preparation,
    options: &Options,
) -> Result<Option<Arc<WordVectors>>> {
    let words = match &preparation.input {
        InputPreparation::FirstWords(words) => words.words,
        InputPreparation::WordMeans(_) => 1,
        _ => return Ok(None),
    };
    let mut options = options.clone();
    options.schema.text.word_vectors = Some(words);
    texts::vectors(&options)
}

/// The examples of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
