//! An LSTM over embedded tokens; its state after the last of them is classified.

use super::loss::losses;
use burn::config::Config;
use burn::module::Module;
use burn::tensor::{Device, Int, Tensor};
use tacita::PrivateModel;
use tacita::layers::{Embedding, EmbeddingConfig, Linear, LinearConfig, Lstm, LstmConfig};
use tacita_datasets::Labelled;

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
    /// Whether sequences end with tokens 0 that only fill them up: the state before them is
    /// classified then, as if they were not there.
    #[config(default = false)]
    pub filled_up: bool,
}

/// A sequence classifier.
#[derive(Module, Debug)]
pub struct LstmClassifier {
    embedding: Embedding,
    lstm: Lstm,
    output: Linear,
    #[module(skip)]
    filled_up: bool,
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
            filled_up: self.filled_up,
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
        let (states, last) = self
            .lstm
            .forward(self.embedding.forward(tokens.clone()), None);
        let state = match self.filled_up {
            true => last_before_zeros(states, tokens),
            false => last.hidden,
        };
        self.output.forward(state)
    }
}

/// The state at the last token that is not 0, or at the first of a sequence without any.
///
/// # Shapes
/// - states: `[batch, positions, width]`, tokens: `[batch, positions]`, result: `[batch, width]`
fn last_before_zeros(states: Tensor<3>, tokens: Tensor<2, Int>) -> Tensor<2> {
    let [batch, positions, _] = states.dims();
    let places = Tensor::<1, Int>::arange(1..positions as i64 + 1, &tokens.device());
    let places = places.unsqueeze::<2>().expand([batch, positions]);
    let length = tokens.greater_elem(0).int().sum_dim(1).clamp_min(1);
    let is_last = places.equal(length.expand([batch, positions]));
    let is_last = is_last.float().unsqueeze_dim::<3>(2);
    (states * is_last).sum_dim(1).squeeze_dim(1)
}

impl PrivateModel<Labelled<Tensor<2, Int>>> for LstmClassifier {
    fn losses(&self, batch: Labelled<Tensor<2, Int>>) -> Tensor<1> {
        losses(self.forward(batch.inputs), batch.labels)
    }
}
