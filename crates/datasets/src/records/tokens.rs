//! Token sequences of one length.

use super::{check, label_tensor};
use crate::Labelled;
use crate::random::SplitMix;
use anyhow::{Result, ensure};
use burn::tensor::{Device, Int, Tensor, TensorData};
use tacita::Records;

/// Token sequences with their classes; token 0 is padding.
#[derive(Debug, Clone, PartialEq)]
pub struct Tokens {
    length: usize,
    vocabulary: usize,
    classes: usize,
    tokens: Vec<u16>,
    labels: Vec<u16>,
}

impl Tokens {
    /// Sequences of `length` tokens below `vocabulary`.
    pub fn new(
        length: usize,
        vocabulary: usize,
        classes: usize,
        tokens: Vec<u16>,
        labels: Vec<u16>,
    ) -> Result<Self> {
        check(tokens.len(), length, &labels, classes)?;
        ensure!(
            tokens.iter().all(|&token| usize::from(token) < vocabulary),
            "a token is not below the size of the vocabulary, {vocabulary}"
        );
        Ok(Self {
            length,
            vocabulary,
            classes,
            tokens,
            labels,
        })
    }

    /// Tokens of each record.
    pub fn length(&self) -> usize {
        self.length
    }

    /// One more than the highest token.
    pub fn vocabulary(&self) -> usize {
        self.vocabulary
    }

    /// The class of each sequence.
    pub fn labels(&self) -> &[u16] {
        &self.labels
    }

    fn tensor(&self, tokens: Vec<i32>, device: &Device) -> Tensor<2, Int> {
        let shape = [tokens.len() / self.length, self.length];
        Tensor::from_data(TensorData::new(tokens, shape), device)
    }
}

impl Records for Tokens {
    type Batch = Labelled<Tensor<2, Int>>;

    fn count(&self) -> usize {
        self.labels.len()
    }

    fn batch(&self, indices: &[usize], device: &Device) -> Self::Batch {
        let mut tokens = Vec::with_capacity(indices.len() * self.length);
        for &index in indices {
            let record = &self.tokens[index * self.length..][..self.length];
            tokens.extend(record.iter().map(|&token| i32::from(token)));
        }
        Labelled {
            inputs: self.tensor(tokens, device),
            labels: label_tensor(indices.iter().map(|&index| self.labels[index]), device),
        }
    }

    fn synthetic(&self, seeds: &[u64], device: &Device) -> Self::Batch {
        let mut tokens = Vec::with_capacity(seeds.len() * self.length);
        let mut labels = Vec::with_capacity(seeds.len());
        for &seed in seeds {
            let mut random = SplitMix(seed);
            tokens.extend((0..self.length).map(|_| random.below(self.vocabulary as u64) as i32));
            labels.push(random.below(self.classes as u64) as u16);
        }
        Labelled {
            inputs: self.tensor(tokens, device),
            labels: label_tensor(labels.into_iter(), device),
        }
    }
}
