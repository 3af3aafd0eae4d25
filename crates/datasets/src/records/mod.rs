//! Records in memory: small, and quick to turn into a batch.

mod images;
mod rows;
mod tokens;

pub use images::{ImageSize, Images};
pub use rows::{Cell, ROW_LENGTH, RowLayout, Rows};
pub use tokens::Tokens;

use anyhow::{Result, ensure};
use burn::tensor::{Device, Int, Tensor, TensorData};
use serde::{Deserialize, Serialize};
use tacita::Records;

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
        self.labels().len()
    }

    /// The class of each record.
    pub fn labels(&self) -> &[u16] {
        match self {
            Self::Images(images) => images.labels(),
            Self::Tokens(tokens) => tokens.labels(),
            Self::Rows(rows) => rows.labels(),
        }
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
) -> impl Iterator<Item = R::Batch> + 'a {
    let size = size.max(1);
    (0..records.count()).step_by(size).map(move |start| {
        let end = (start + size).min(records.count());
        records.batch(&(start..end).collect::<Vec<_>>(), device)
    })
}

/// Class numbers as Burn takes them.
fn label_tensor(labels: impl Iterator<Item = u16>, device: &Device) -> Tensor<1, Int> {
    let labels: Vec<i32> = labels.map(i32::from).collect();
    let count = labels.len();
    Tensor::from_data(TensorData::new(labels, [count]), device)
}

/// `values` must be `width` numbers for each label, and each label one of `classes`.
fn check(values: usize, width: usize, labels: &[u16], classes: usize) -> Result<()> {
    ensure!(width > 0, "a record must hold at least one value");
    ensure!(
        labels.len().checked_mul(width) == Some(values),
        "{} labels need {} values each, but there are {values} values",
        labels.len(),
        width
    );
    check_labels(labels, classes)
}

/// Each label must be one of `classes`.
fn check_labels(labels: &[u16], classes: usize) -> Result<()> {
    ensure!(
        (2..=usize::from(u16::MAX)).contains(&classes),
        "between 2 and {} classes can be told apart, got {classes}",
        u16::MAX
    );
    if let Some((at, label)) = labels
        .iter()
        .enumerate()
        .find(|(_, label)| usize::from(**label) >= classes)
    {
        anyhow::bail!("record {at} has class number {label}, but there are {classes} classes");
    }
    Ok(())
}
