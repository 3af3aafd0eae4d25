//! One more token for each text that is followed.

use crate::decoder::{Cache, Decoder};
use burn::tensor::{Device, Int, Tensor, TensorData};

/// A model and what it has read.
pub(super) struct Steps<'a> {
    decoder: &'a Decoder,
    cache: Cache,
    device: Device,
}

impl<'a> Steps<'a> {
    /// Reads a prompt; gives the scores of every token after it.
    pub fn begin(decoder: &'a Decoder, prompt: &[u32]) -> (Self, Vec<f32>) {
        let device = decoder.device();
        let mut steps = Self {
            decoder,
            cache: Cache::default(),
            device,
        };
        let scores = steps.read(prompt, [1, prompt.len()]);
        (steps, scores)
    }

    /// Continues with the given texts, each with one more token; gives the scores of every token after each.
    pub fn next(&mut self, texts: &[usize], tokens: &[u32]) -> Vec<f32> {
        let texts: Vec<i64> = texts.iter().map(|text| *text as i64).collect();
        let count = texts.len();
        let texts = Tensor::<1, Int>::from_data(TensorData::new(texts, [count]), &self.device);
        self.cache.select(texts);
        self.read(tokens, [count, 1])
    }

    fn read(&mut self, tokens: &[u32], sizes: [usize; 2]) -> Vec<f32> {
        let tokens: Vec<i64> = tokens.iter().map(|token| i64::from(*token)).collect();
        let tokens = Tensor::<2, Int>::from_data(TensorData::new(tokens, sizes), &self.device);
        let hidden = self.decoder.hidden_after(tokens, &mut self.cache);
        let last = hidden.narrow(1, sizes[1] - 1, 1);
        let scores = self.decoder.scores(last).inner().into_data();
        scores.convert::<f32>().try_into_vec().unwrap_or_default()
    }
}

/// Logarithms of the probabilities that scores stand for.
pub(super) fn log_probabilities(scores: &[f32]) -> Vec<f64> {
    let most = scores.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let apart = |score: &f32| f64::from(*score) - f64::from(most);
    let sum: f64 = scores.iter().map(|score| apart(score).exp()).sum();
    scores.iter().map(|score| apart(score) - sum.ln()).collect()
}
