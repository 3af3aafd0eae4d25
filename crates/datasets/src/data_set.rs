//! One type for what training needs, whatever the source.

use super::preparation::Preparation;
use super::records::{RecordSet, Shape};
use anyhow::{Result, ensure};

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
