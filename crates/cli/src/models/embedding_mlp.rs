//! The mean of word vectors through two linear layers.

use super::loss::losses;
use burn::config::Config;
use burn::module::Module;
use burn::tensor::{Device, Int, Tensor};
use tacita::PrivateModel;
use tacita::layers::{Embedding, EmbeddingConfig, Linear, LinearConfig};
use tacita::ops::relu;
use tacita_datasets::Labelled;

/// Configuration of an [`EmbeddingMlp`].
#[derive(Config, Debug)]
pub struct EmbeddingMlpConfig {
    /// Number of distinct tokens.
    pub vocabulary: usize,
    /// Width of a word vector and of the hidden layer.
    pub width: usize,
    /// Number of classes.
    pub classes: usize,
}

/// A text classifier that ignores word order.
#[derive(Module, Debug)]
pub struct EmbeddingMlp {
    embedding: Embedding,
    hidden: Linear,
    output: Linear,
}

impl EmbeddingMlpConfig {
    /// The benchmark's model: 10,000 words, width 16, two classes.
    pub fn benchmark() -> Self {
        Self::new(10_000, 16, 2)
    }

    /// The model, with newly initialised parameters.
    pub fn init(&self, device: &Device) -> EmbeddingMlp {
        EmbeddingMlp {
            embedding: EmbeddingConfig::new(self.vocabulary, self.width).init(device),
            hidden: LinearConfig::new(self.width, self.width).init(device),
            output: LinearConfig::new(self.width, self.classes).init(device),
        }
    }
}

impl EmbeddingMlp {
    /// Scores the classes.
    ///
    /// # Shapes
    /// - tokens: `[batch, positions]`
    /// - result: `[batch, classes]`
    pub fn forward(&self, tokens: Tensor<2, Int>) -> Tensor<2> {
        let mean = self.embedding.forward_mean(tokens);
        self.output.forward(relu(self.hidden.forward(mean)))
    }
}

impl PrivateModel<Labelled<Tensor<2, Int>>> for EmbeddingMlp {
    fn losses(&self, batch: Labelled<Tensor<2, Int>>) -> Tensor<1> {
        losses(self.forward(batch.inputs), batch.labels)
    }
}
