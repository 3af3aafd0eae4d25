//! A pre-trained encoder with a head, as a model of this program.

use super::loss::losses;
use burn::module::Module;
use burn::tensor::{Int, Tensor};
use tacita::PrivateModel;
use tacita_datasets::Labelled;
use tacita_pretrained::encoder::{Architecture, Classifier, Head};

/// A pre-trained encoder with a head.
#[derive(Module, Debug)]
pub struct TextClassifier {
    /// The network.
    pub network: Classifier,
}

/// The head alone, on features that a frozen encoder gave.
#[derive(Module, Debug)]
pub struct TextHead {
    /// The layers.
    pub head: Head,
    /// The family of the encoder, by which the head's activation is chosen.
    #[module(skip)]
    pub architecture: Architecture,
}

impl TextClassifier {
    /// Scores the classes of texts given by their tokens, `[batch, length]`.
    pub fn forward(&self, tokens: Tensor<2, Int>) -> Tensor<2> {
        self.network.forward(tokens)
    }
}

impl TextHead {
    /// Scores the classes of texts given by their features, `[batch, width]`.
    pub fn forward(&self, features: Tensor<2>) -> Tensor<2> {
        self.head.forward(features, self.architecture)
    }
}

impl PrivateModel<Labelled<Tensor<2, Int>>> for TextClassifier {
    fn losses(&self, batch: Labelled<Tensor<2, Int>>) -> Tensor<1> {
        losses(self.forward(batch.inputs), batch.labels)
    }
}

impl PrivateModel<Labelled<Tensor<2>>> for TextHead {
    fn losses(&self, batch: Labelled<Tensor<2>>) -> Tensor<1> {
        losses(self.forward(batch.inputs), batch.labels)
    }
}

/// Tokens without labels, on which is checked whether everything learns.
impl PrivateModel<Tensor<2, Int>> for TextClassifier {
    fn losses(&self, tokens: Tensor<2, Int>) -> Tensor<1> {
        let values = self.forward(tokens);
        (values - 0.5).square().sum_dim(1).squeeze_dim(1)
    }
}
