//! What opening a source found, and what of it is public.

use super::Unbounded;
use crate::records::Shape;
use crate::target::TargetKind;
use crate::{DataSet, InputKind};
use sha2::{Digest, Sha256};

/// What [`open`](crate::open) found.
#[derive(Debug)]
pub enum Opened {
    /// A data set to train on.
    Ready(Box<DataSet>),
    /// A table whose bounds must be estimated first.
    NeedsBounds(Box<Unbounded>),
}

impl Opened {
    /// A short name, as in the name of a run folder.
    pub fn name(&self) -> &str {
        match self {
            Self::Ready(data) => &data.name,
            Self::NeedsBounds(table) => table.name(),
        }
    }

    /// A SHA-256 over all records, in their order, with which processes of one run see that they read the same. As private
    /// as the records.
    pub fn digest(&self) -> [u8; 32] {
        let mut hash = Sha256::new();
        match self {
            Self::Ready(data) => {
                hash.update(data.training.digest());
                if let Some(test) = &data.test {
                    hash.update(test.records.digest());
                }
            }
            Self::NeedsBounds(table) => table.digest(&mut hash),
        }
        hash.finalize().into()
    }

    /// The number of training records, where it is public.
    pub fn public_count(&self) -> Option<u64> {
        match self {
            Self::Ready(data) => data.public_count,
            Self::NeedsBounds(table) => table.public_count(),
        }
    }

    /// The input of a model for these records.
    pub fn shape(&self) -> Shape {
        match self {
            Self::Ready(data) => data.shape(),
            Self::NeedsBounds(table) => table.shape(),
        }
    }

    /// The kind of what is to be predicted.
    pub fn target(&self) -> TargetKind {
        match self {
            Self::Ready(data) => data.training.target(),
            Self::NeedsBounds(table) => table.target(),
        }
    }

    /// The kind of the input.
    pub fn kind(&self) -> InputKind {
        match self {
            Self::Ready(data) => data.kind(),
            Self::NeedsBounds(_) => InputKind::Table,
        }
    }

    /// The public names of the classes.
    pub fn classes(&self) -> &[String] {
        match self {
            Self::Ready(data) => data.classes(),
            Self::NeedsBounds(table) => table.classes(),
        }
    }

    /// Whether there are test records that are declared public, or that are not.
    pub fn has_test(&self, declared_public: bool) -> bool {
        match self {
            Self::Ready(data) => {
                (data.test.as_ref()).is_some_and(|test| test.declared_public == declared_public)
            }
            Self::NeedsBounds(table) => table.has_test(declared_public),
        }
    }
}
