//! Some prepared records, of any kind, with what is to be predicted of them.

use crate::targets::Targets;
use sha2::{Digest, Sha256};

/// Some prepared records.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Chunk {
    /// What the model is given.
    pub values: Values,
    /// The numbers of columns without bounds, as they were; NaN where one is missing.
    pub unbounded: Vec<f64>,
    /// What is to be predicted.
    pub targets: Targets,
}

impl Chunk {
    /// No records yet, with targets like these.
    pub fn none(targets: &Targets) -> Self {
        Self {
            targets: targets.none_yet(),
            ..Self::default()
        }
    }

    /// Adds all of it to a hash.
    pub fn digest(&self, hash: &mut Sha256) {
        let Values {
            bytes,
            tokens,
            cells,
            ends,
        } = &self.values;
        hash.update(bytes);
        tokens.iter().for_each(|v| hash.update(v.to_le_bytes()));
        cells.iter().for_each(|v| hash.update(v.to_le_bytes()));
        ends.iter().for_each(|v| hash.update(v.to_le_bytes()));
        let unbounded = self.unbounded.iter();
        unbounded.for_each(|v| hash.update(v.to_le_bytes()));
        self.targets.digest(hash);
    }
}

/// Prepared values, of which one kind is in use.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Values {
    /// Images.
    pub bytes: Vec<u8>,
    /// Tokens.
    pub tokens: Vec<u16>,
    /// Cells of rows.
    pub cells: Vec<f32>,
    /// Where the cells of each record end, if they are not equally many.
    pub ends: Vec<usize>,
}
