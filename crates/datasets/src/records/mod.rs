//! Records, small and quick to turn into a batch: in memory, or the first of them on a disk.

mod images;
mod partly_on_disk;
mod rows;
mod standard;
mod tokens;

use crate::chunk::Chunk;
pub use crate::image_size::ImageSize;
pub use crate::targets::Targets;
pub use images::Images;
pub use rows::{RowLayout, Rows};
pub use standard::{Cell, ROW_LENGTH, Standard, moments, moments_length};
pub use tokens::Tokens;

use crate::disk::DiskRecords;
use crate::target::TargetKind;
use anyhow::{Result, bail, ensure};
use burn::tensor::Device;
use partly_on_disk::PartlyOnDisk;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::borrow::Cow;
use tacita::{Records, Units, UnreadableRecords};

/// The records of a data set, by kind.
#[derive(Debug, Clone, PartialEq)]
pub enum RecordSet {
    /// Batches are `Labelled<Tensor<4>>`.
    Images(Images),
    /// Batches are `Labelled<Tensor<2, Int>>`.
    Tokens(Tokens),
    /// Batches are `Labelled<Tensor<2>>`.
    Rows(Rows),
}

/// What a model must know of its input; public.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Shape {
    /// Images with values in [0, 1].
    Images(ImageSize),
    /// Token numbers below `vocabulary`, 0 for padding.
    Tokens {
        /// Tokens of each record.
        length: usize,
        /// One more than the highest token.
        vocabulary: usize,
    },
    /// Rows of numbers.
    Rows {
        /// Numbers of each record.
        width: usize,
    },
}

impl RecordSet {
    /// How many records there really are, which is private for training data.
    pub fn count(&self) -> usize {
        match self {
            Self::Images(images) => images.count(),
            Self::Tokens(tokens) => tokens.count(),
            Self::Rows(rows) => rows.count(),
        }
    }

    /// What is to be predicted of each record; of those on a disk it is read.
    pub fn targets(&self) -> Result<Cow<'_, Targets>> {
        let in_memory = self.in_memory();
        let Some(disk) = self.disk() else {
            return Ok(Cow::Borrowed(in_memory));
        };
        let mut all = disk.targets()?;
        all.append(in_memory)?;
        Ok(Cow::Owned(all))
    }

    /// Which records are of one person; none if each is a unit of its own.
    pub fn people(&self) -> Option<&Units> {
        self.in_memory().people()
    }

    /// The kind of what is to be predicted.
    pub fn target(&self) -> TargetKind {
        self.in_memory().kind()
    }

    /// Those on a disk, which come first.
    fn disk(&self) -> Option<&DiskRecords> {
        match self {
            Self::Images(images) => images.disk(),
            Self::Tokens(tokens) => tokens.disk(),
            Self::Rows(rows) => rows.disk(),
        }
    }

    /// Those of the records in memory.
    fn in_memory(&self) -> &Targets {
        match self {
            Self::Images(images) => images.targets(),
            Self::Tokens(tokens) => tokens.targets(),
            Self::Rows(rows) => rows.targets(),
        }
    }

    /// The class of each record in memory; none if something else is to be predicted.
    pub fn labels(&self) -> &[u16] {
        self.in_memory().classes()
    }

    /// A SHA-256 over the records, in their order, with which processes of one run see that they read the same. As private
    /// as the records.
    pub fn digest(&self) -> [u8; 32] {
        let mut hash = Sha256::new();
        // One that cannot be read ends the run later.
        for chunk in self
            .disk()
            .into_iter()
            .flat_map(DiskRecords::chunks)
            .flatten()
        {
            chunk.digest(&mut hash);
        }
        match self {
            Self::Images(images) => images.digest(&mut hash),
            Self::Tokens(tokens) => tokens.digest(&mut hash),
            Self::Rows(rows) => rows.digest(&mut hash),
        }
        self.in_memory().digest(&mut hash);
        hash.finalize().into()
    }

    /// The same records with others of the same kind after them.
    pub fn followed_by(self, others: &Self) -> Result<Self> {
        Ok(match (self, others) {
            (Self::Images(all), Self::Images(more)) => Self::Images(all.followed_by(more)?),
            (Self::Tokens(all), Self::Tokens(more)) => Self::Tokens(all.followed_by(more)?),
            (Self::Rows(all), Self::Rows(more)) => Self::Rows(all.followed_by(more)?),
            _ => bail!("records of another kind"),
        })
    }

    /// The input of a model for these records.
    pub fn shape(&self) -> Shape {
        match self {
            Self::Images(images) => Shape::Images(images.size()),
            Self::Tokens(tokens) => Shape::Tokens {
                length: tokens.length(),
                vocabulary: tokens.vocabulary(),
            },
            Self::Rows(rows) => Shape::Rows {
                width: rows.width(),
            },
        }
    }
}

/// All records in batches of `size`, the last one shorter, for evaluation.
pub fn chunks<'a, R: Records>(
    records: &'a R,
    size: usize,
    device: &'a Device,
) -> impl Iterator<Item = Result<R::Batch, UnreadableRecords>> + 'a {
    let size = size.max(1);
    (0..records.count()).step_by(size).map(move |start| {
        let end = (start + size).min(records.count());
        let indices: Vec<usize> = (start..end).collect();
        Ok(records.read(&indices, device)?.batch)
    })
}

/// All records in batches of exactly `size`, and how many of each batch's rows count: where records are wanting, the
/// first of the batch is repeated.
///
/// A device may choose by the size of a batch how it rounds. In batches of one size a record's answer does not depend on
/// how many records there are.
pub fn chunks_of_one_size<'a, R: Records>(
    records: &'a R,
    size: usize,
    device: &'a Device,
) -> impl Iterator<Item = Result<(R::Batch, usize), UnreadableRecords>> + 'a {
    let size = size.max(1);
    (0..records.count()).step_by(size).map(move |start| {
        let end = (start + size).min(records.count());
        let mut indices: Vec<usize> = (start..end).collect();
        indices.resize(size, start);
        Ok((records.read(&indices, device)?.batch, end - start))
    })
}

/// `values` must be `width` numbers for each record, and each target one of `outputs`.
fn check(values: usize, width: usize, targets: &Targets, outputs: usize) -> Result<()> {
    ensure!(width > 0, "a record must hold at least one value");
    ensure!(
        (1..=usize::from(u16::MAX)).contains(&outputs),
        "between 1 and {} classes can be told apart, got {outputs}",
        u16::MAX
    );
    ensure!(
        targets.len().checked_mul(width) == Some(values),
        "{} records need {} values each, but there are {values} values",
        targets.len(),
        width
    );
    targets.check(outputs)
}
