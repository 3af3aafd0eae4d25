//! A table some of whose numeric columns have no bounds yet.

use super::Opened;
use super::table::Cells;
use crate::data_set::{About, DataSet, TestSet};
use crate::preparation::{
    Basis, Column, Encoding, InputPreparation, Preparation, TablePreparation, Values,
};
use crate::records::Shape;
use crate::statistics;
use crate::target::TargetKind;
use anyhow::{Result, ensure};
use sha2::{Digest, Sha256};
use tacita::Units;

/// A table whose undeclared bounds are to be estimated privately before it can be trained on.
///
/// The sum of [`contributions`](Self::contributions) over all records has sensitivity 1. Release it
/// with noise, charge it to the ledger, and pass the result to [`estimated`](Self::estimated).
#[derive(Debug, Clone)]
pub struct Unbounded {
    pub(super) name: String,
    pub(super) table: TablePreparation,
    pub(super) classes: Vec<String>,
    pub(super) training: Cells,
    pub(super) test: Option<(Cells, bool)>,
    pub(super) public_count: Option<u64>,
    pub(super) about: About,
}

impl Unbounded {
    /// Ready if every bound is declared.
    pub(super) fn opened(self) -> Result<Opened> {
        if self.undeclared().next().is_some() {
            return Ok(Opened::NeedsBounds(Box::new(self)));
        }
        Ok(Opened::Ready(Box::new(self.finish()?)))
    }

    /// The columns whose bounds are to be estimated.
    pub fn undeclared(&self) -> impl Iterator<Item = &str> {
        let pending = |column: &&Column| column.encoding == Encoding::Pending;
        (self.table.columns.iter())
            .filter(pending)
            .map(|column| column.name.as_str())
    }

    /// How many training records there really are, which is private.
    pub fn count(&self) -> usize {
        self.training.labels.len()
    }

    /// The number of training records, where the user declared it to be public.
    pub fn public_count(&self) -> Option<u64> {
        self.public_count
    }

    /// A short name, as in the name of a run folder.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The input of a model for these records, whatever the bounds will be.
    pub fn shape(&self) -> Shape {
        let widths = self.table.columns.iter().map(Column::width);
        Shape::Rows {
            width: widths.sum(),
        }
    }

    /// The class of each training record and of each test record, which are private.
    pub fn labels(&self) -> (&[u16], Option<&[u16]>) {
        let test = self.test.as_ref();
        (
            self.training.labels.classes(),
            test.map(|(test, _)| test.labels.classes()),
        )
    }

    /// The classes, as declared.
    pub fn classes(&self) -> &[String] {
        &self.classes
    }

    /// Whether there are test records that are declared public, or that are not.
    pub fn has_test(&self, declared_public: bool) -> bool {
        let test = self.test.as_ref();
        test.is_some_and(|(_, public)| *public == declared_public)
    }

    /// Which training records are of one person, which is private; none if each is a unit of its own.
    pub fn people(&self) -> Option<&Units> {
        self.training.labels.people()
    }

    /// The kind of what is to be predicted.
    pub fn target(&self) -> TargetKind {
        self.training.labels.kind()
    }

    /// Entries of the histogram.
    pub fn histogram_length(&self) -> usize {
        self.undeclared().count() * statistics::BINS
    }

    pub(super) fn digest(&self, hash: &mut Sha256) {
        let test = self.test.iter().map(|(cells, _)| cells);
        for Cells {
            cells,
            unbounded,
            labels,
            ..
        } in test.chain([&self.training])
        {
            cells
                .iter()
                .for_each(|cell| hash.update(cell.to_le_bytes()));
            unbounded
                .iter()
                .for_each(|number| hash.update(number.to_le_bytes()));
            labels.digest(hash);
        }
    }

    /// What the training record at a position adds to the histogram: a vector of norm at most 1.
    pub fn contributions(&self, index: usize) -> Vec<f32> {
        let width = self.undeclared().count();
        statistics::contributions(&self.training.unbounded[index * width..][..width])
    }

    /// What each training record, or each person on the average of all their records, adds to it.
    pub fn contributions_of_units(&self) -> impl Iterator<Item = Vec<f64>> + '_ {
        self.training.labels.of_each_unit(|index| {
            let record = self.contributions(index).into_iter();
            record.map(f64::from).collect()
        })
    }

    /// The data set with bounds from the noisy sum of all contributions.
    pub fn estimated(mut self, noisy_histogram: &[f32], noise_std: f64) -> Result<DataSet> {
        ensure!(
            noisy_histogram.len() == self.histogram_length(),
            "the histogram has {} entries, not {}",
            noisy_histogram.len(),
            self.histogram_length()
        );
        let mut bounds = statistics::bounds(noisy_histogram, noise_std)?.into_iter();
        for column in &mut self.table.columns {
            if column.encoding == Encoding::Pending
                && let Some(found) = bounds.next()
            {
                if found.is_none() {
                    self.about.caveats.push(hidden(&column.name));
                }
                let (min, max) = found.unwrap_or(DEFAULT_BOUNDS);
                column.encoding = Encoding::Numeric {
                    min,
                    max,
                    basis: Basis::PrivatelyEstimated,
                };
            }
        }
        self.finish()
    }

    fn finish(mut self) -> Result<DataSet> {
        let ready = |part: &mut Cells| {
            scale(&self.table.columns, part);
            Values {
                cells: std::mem::take(&mut part.cells),
                ..Values::default()
            }
        };
        let training = ready(&mut self.training);
        let test = self.test.as_mut().map(|(test, _)| ready(test));
        let preparation = Preparation {
            input: InputPreparation::Table(self.table),
            classes: self.classes,
        };
        let training = preparation.records(training, self.training.labels, None)?;
        let test = match (self.test, test) {
            (Some((cells, declared_public)), Some(values)) => Some(TestSet {
                records: preparation.records(values, cells.labels, None)?,
                declared_public,
            }),
            _ => None,
        };
        Ok(DataSet {
            name: self.name,
            training,
            test,
            public_count: self.public_count,
            about: self.about,
            preparation,
        })
    }
}

/// Fills in the cells of numbers whose bounds have been estimated.
fn scale(columns: &[Column], part: &mut Cells) {
    let widths: Vec<usize> = columns.iter().map(|column| column.cells().len()).collect();
    let estimated = |column: &Column| {
        matches!(
            column.encoding,
            Encoding::Numeric {
                basis: Basis::PrivatelyEstimated,
                ..
            }
        )
    };
    let count = columns.iter().filter(|column| estimated(column)).count();
    if count == 0 {
        return;
    }
    let rows = part.cells.chunks_exact_mut(widths.iter().sum());
    for (row, numbers) in rows.zip(part.unbounded.chunks_exact(count)) {
        let (mut at, mut numbers) = (0, numbers.iter());
        for (column, width) in columns.iter().zip(&widths) {
            if estimated(column)
                && let Some(number) = numbers.next()
            {
                row[at] = column.scaled(Some(*number).filter(|number| !number.is_nan()));
            }
            at += width;
        }
    }
    part.unbounded = Vec::new();
}

/// Where the noise hides the values of a column, the estimate is spent all the same, and a run that
/// ended here would be lost with it. So it continues with bounds that hold for nobody's records.
const DEFAULT_BOUNDS: (f64, f64) = (-1.0, 1.0);

fn hidden(column: &str) -> String {
    let (min, max) = DEFAULT_BOUNDS;
    format!(
        "the noise hid where the values of column {column} lie, so they were clamped to [{min}, {max}]: declare its \
         bounds, or estimate them from more records"
    )
}
