//! The loss: how surprising the tokens of a record are.

use super::{Decoder, Example, Reduction, Shape};
use crate::error::PretrainedError;
use burn::module::Module;
use burn::tensor::{Device, Int, Tensor, TensorData};
use tacita::{PrivateModel, ops};

/// Records as a [`Decoder`] takes them. A row is a record, whatever its windows.
#[derive(Debug, Clone)]
pub struct CausalBatch {
    /// Tokens that are read, `[batch, windows · window]`.
    pub tokens: Tensor<2, Int>,
    /// The token after each, of the same shape.
    pub next: Tensor<2, Int>,
    /// What the surprise at each next token counts, of the same shape.
    pub weights: Tensor<2>,
    /// Positions of a window.
    pub window: usize,
}

impl CausalBatch {
    /// The batch of some examples.
    pub fn of<'a>(
        examples: impl IntoIterator<Item = &'a Example>,
        shape: &Shape,
        device: &Device,
    ) -> Self {
        let (mut tokens, mut next, mut weights) = (Vec::new(), Vec::new(), Vec::new());
        let mut count = 0;
        for example in examples {
            let row = shape.row(example);
            tokens.extend(row.tokens);
            next.extend(row.next);
            weights.extend(row.weights);
            count += 1;
        }
        let sizes = [count, shape.positions()];
        Self {
            tokens: Tensor::from_data(TensorData::new(tokens, sizes), device),
            next: Tensor::from_data(TensorData::new(next, sizes), device),
            weights: Tensor::from_data(TensorData::new(weights, sizes), device),
            window: shape.window,
        }
    }
}

impl PrivateModel<CausalBatch> for Decoder {
    fn losses(&self, batch: CausalBatch) -> Tensor<1> {
        let [records, positions] = batch.tokens.dims();
        let scores = self.scores(self.hidden(batch.tokens, batch.window));
        let [_, _, vocabulary] = scores.dims();
        let rows = records * positions;
        let logarithms = ops::log_softmax(scores.reshape([rows, vocabulary]));
        let surprise = logarithms.gather(1, batch.next.reshape([rows, 1]));
        (surprise.reshape([records, positions]) * batch.weights)
            .sum_dim(1)
            .squeeze_dim::<1>(1)
            .neg()
    }
}

/// How surprising public texts are to a model.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Surprise {
    /// The sum over tokens, in nats.
    pub nats: f64,
    /// Tokens that count.
    pub tokens: usize,
}

impl Surprise {
    /// e to the mean surprise per token.
    pub fn perplexity(&self) -> f64 {
        (self.nats / self.tokens as f64).exp()
    }
}

/// How surprising *public* texts are, exactly. Of private records this would be a release without noise.
pub fn surprise(
    decoder: &Decoder,
    examples: &[Example],
    shape: &Shape,
    device: &Device,
) -> Result<Surprise, PretrainedError> {
    let summed = Shape {
        reduction: Reduction::Sum,
        ..*shape
    };
    let mut surprise = Surprise {
        nats: 0.0,
        tokens: 0,
    };
    let decoder = decoder.valid();
    for examples in examples.chunks(8) {
        let losses = decoder.losses(CausalBatch::of(examples, &summed, device));
        let losses = losses
            .inner()
            .into_data()
            .convert::<f64>()
            .try_into_vec::<f64>();
        surprise.nats += losses.unwrap_or_default().iter().sum::<f64>();
        let counted = examples.iter().map(|example| summed.row(example).counted());
        surprise.tokens += counted.sum::<usize>();
    }
    Ok(surprise)
}
