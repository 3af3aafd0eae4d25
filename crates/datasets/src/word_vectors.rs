//! Public word vectors, learned from other people's text long before.

use crate::formats::compressed;
use crate::hex;
use anyhow::{Context, Result, ensure};
use sha2::{Digest, Sha256};
use std::collections::HashMap;
use std::path::Path;

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
    pub fn number(&self, word: &str) -> Option<usize> {
        self.numbers.get(word).map(|number| *number as usize)
    }

    /// Checksum of the vectors, decompressed.
    pub fn sha256(&self) -> &str {
        &self.sha256
    }

    /// Frequencies by rank.
    pub fn zipf(&self) -> &Zipf {
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
}

/// Frequencies of words by their rank, as Zipf found them.
#[derive(Debug, Clone, PartialEq)]
pub struct Zipf {
    /// Σ 1/rank.
    ranks: f64,
    /// The mean vector of text with such frequencies.
    centre: Vec<f64>,
}

impl Zipf {
    /// Of vectors in the order of their words' frequency.
    pub fn new(dimension: usize, vectors: &[f32]) -> Self {
        let ranked = || (1..).map(f64::from).zip(vectors.chunks(dimension));
        let ranks: f64 = ranked().map(|(rank, _)| rank.recip()).sum();
        let mut centre = vec![0.0; dimension];
        for (rank, vector) in ranked() {
            for (sum, value) in centre.iter_mut().zip(vector) {
                *sum += f64::from(*value) / (rank * ranks);
            }
        }
        Self { ranks, centre }
    }

    /// How frequent the word of a rank is, which begins at 1.
    pub fn frequency(&self, rank: usize) -> f64 {
        (rank as f64 * self.ranks).recip()
    }

    /// The mean vector of text with such frequencies.
    pub fn centre(&self) -> &[f64] {
        &self.centre
    }
}
