//! Public word vectors, learned from other people's text long before.

use super::word_means::Zipf;
use super::words::words;
use super::{Basis, Fact};
use crate::formats::compressed;
use crate::hex;
use crate::records::RowLayout;
use anyhow::{Context, Result, ensure};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

/// Vectors of GloVe (Pennington, Socher and Manning 2014) for a list of words; word 0 is a vector of
/// zeros and stands for padding.
#[derive(Debug, Clone, PartialEq)]
pub struct WordVectors {
    dimension: usize,
    numbers: HashMap<String, u32>,
    vectors: Vec<f32>,
    sha256: String,
    zipf: Zipf,
}

impl WordVectors {
    /// Reads `words.txt` (a word a line) and `vectors.f16le`, compressed or not (a row of half-precision numbers
    /// for each word) of a folder.
    pub fn read(folder: &Path) -> Result<Self> {
        let list = compressed::read_text(&folder.join("words.txt"))?;
        let file = compressed::find(folder, "vectors.f16le")
            .with_context(|| format!("{} lacks vectors.f16le", folder.display()))?;
        let bytes = compressed::read(&file)?;
        Self::new(&list, &bytes).with_context(|| format!("{}", file.display()))
    }

    fn new(list: &str, bytes: &[u8]) -> Result<Self> {
        let words: Vec<&str> = list.lines().collect();
        let (halves, rest) = bytes.as_chunks::<2>();
        ensure!(
            !words.is_empty()
                && rest.is_empty()
                && !halves.is_empty()
                && halves.len().is_multiple_of(words.len()),
            "{} bytes are not whole vectors for {} words",
            bytes.len(),
            words.len()
        );
        let dimension = halves.len() / words.len();
        let mut vectors = vec![0.0; dimension];
        vectors.extend(
            halves
                .iter()
                .map(|&half| half::f16::from_le_bytes(half).to_f32()),
        );
        ensure!(
            vectors.iter().all(|value| value.is_finite()),
            "a word vector is not finite"
        );
        let sha256 = hex(&Sha256::digest(bytes));
        let numbers = words
            .iter()
            .enumerate()
            .map(|(at, word)| ((*word).to_string(), at as u32 + 1))
            .collect();
        Ok(Self {
            zipf: Zipf::new(dimension, &vectors[dimension..]),
            dimension,
            numbers,
            vectors,
            sha256,
        })
    }

    /// Numbers of one vector.
    pub fn dimension(&self) -> usize {
        self.dimension
    }

    /// The number of a word, its rank by frequency, if it has a vector.
    pub(super) fn number(&self, word: &str) -> Option<usize> {
        self.numbers.get(word).map(|number| *number as usize)
    }

    /// Checksum of the vectors, decompressed.
    pub(super) fn sha256(&self) -> &str {
        &self.sha256
    }

    /// Frequencies by rank.
    pub(super) fn zipf(&self) -> &Zipf {
        &self.zipf
    }

    /// How many vectors there are, with that of padding.
    pub fn count(&self) -> usize {
        self.vectors.len() / self.dimension
    }

    /// The vector of a word by its number.
    pub fn vector(&self, number: usize) -> &[f32] {
        &self.vectors[number * self.dimension..][..self.dimension]
    }

    /// The preparation that uses the first `count` words of each text.
    pub fn first_words(&self, count: usize) -> Result<FirstWords> {
        ensure!(
            (1..=4096).contains(&count),
            "between 1 and 4096 words can be used, got {count}"
        );
        Ok(FirstWords {
            words: count,
            dimension: self.dimension,
            sha256: self.sha256.clone(),
        })
    }
}

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
    /// Appends the word numbers of one text.
    pub(super) fn push(&self, text: &str, vectors: &WordVectors, cells: &mut Vec<f32>) {
        let end = cells.len() + self.words;
        let known = words(text).filter_map(|word| vectors.numbers.get(&word));
        cells.extend(known.take(self.words).map(|&number| number as f32));
        cells.resize(end, 0.0);
    }

    pub(super) fn layout(&self, vectors: Arc<WordVectors>) -> Result<RowLayout> {
        ensure!(
            vectors.sha256 == self.sha256 && vectors.dimension == self.dimension,
            "these are not the word vectors the model was trained with: their checksum is {}, not {}",
            vectors.sha256,
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
