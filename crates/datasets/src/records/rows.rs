//! Rows of a table or of a text's counts, kept short and widened batch by batch.

use super::partly_on_disk::{self, PartlyOnDisk};
use super::standard::{Cell, Standard};
use super::{Chunk, Targets, check};
use crate::Labelled;
use crate::disk::DiskRecords;
use crate::random::SplitMix;
use crate::word_vectors::WordVectors;
use anyhow::{Result, ensure};
use burn::tensor::{Device, Tensor, TensorData};
use sha2::{Digest, Sha256};
use std::ops::Range;
use std::sync::Arc;
use tacita::{ReadRecords, Records, Units, UnreadableRecords};

/// How the cells of a record become its row.
#[derive(Debug, Clone, PartialEq)]
pub enum RowLayout {
    /// A table with one entry for each column.
    Columns(Vec<Cell>),
    /// The same, centred, scaled and brought to [`ROW_LENGTH`](super::ROW_LENGTH).
    Standardised(Vec<Cell>, Arc<Standard>),
    /// So many words, each widened to its public vector; word 0 is a vector of zeros.
    Words(usize, Arc<WordVectors>),
    /// So many numbers, used as they are.
    Numbers(usize),
    /// So many numbers, nearly all zero: a record is pairs of a place and a value, and ends in the cells where the
    /// list says.
    Sparse(usize, Arc<Vec<usize>>),
}

impl RowLayout {
    /// Where the cells of a record are.
    fn place(&self, index: usize) -> Range<usize> {
        let cells = match self {
            Self::Columns(columns) | Self::Standardised(columns, _) => columns.len(),
            Self::Words(words, _) => *words,
            Self::Numbers(width) => *width,
            Self::Sparse(_, ends) => {
                let start = index.checked_sub(1).map_or(0, |before| ends[before]);
                return start..ends[index];
            }
        };
        index * cells..(index + 1) * cells
    }

    /// Numbers of a row.
    pub fn width(&self) -> usize {
        match self {
            Self::Columns(columns) | Self::Standardised(columns, _) => {
                columns.iter().map(|cell| cell.width()).sum()
            }
            Self::Words(words, vectors) => words * vectors.dimension(),
            Self::Numbers(width) | Self::Sparse(width, _) => *width,
        }
    }

    fn widen(&self, cells: &[f32], row: &mut Vec<f32>) {
        match self {
            Self::Columns(columns) => widen_columns(columns, cells, row),
            Self::Standardised(columns, standard) => {
                let start = row.len();
                widen_columns(columns, cells, row);
                standard.apply(&mut row[start..]);
            }
            Self::Sparse(width, _) => {
                let start = row.len();
                row.resize(start + width, 0.0);
                for pair in cells.chunks_exact(2) {
                    if let Some(value) = row.get_mut(start + pair[0] as usize) {
                        *value = pair[1];
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
            Self::Columns(columns) | Self::Standardised(columns, _) => columns
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
            Self::Sparse(width, _) => (0..SYNTHETIC_COUNTS)
                .flat_map(|_| [random.below(*width as u64) as f32, random.standard()])
                .collect(),
        }
    }
}

/// Counts of a synthetic text.
const SYNTHETIC_COUNTS: usize = 64;

fn widen_columns(columns: &[Cell], cells: &[f32], row: &mut Vec<f32>) {
    for (&cell, column) in cells.iter().zip(columns) {
        match column {
            Cell::Number => row.push(cell),
            Cell::OneHot(categories) => {
                let start = row.len();
                row.resize(start + categories, 0.0);
                // A category outside the list would be a bug of the reader; it is then no category at all.
                if let Some(value) = row.get_mut(start + cell as usize) {
                    *value = 1.0;
                }
            }
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
    targets: Targets,
    /// Records that come before those in memory.
    disk: Option<DiskRecords>,
}

impl Rows {
    /// Records of as many cells as the layout has.
    pub fn new(
        layout: RowLayout,
        classes: usize,
        cells: impl Into<Arc<Vec<f32>>>,
        targets: impl Into<Targets>,
    ) -> Result<Self> {
        let targets = targets.into();
        let cells = cells.into();
        match &layout {
            RowLayout::Sparse(_, ends) => {
                let whole = ends.len() == targets.len()
                    && ends.is_sorted()
                    && ends.last().copied().unwrap_or(0) == cells.len();
                ensure!(whole, "a list of counts must end where the next begins");
                targets.check(classes)?;
            }
            _ => check(cells.len(), layout.place(0).len(), &targets, classes)?,
        }
        Ok(Self {
            layout,
            classes,
            cells,
            targets,
            disk: None,
        })
    }

    /// Records on a disk.
    pub(crate) fn on_disk(layout: RowLayout, classes: usize, disk: DiskRecords) -> Result<Self> {
        let none = disk.no_targets().clone();
        Ok(Self {
            disk: Some(disk),
            ..Self::new(layout, classes, Vec::new(), none)?
        })
    }

    /// Numbers of each row.
    pub fn width(&self) -> usize {
        self.layout.width()
    }

    /// What is to be predicted of each record in memory.
    pub fn targets(&self) -> &Targets {
        &self.targets
    }

    /// The class of each record in memory; none if something else is to be predicted.
    pub fn labels(&self) -> &[u16] {
        self.targets.classes()
    }

    /// The columns of a table that is not standardised yet.
    pub(crate) fn columns(&self) -> Option<&[Cell]> {
        match &self.layout {
            RowLayout::Columns(columns) => Some(columns),
            _ => None,
        }
    }

    /// The rows of all records, in order.
    pub(crate) fn rows(&self) -> impl Iterator<Item = Result<Vec<f32>, UnreadableRecords>> + '_ {
        partly_on_disk::parts(self).flat_map(|part| {
            let (part, error) = match part {
                Ok(part) => (Some(part), None),
                Err(error) => (None, Some(Err(error))),
            };
            let rows = part.into_iter().flat_map(|part| {
                let count = part.targets.len();
                (0..count).map(move |index| Ok(part.row(index)))
            });
            rows.chain(error)
        })
    }

    /// The row of a record in memory.
    pub(crate) fn row(&self, index: usize) -> Vec<f32> {
        let mut row = Vec::with_capacity(self.width());
        self.layout
            .widen(&self.cells[self.layout.place(index)], &mut row);
        row
    }

    /// The same records in another layout of as many cells each.
    pub(crate) fn laid_out(self, layout: RowLayout) -> Result<Self> {
        Ok(Self {
            disk: self.disk,
            ..Self::new(layout, self.classes, self.cells, self.targets)?
        })
    }

    pub(super) fn digest(&self, hash: &mut Sha256) {
        if let RowLayout::Sparse(_, ends) = &self.layout {
            ends.iter()
                .for_each(|end| hash.update((*end as u64).to_le_bytes()));
        }
        self.cells
            .iter()
            .for_each(|cell| hash.update(cell.to_le_bytes()));
    }

    /// The same records with others after them.
    pub(super) fn followed_by(mut self, others: &Self) -> Result<Self> {
        ensure!(
            others.disk.is_none(),
            "only records in memory can follow others"
        );
        let before = self.cells.len();
        self.layout = match (self.layout, &others.layout) {
            (RowLayout::Sparse(width, ends), RowLayout::Sparse(other, more)) if width == *other => {
                let more = more.iter().map(|end| before + end);
                RowLayout::Sparse(width, Arc::new(ends.iter().copied().chain(more).collect()))
            }
            (layout, other) => {
                ensure!(layout == *other, "rows of another kind");
                layout
            }
        };
        Arc::make_mut(&mut self.cells).extend_from_slice(&others.cells);
        self.targets.append(&others.targets)?;
        Ok(self)
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

impl PartlyOnDisk for Rows {
    fn disk(&self) -> Option<&DiskRecords> {
        self.disk.as_ref()
    }

    fn in_memory(&self) -> Self {
        Self {
            disk: None,
            ..self.clone()
        }
    }

    fn of_chunk(&self, chunk: Chunk) -> Result<Self> {
        let layout = match &self.layout {
            RowLayout::Sparse(width, _) => RowLayout::Sparse(*width, Arc::new(chunk.values.ends)),
            layout => layout.clone(),
        };
        Self::new(layout, self.classes, chunk.values.cells, chunk.targets)
    }

    fn with(self, others: &Self) -> Result<Self> {
        self.followed_by(others)
    }
}

impl Records for Rows {
    type Batch = Labelled<Tensor<2>>;

    fn count(&self) -> usize {
        self.disk.as_ref().map_or(0, DiskRecords::count) + self.targets.len()
    }

    fn weight(&self, index: usize) -> f32 {
        match &self.disk {
            Some(disk) => partly_on_disk::weight(disk, index, &self.targets),
            None => self.targets.weight(index),
        }
    }

    fn read(
        &self,
        indices: &[usize],
        device: &Device,
    ) -> Result<ReadRecords<Self::Batch>, UnreadableRecords> {
        partly_on_disk::read(self, indices, device)
    }

    fn read_ahead(&self, next: &mut dyn FnMut() -> Vec<usize>) {
        if let Some(disk) = &self.disk {
            disk.read_ahead(next());
        }
    }

    fn units(&self) -> Option<&Units> {
        self.targets.people()
    }

    fn batch(&self, indices: &[usize], device: &Device) -> Self::Batch {
        if self.disk.is_some() {
            return partly_on_disk::batch(self, indices, device);
        }
        let records = indices
            .iter()
            .map(|&index| &self.cells[self.layout.place(index)]);
        Labelled {
            inputs: self.tensor(records, device),
            labels: self.targets.batch(indices, device),
        }
    }

    fn synthetic(&self, seeds: &[u64], device: &Device) -> Self::Batch {
        let mut randoms: Vec<SplitMix> = seeds.iter().map(|&seed| SplitMix(seed)).collect();
        let records = randoms
            .iter_mut()
            .map(|random| self.layout.synthetic(random));
        let records: Vec<Vec<f32>> = records.collect();
        Labelled {
            inputs: self.tensor(records.iter().map(Vec::as_slice), device),
            labels: self
                .targets
                .synthetic_batch(&mut randoms, self.classes, device),
        }
    }
}
