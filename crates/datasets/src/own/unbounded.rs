//! A table some of whose numeric columns have no bounds yet.

use super::Opened;
use crate::chunk::Chunk;
use crate::data_set::{About, DataSet, TestSet};
use crate::disk::Kept;
use crate::preparation::{
    Basis, Column, Encoding, InputPreparation, Preparation, TablePreparation, scale_estimated,
};
use crate::records::{Shape, Targets};
use crate::statistics;
use crate::target::TargetKind;
use anyhow::{Result, ensure};
use sha2::Sha256;
use std::borrow::Cow;
use tacita::{Units, UnreadableRecords};

/// A table whose undeclared bounds are to be estimated privately before it can be trained on.
///
/// The sum of [`contributions`](Self::contributions) of all records has sensitivity 1. Release it
/// with noise, charge it to the ledger, and pass the result to [`estimated`](Self::estimated).
#[derive(Debug, Clone)]
pub struct Unbounded {
    pub(super) name: String,
    pub(super) table: TablePreparation,
    pub(super) classes: Vec<String>,
    pub(super) training: Kept,
    pub(super) test: Option<(Kept, bool)>,
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
        self.training.count()
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

    /// What is to be predicted of each training record and of each test record, which are private.
    pub fn targets(&self) -> Result<(Cow<'_, Targets>, Option<Cow<'_, Targets>>)> {
        let test = self.test.as_ref().map(|(test, _)| test.targets());
        Ok((self.training.targets()?, test.transpose()?))
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
        self.training.kind_of_targets().people()
    }

    /// The kind of what is to be predicted.
    pub fn target(&self) -> TargetKind {
        self.training.kind_of_targets().kind()
    }

    /// Entries of the histogram.
    pub fn histogram_length(&self) -> usize {
        self.undeclared().count() * statistics::BINS
    }

    pub(super) fn digest(&self, hash: &mut Sha256) {
        let test = self.test.iter().map(|(test, _)| test);
        // A chunk that cannot be read ends the run later.
        let chunks = test.chain([&self.training]).flat_map(Kept::chunks);
        for chunk in chunks.flatten() {
            chunk.digest(hash);
        }
    }

    /// What each training record adds to the histogram: a vector of norm at most 1.
    pub fn contributions(&self) -> impl Iterator<Item = Result<Vec<f32>, UnreadableRecords>> + '_ {
        let width = self.undeclared().count().max(1);
        self.training.chunks().flat_map(move |chunk| {
            let (chunk, error) = match chunk {
                Ok(chunk) => (chunk, None),
                Err(error) => (Cow::Owned(Chunk::default()), Some(Err(error))),
            };
            let records = 0..chunk.unbounded.len() / width;
            let vector =
                move |at| statistics::contributions(&chunk.unbounded[at * width..][..width]);
            records.map(vector).map(Ok).chain(error)
        })
    }

    /// What each training record, or each person on the average of all their records, adds to it.
    pub fn contributions_of_units(
        &self,
    ) -> Box<dyn Iterator<Item = Result<Vec<f64>, UnreadableRecords>> + '_> {
        let wide = |record: Vec<f32>| record.into_iter().map(f64::from).collect();
        match &self.training {
            // Records of people are in memory.
            Kept::Memory(chunk) if chunk.targets.people().is_some() => {
                let width = self.undeclared().count();
                let of_record = move |index: usize| {
                    let numbers = &chunk.unbounded[index * width..][..width];
                    wide(statistics::contributions(numbers))
                };
                Box::new(chunk.targets.of_each_unit(of_record).map(Ok))
            }
            _ => Box::new(self.contributions().map(move |record| record.map(wide))),
        }
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

    fn finish(self) -> Result<DataSet> {
        let columns = self.table.columns.clone();
        let ready = |kept: Kept| match kept {
            Kept::Memory(mut chunk) => {
                scale_estimated(&columns, &mut chunk);
                Kept::Memory(chunk)
            }
            Kept::Disk(disk) => {
                let columns = columns.clone();
                Kept::Disk(disk.finished_by(move |chunk| scale_estimated(&columns, chunk)))
            }
        };
        let training = ready(self.training);
        let test = self.test.map(|(test, public)| (ready(test), public));
        let preparation = Preparation {
            input: InputPreparation::Table(self.table),
            classes: self.classes,
        };
        let training = preparation.records_kept(training, None)?;
        let test = match test {
            Some((test, declared_public)) => Some(TestSet {
                records: preparation.records_kept(test, None)?,
                declared_public,
            }),
            None => None,
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
