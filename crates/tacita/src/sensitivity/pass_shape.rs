//! What the rows of a pass are.
//!
//! A *sample* is what is clipped and counted once: a record, or a unit of several records, whose rows lie one after
//! another. Samples that have equally many rows lie in one *part* of the pass, whose gradients can be taken apart by
//! their shape alone.

/// The samples of a pass, or of a part of it: those that count first, and then what fills it up to the size that all
/// passes have and counts for nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PassRows {
    /// Samples in the pass.
    pub all: usize,
    /// How many of them, the first ones, count.
    pub counted: usize,
}

impl From<usize> for PassRows {
    /// So many samples and nothing else.
    fn from(samples: usize) -> Self {
        Self {
            all: samples,
            counted: samples,
        }
    }
}

/// Samples of equally many rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct PartShape {
    pub samples: PassRows,
    /// Rows of each sample.
    pub records: usize,
}

/// The rows of a pass: one part after another.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct PassShape {
    parts: Vec<PartShape>,
    shares: Vec<f32>,
    weights: Vec<f32>,
}

impl From<PassRows> for PassShape {
    /// Samples of one record each.
    fn from(samples: PassRows) -> Self {
        Self::new(vec![PartShape {
            samples,
            records: 1,
        }])
    }
}

impl PassShape {
    /// These parts, in which every row of a sample has an equal share in its gradient: a sample's gradient is the
    /// mean over its rows.
    pub fn new(parts: Vec<PartShape>) -> Self {
        let shares = match parts.iter().all(|part| part.records == 1) {
            // Multiplying by 1 would cost something.
            true => Vec::new(),
            false => parts
                .iter()
                .flat_map(|part| {
                    let share = 1.0 / part.records.max(1) as f32;
                    std::iter::repeat_n(share, part.samples.all * part.records)
                })
                .collect(),
        };
        Self {
            parts,
            shares,
            weights: Vec::new(),
        }
    }

    /// So many samples of `records` rows each.
    pub fn of_equal(samples: usize, records: usize) -> Self {
        let samples = samples.into();
        Self::new(vec![PartShape { samples, records }])
    }

    /// The same with other shares, one for each row: of each sample they sum to 1.
    pub fn with_shares(self, shares: Vec<f32>) -> Self {
        Self { shares, ..self }
    }

    /// The same where a sample's contribution is multiplied by its weight, in the order of the rows.
    pub fn with_weights(self, weights: Vec<f32>) -> Self {
        let plain = weights.iter().all(|weight| *weight == 1.0);
        let weights = if plain { Vec::new() } else { weights };
        Self { weights, ..self }
    }

    /// One part after another.
    pub fn parts(&self) -> &[PartShape] {
        &self.parts
    }

    /// Rows in all.
    pub fn rows(&self) -> usize {
        let each = self.parts.iter();
        each.map(|part| part.samples.all * part.records).sum()
    }

    /// What each row's loss is multiplied by; empty if 1 for all.
    pub fn shares(&self) -> &[f32] {
        &self.shares
    }

    /// The weights of `count` samples from the `first` on; empty if 1 for all.
    pub fn weights(&self, first: usize, count: usize) -> &[f32] {
        self.weights.get(first..first + count).unwrap_or_default()
    }
}
