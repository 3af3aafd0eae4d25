//! A transformer encoder whose mean output is classified.

use super::loss::losses;
use burn::config::Config;
use burn::module::Module;
use burn::tensor::{Device, Int, Tensor};
use tacita::PrivateModel;
use tacita::layers::{
    Embedding, EmbeddingConfig, LayerNorm, LayerNormConfig, Linear, LinearConfig,
    TransformerEncoder, TransformerEncoderConfig, TransformerEncoderInput,
};
use tacita_datasets::Labelled;

/// Configuration of a [`Transformer`].
#[derive(Config, Debug)]
pub struct TransformerConfig {
    /// Number of distinct tokens.
    pub vocabulary: usize,
    /// Longest sequence.
    pub positions: usize,
    /// Width of the residual stream.
    pub width: usize,
    /// Width of the feed-forward part.
    pub feed_forward: usize,
    /// Attention heads.
    pub heads: usize,
    /// Encoder layers.
    pub layers: usize,
    /// Number of classes.
    pub classes: usize,
}

/// A text classifier with learned positions, normalisation before each part, and no dropout.
#[derive(Module, Debug)]
pub struct Transformer {
    tokens: Embedding,
    positions: Embedding,
    encoder: TransformerEncoder,
    norm: LayerNorm,
    output: Linear,
}

impl TransformerConfig {
    /// The benchmark's model: 4 layers of width 256, 4 heads, 128 positions, 10,000 tokens.
    pub fn benchmark() -> Self {
        Self::new(10_000, 128, 256, 1024, 4, 4, 2)
    }

    /// The model, with newly initialised parameters.
    pub fn init(&self, device: &Device) -> Transformer {
        let encoder =
            TransformerEncoderConfig::new(self.width, self.feed_forward, self.heads, self.layers)
                .with_norm_first(true)
                .with_dropout(0.0);
        Transformer {
            tokens: EmbeddingConfig::new(self.vocabulary, self.width).init(device),
            positions: EmbeddingConfig::new(self.positions, self.width).init(device),
            encoder: encoder.init(device),
            norm: LayerNormConfig::new(self.width).init(device),
            output: LinearConfig::new(self.width, self.classes).init(device),
        }
    }
}

impl Transformer {
    /// Scores the classes.
    ///
    /// # Shapes
    /// - tokens: `[batch, positions]`
    /// - result: `[batch, classes]`
    pub fn forward(&self, tokens: Tensor<2, Int>) -> Tensor<2> {
        let [batch, length] = tokens.dims();
        // One row of positions per record, so that each record's use of the table is its own.
        let positions = Tensor::<1, Int>::arange(0..length as i64, &tokens.device())
            .reshape([1, length])
            .expand([batch, length]);
        let input = self.tokens.forward(tokens) + self.positions.forward(positions);
        let encoded = self.encoder.forward(TransformerEncoderInput::new(input));
        let mean = self.norm.forward(encoded).mean_dim(1).squeeze_dim::<2>(1);
        self.output.forward(mean)
    }
}

impl PrivateModel<Labelled<Tensor<2, Int>>> for Transformer {
    fn losses(&self, batch: Labelled<Tensor<2, Int>>) -> Tensor<1> {
        losses(self.forward(batch.inputs), batch.labels)
    }
}
