//! Some prepared records, of any kind, with what is to be predicted of them.

use crate::targets::Targets;

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
