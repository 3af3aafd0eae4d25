//! The mean of public word vectors of a text.

use super::fact::{Basis, Fact};
use super::words::words;
use crate::word_vectors::WordVectors;
use anyhow::{Result, ensure};
use serde::{Deserialize, Serialize};

/// How much rarer than this a word must be to count fully.
const RARE: f64 = 1e-3;

/// The weighted mean of the vectors of all known words of a text, scaled to length √dimension.
///
/// Frequent words count less, by a/(a + p) with a = 0.001, and what all texts share is taken off (Arora,
/// Liang and Ma 2017). The frequency p of a word comes from its rank in the public list by the Zipf distribution, not
/// from the records.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WordMeans {
    /// Numbers of one vector.
    pub dimension: usize,
    /// Checksum of the vectors, decompressed.
    pub sha256: String,
}

impl WordMeans {
    /// With these vectors.
    pub fn new(vectors: &WordVectors) -> Self {
        Self {
            dimension: vectors.dimension(),
            sha256: vectors.sha256().into(),
        }
    }

    /// Refuses other vectors than those of the preparation.
    pub(super) fn check(&self, vectors: &WordVectors) -> Result<()> {
        ensure!(
            vectors.sha256() == self.sha256 && vectors.dimension() == self.dimension,
            "these are not the word vectors the model was trained with: their checksum is {}, not {}",
            vectors.sha256(),
            self.sha256
        );
        Ok(())
    }

    /// Appends the mean of one text; zeros if no word is known.
    pub(super) fn push(&self, text: &str, vectors: &WordVectors, cells: &mut Vec<f32>) {
        let zipf = vectors.zipf();
        let mut sum = vec![0.0; self.dimension];
        for number in words(text).filter_map(|word| vectors.number(&word)) {
            let weight = RARE / (RARE + zipf.frequency(number));
            let vector = vectors.vector(number).iter().zip(zipf.centre());
            for (sum, (value, centre)) in sum.iter_mut().zip(vector) {
                *sum += weight * (f64::from(*value) - centre);
            }
        }
        let length = sum.iter().map(|value| value * value).sum::<f64>().sqrt();
        let scale = if length > 0.0 {
            (self.dimension as f64).sqrt() / length
        } else {
            0.0
        };
        cells.extend(sum.iter().map(|value| (value * scale) as f32));
    }

    pub(super) fn facts(&self) -> Vec<Fact> {
        vec![Fact {
            what: format!(
                "the mean of the public vectors of {} numbers (GloVe) of a text's words, weighted by public \
                 frequencies and scaled to one length",
                self.dimension
            ),
            basis: Basis::PublicConstant,
        }]
    }
}
