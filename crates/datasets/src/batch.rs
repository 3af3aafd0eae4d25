//! Records of one step, as tensors.

use crate::target::NumberLoss;
use burn::tensor::{Int, Tensor};

/// Records with what is to be predicted of each.
#[derive(Debug, Clone)]
pub struct Labelled<Inputs> {
    /// `[batch, ...]`
    pub inputs: Inputs,
    /// What is to be predicted.
    pub labels: Labels,
}

/// What is to be predicted of each record of a batch.
#[derive(Debug, Clone)]
pub enum Labels {
    /// Numbers of classes, `[batch]`.
    Classes(Tensor<1, Int>),
    /// Numbers scaled to [0, 1], `[batch]`, and what is minimised.
    Numbers(Tensor<1>, NumberLoss),
    /// 1 for each label a record has, else 0, `[batch, labels]`.
    Sets(Tensor<2>),
}

impl From<Tensor<1, Int>> for Labels {
    fn from(classes: Tensor<1, Int>) -> Self {
        Self::Classes(classes)
    }
}

impl Labels {
    /// Those of some records of the batch.
    #[must_use]
    pub fn select(self, records: Tensor<1, Int>) -> Self {
        match self {
            Self::Classes(classes) => Self::Classes(classes.select(0, records)),
            Self::Numbers(numbers, loss) => Self::Numbers(numbers.select(0, records), loss),
            Self::Sets(sets) => Self::Sets(sets.select(0, records)),
        }
    }
}
