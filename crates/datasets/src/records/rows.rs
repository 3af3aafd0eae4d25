//! Rows of a table, kept as one cell a column and widened batch by batch.

use super::{check, label_tensor};
use crate::Labelled;
use crate::random::SplitMix;
use crate::word_vectors::WordVectors;
use anyhow::Result;
use burn::tensor::{Device, Tensor, TensorData};
use std::sync::Arc;
use tacita::Records;

/// How one cell becomes numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cell {
    /// The cell is a number, used as it is.
    Number,
    /// The cell is the number of one of so many categories: 1 there, 0 elsewhere.
    OneHot(usize),
}

impl Cell {
    /// Numbers that the cell becomes.
    pub fn width(self) -> usize {
        match self {
            Self::Number => 1,
            Self::OneHot(categories) => categories,
        }
    }
}

/// How the cells of a record become its row.
#[derive(Debug, Clone, PartialEq)]
pub enum RowLayout {
    /// A table with one entry for each column.
    Columns(Vec<Cell>),
    /// So many words, each widened to its public vector; word 0 is a vector of zeros.
    Words(usize, Arc<WordVectors>),
    /// So many numbers, used as they are.
    Numbers(usize),
}

impl RowLayout {
    fn cells(&self) -> usize {
        match self {
            Self::Columns(columns) => columns.len(),
            Self::Words(words, _) => *words,
            Self::Numbers(width) => *width,
        }
    }

    /// Numbers of a row.
    pub fn width(&self) -> usize {
        match self {
            Self::Columns(columns) => columns.iter().map(|cell| cell.width()).sum(),
            Self::Words(words, vectors) => words * vectors.dimension(),
            Self::Numbers(width) => *width,
        }
    }

    fn widen(&self, cells: &[f32], row: &mut Vec<f32>) {
        match self {
            Self::Columns(columns) => {
                for (&cell, column) in cells.iter().zip(columns) {
                    match column {
                        Cell::Number => row.push(cell),
                        Cell::OneHot(categories) => {
                            let start = row.len();
                            row.resize(start + categories, 0.0);
                            // A category outside the list would be a bug of the reader; it is then
                            // no category at all.
                            if let Some(value) = row.get_mut(start + cell as usize) {
                                *value = 1.0;
                            }
                        }
                    }
                }
            }
            Self::Words(_, vectors) => {
                for &cell in cells {
                    row.extend_from_slice(vectors.vector(cell as usize));
                }
            }
            Self::Numbers(_) => row.extend_from_slice(cells),
        }
    }

    fn synthetic(&self, random: &mut SplitMix) -> Vec<f32> {
        match self {
            Self::Columns(columns) => columns
                .iter()
                .map(|cell| match cell {
                    Cell::Number => random.below(1 << 20) as f32 / (1 << 20) as f32,
                    Cell::OneHot(categories) => random.below(*categories as u64) as f32,
                })
                .collect(),
            Self::Words(words, vectors) => (0..*words)
                .map(|_| random.below(vectors.count() as u64) as f32)
                .collect(),
            Self::Numbers(width) => (0..*width).map(|_| random.standard()).collect(),
        }
    }
}

/// Rows with their classes.
#[derive(Debug, Clone, PartialEq)]
pub struct Rows {
    layout: RowLayout,
    classes: usize,
    /// Category and word numbers are small enough to be exact in single precision. Shared, because several
    /// runs may use the same features.
    cells: Arc<Vec<f32>>,
    labels: Vec<u16>,
}

impl Rows {
    /// Records of as many cells as the layout has.
    pub fn new(
        layout: RowLayout,
        classes: usize,
        cells: impl Into<Arc<Vec<f32>>>,
        labels: Vec<u16>,
    ) -> Result<Self> {
        let cells = cells.into();
        check(cells.len(), layout.cells(), &labels, classes)?;
        Ok(Self {
            layout,
            classes,
            cells,
            labels,
        })
    }

    /// Numbers of each row.
    pub fn width(&self) -> usize {
        self.layout.width()
    }

    /// The class of each row.
    pub fn labels(&self) -> &[u16] {
        &self.labels
    }

    fn tensor<'a>(&self, records: impl Iterator<Item = &'a [f32]>, device: &Device) -> Tensor<2> {
        let width = self.width();
        let mut values = Vec::with_capacity(records.size_hint().0 * width);
        for record in records {
            self.layout.widen(record, &mut values);
        }
        let shape = [values.len() / width, width];
        Tensor::from_data(TensorData::new(values, shape), device)
    }
}

impl Records for Rows {
    type Batch = Labelled<Tensor<2>>;

    fn count(&self) -> usize {
        self.labels.len()
    }

    fn batch(&self, indices: &[usize], device: &Device) -> Self::Batch {
        let cells = self.layout.cells();
        let records = indices
            .iter()
            .map(|&index| &self.cells[index * cells..][..cells]);
        Labelled {
            inputs: self.tensor(records, device),
            labels: label_tensor(indices.iter().map(|&index| self.labels[index]), device),
        }
    }

    fn synthetic(&self, seeds: &[u64], device: &Device) -> Self::Batch {
        let (records, labels): (Vec<Vec<f32>>, Vec<u16>) = seeds
            .iter()
            .map(|&seed| {
                let mut random = SplitMix(seed);
                let cells = self.layout.synthetic(&mut random);
                (cells, random.below(self.classes as u64) as u16)
            })
            .unzip();
        Labelled {
            inputs: self.tensor(records.iter().map(Vec::as_slice), device),
            labels: label_tensor(labels.into_iter(), device),
        }
    }
}
