//! The first words of a text, each as its public vector.

use super::fact::{Basis, Fact};
use super::words::words;
use crate::records::RowLayout;
use crate::word_vectors::WordVectors;
use anyhow::{Result, ensure};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// The first words of a text that have a vector, one vector after the other; zeros if there are
/// fewer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FirstWords {
    /// How many words are used.
    pub words: usize,
    /// Numbers of one vector.
    pub dimension: usize,
    /// Checksum of the vectors, decompressed.
    pub sha256: String,
}

impl FirstWords {
    /// The first `count` words, with these vectors.
    pub fn new(vectors: &WordVectors, count: usize) -> Result<Self> {
        ensure!(
            (1..=4096).contains(&count),
            "between 1 and 4096 words can be used, got {count}"
        );
        Ok(Self {
            words: count,
            dimension: vectors.dimension(),
            sha256: vectors.sha256().into(),
        })
    }

    /// Appends the word numbers of one text.
    pub(super) fn push(&self, text: &str, vectors: &WordVectors, cells: &mut Vec<f32>) {
        let end = cells.len() + self.words;
        let known = words(text).filter_map(|word| vectors.number(&word));
        cells.extend(known.take(self.words).map(|number| number as f32));
        cells.resize(end, 0.0);
    }

    pub(super) fn layout(&self, vectors: Arc<WordVectors>) -> Result<RowLayout> {
        ensure!(
            vectors.sha256() == self.sha256 && vectors.dimension() == self.dimension,
            "these are not the word vectors the model was trained with: their checksum is {}, not {}",
            vectors.sha256(),
            self.sha256
        );
        Ok(RowLayout::Words(self.words, vectors))
    }

    pub(super) fn facts(&self) -> Vec<Fact> {
        vec![Fact {
            what: format!(
                "the first {} words that have a public vector of {} numbers (GloVe), unchanged",
                self.words, self.dimension
            ),
            basis: Basis::PublicConstant,
        }]
    }
}
