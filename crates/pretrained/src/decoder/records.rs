//! Documents as records: tokens of a stated length, and which of them count.

use super::CausalBatch;
use crate::error::PretrainedError;
use burn::tensor::Device;
use serde::{Deserialize, Serialize};
use tacita::Records;

/// The tokens of a record. The first only begins the text; those from `counts_from` on are to be predicted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Example {
    tokens: Vec<u32>,
    counts_from: usize,
}

impl Example {
    /// A prompt and the text that should follow it, which alone counts, with the token that ends it.
    pub fn continuation(prompt: &[u32], continuation: &[u32], end: u32) -> Self {
        // Something must stand before the first token that counts.
        let begin: &[u32] = if prompt.is_empty() { &[end] } else { prompt };
        Self {
            tokens: [begin, continuation, &[end]].concat(),
            counts_from: begin.len(),
        }
    }

    /// A text, all of which counts.
    pub fn document(text: &[u32], end: u32) -> Self {
        Self::continuation(&[], text, end)
    }
}

/// What a record's loss is made of the surprise at its tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reduction {
    /// The mean: long records count as much as short ones.
    Mean,
    /// The sum: each token counts as much, until the record is clipped.
    Sum,
}

/// How much of a record is read. Public settings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shape {
    /// Tokens of a window.
    pub window: usize,
    /// Windows of a record.
    pub windows: usize,
    /// The loss of a record.
    pub reduction: Reduction,
}

/// A record as numbers, filled up to the stated length.
pub(super) struct Row {
    pub tokens: Vec<i64>,
    pub next: Vec<i64>,
    pub weights: Vec<f32>,
}

impl Row {
    pub fn counted(&self) -> usize {
        self.weights.iter().filter(|weight| **weight > 0.0).count()
    }
}

impl Shape {
    /// Tokens of a record that are read.
    pub fn positions(&self) -> usize {
        self.window * self.windows
    }

    /// What is read of a record: if it is too long, the beginning of its prompt is left out, and then the end of
    /// its text.
    pub(super) fn row(&self, example: &Example) -> Row {
        let room = self.positions() + 1;
        let more = example.tokens.len().saturating_sub(room);
        let dropped = more.min(example.counts_from - 1);
        let tokens = &example.tokens[dropped..];
        let tokens = &tokens[..tokens.len().min(room)];
        let before = example.counts_from - dropped;
        let counted = tokens.len().saturating_sub(before);
        let weight = match self.reduction {
            Reduction::Mean => 1.0 / counted.max(1) as f32,
            Reduction::Sum => 1.0,
        };
        let at = |position: usize| tokens.get(position).map_or(0, |token| i64::from(*token));
        let positions = 0..self.positions();
        Row {
            tokens: positions.clone().map(at).collect(),
            next: positions.clone().map(|position| at(position + 1)).collect(),
            weights: positions
                .map(
                    |position| match (before..tokens.len()).contains(&(position + 1)) {
                        true => weight,
                        false => 0.0,
                    },
                )
                .collect(),
        }
    }
}

/// Private texts, one a record.
#[derive(Debug, Clone)]
pub struct CausalRecords {
    examples: Vec<Example>,
    shape: Shape,
    vocabulary: usize,
}

impl CausalRecords {
    /// Records for a model of so many tokens. A token outside of them is an error: the tokenizer and the model
    /// are then not of one kind, and that is to be found before anything is spent.
    pub fn new(
        examples: Vec<Example>,
        shape: Shape,
        vocabulary: usize,
    ) -> Result<Self, PretrainedError> {
        let largest = examples.iter().flat_map(|example| &example.tokens).max();
        match largest.map_or(0, |token| *token as usize + 1) {
            tokens if tokens > vocabulary => Err(PretrainedError::Vocabulary {
                tokens,
                rows: vocabulary,
            }),
            _ => Ok(Self {
                examples,
                shape,
                vocabulary,
            }),
        }
    }
}

impl Records for CausalRecords {
    type Batch = CausalBatch;

    fn count(&self) -> usize {
        self.examples.len()
    }

    fn batch(&self, indices: &[usize], device: &Device) -> CausalBatch {
        let examples = indices.iter().map(|index| &self.examples[*index]);
        CausalBatch::of(examples, &self.shape, device)
    }

    fn synthetic(&self, seeds: &[u64], device: &Device) -> CausalBatch {
        let example = |seed: &u64| {
            let token = |position: usize| {
                // Steele, Lea & Flood 2014: the finaliser of SplitMix64, to spread seeds over tokens.
                let mut mixed = seed
                    .wrapping_mul(0x9e37_79b9_7f4a_7c15)
                    .wrapping_add(position as u64);
                mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
                mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
                ((mixed ^ (mixed >> 31)) % self.vocabulary as u64) as u32
            };
            Example {
                tokens: (0..=self.shape.positions()).map(token).collect(),
                counts_from: 1,
            }
        };
        let examples: Vec<Example> = seeds.iter().map(example).collect();
        CausalBatch::of(&examples, &self.shape, device)
    }
}
