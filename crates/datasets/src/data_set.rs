//! One type for what training needs, whatever the source.

use super::input_kind::InputKind;
use super::preparation::{InputPreparation, Preparation};
use super::records::{Cell, RecordSet, Rows, Shape, Standard, moments, moments_length};
use anyhow::{Context, Result, bail, ensure};
use tacita::UnreadableRecords;

/// A data set, ready to train on.
#[derive(Debug, Clone)]
pub struct DataSet {
    /// A short name, as in the name of a run folder.
    pub name: String,
    /// The private records.
    pub training: RecordSet,
    /// Records held out.
    pub test: Option<TestSet>,
    /// The number of training records, where it is public: published, or declared by the user.
    pub public_count: Option<u64>,
    /// Where the records come from, for the report.
    pub about: About,
    /// What was done to them.
    pub preparation: Preparation,
}

const NO_TABLE: &str = "only the columns of a table can be standardised";

/// Records held out for testing.
#[derive(Debug, Clone)]
pub struct TestSet {
    /// The records.
    pub records: RecordSet,
    /// Whether an exact accuracy on them may be shown. If not, they are as private as the others.
    pub declared_public: bool,
}

/// Where records come from and what to know about them.
#[derive(Debug, Clone, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct About {
    /// Who made them, or what their owner calls them.
    pub origin: String,
    /// What they may be used for.
    pub licence: String,
    /// What to say beside any result.
    pub caveats: Vec<String>,
}

impl DataSet {
    /// The input of a model for these records.
    pub fn shape(&self) -> Shape {
        self.training.shape()
    }

    /// The public names of the classes.
    pub fn classes(&self) -> &[String] {
        &self.preparation.classes
    }

    /// The kind of the input.
    pub fn kind(&self) -> InputKind {
        self.preparation.kind()
    }

    /// Entries of the moments of a record, for [`standardised`](Self::standardised).
    pub fn moments_length(&self) -> Result<usize> {
        Ok(moments_length(self.table()?.1))
    }

    /// The moments of each training record, or the mean of each person's: vectors of norm at most 1.
    pub fn moments(
        &self,
    ) -> Result<Box<dyn Iterator<Item = Result<Vec<f64>, UnreadableRecords>> + '_>> {
        let (rows, cells) = self.table()?;
        Ok(match rows.targets().people() {
            // Records of people are in memory.
            Some(_) => {
                let of_record = move |index| moments(cells, &rows.row(index));
                Box::new(rows.targets().of_each_unit(of_record).map(Ok))
            }
            None => Box::new(rows.rows().map(move |row| Ok(moments(cells, &row?)))),
        })
    }

    /// Means and spreads of the columns from the noisy sum of all moments.
    pub fn standard(&self, noisy_moments: &[f64], noise_std: f64) -> Result<Standard> {
        Standard::of(self.table()?.1, noisy_moments, noise_std)
    }

    /// The table with its rows centred and scaled, and brought to one length.
    pub fn standardised(mut self, standard: Standard) -> Result<Self> {
        let InputPreparation::Table(table) = &mut self.preparation.input else {
            bail!("{NO_TABLE}");
        };
        table.standard = Some(standard);
        let layout = table.layout()?;
        let laid_out = |records| match records {
            RecordSet::Rows(rows) => Ok(RecordSet::Rows(rows.laid_out(layout.clone())?)),
            _ => bail!("{NO_TABLE}"),
        };
        self.training = laid_out(self.training)?;
        if let Some(test) = self.test.take() {
            self.test = Some(TestSet {
                records: laid_out(test.records)?,
                declared_public: test.declared_public,
            });
        }
        Ok(self)
    }

    fn table(&self) -> Result<(&Rows, &[Cell])> {
        let RecordSet::Rows(rows) = &self.training else {
            bail!("{NO_TABLE}");
        };
        Ok((rows, rows.columns().context(NO_TABLE)?))
    }

    /// Refuses a public set that cannot be the one it is said to be. Never for the user's own
    /// records: the refusal would depend on a single one of them.
    pub(super) fn checked(self) -> Result<Self> {
        let (labels, origin) = (self.training.labels(), &self.about.origin);
        ensure!(
            labels.iter().any(|label| *label != labels[0]),
            "{origin}: the records to train on must be of two classes at least"
        );
        let test = self.test.as_ref();
        ensure!(
            test.is_none_or(|test| test.records.count() > 0),
            "{origin}: the test set is empty"
        );
        Ok(self)
    }
}
