//! An LSTM over embedded tokens; its last state is classified.

use super::batch::{Labelled, cross_entropy};
use burn::config::Config;
use burn::module::Module;
use burn::tensor::{Device, Int, Tensor};
use tacita::PrivateModel;
use tacita::layers::{Embedding, EmbeddingConfig, Linear, LinearConfig, Lstm, LstmConfig};

/// Configuration of an [`LstmClassifier`].
#[derive(Config, Debug)]
pub struct LstmClassifierConfig {
    /// Number of distinct tokens.
    pub vocabulary: usize,
    /// Width of an embedded token.
    pub width: usize,
    /// Width of the hidden state.
    pub hidden: usize,
    /// Number of classes.
    pub classes: usize,
}

/// A sequence classifier.
#[derive(Module, Debug)]
pub struct LstmClassifier {
    embedding: Embedding,
    lstm: Lstm,
    output: Linear,
}

impl LstmClassifierConfig {
    /// The benchmark's model of names: 128 characters, width 64, hidden 128, 18 classes.
    pub fn benchmark() -> Self {
        Self::new(128, 64, 128, 18)
    }

    /// The model, with newly initialised parameters.
    pub fn init(&self, device: &Device) -> LstmClassifier {
        LstmClassifier {
            embedding: EmbeddingConfig::new(self.vocabulary, self.width).init(device),
            lstm: LstmConfig::new(self.width, self.hidden, true).init(device),
            output: LinearConfig::new(self.hidden, self.classes).init(device),
        }
    }
}

impl LstmClassifier {
    /// Scores the classes.
    ///
    /// # Shapes
    /// - tokens: `[batch, positions]`
    /// - result: `[batch, classes]`
    pub fn forward(&self, tokens: Tensor<2, Int>) -> Tensor<2> {
        let (_, last) = self.lstm.forward(self.embedding.forward(tokens), None);
        self.output.forward(last.hidden)
    }
}

impl PrivateModel<Labelled<Tensor<2, Int>>> for LstmClassifier {
    fn losses(&self, batch: Labelled<Tensor<2, Int>>) -> Tensor<1> {
        cross_entropy(self.forward(batch.inputs), batch.labels)
    }
}
