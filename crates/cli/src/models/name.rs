//! Models by name.

use serde::{Deserialize, Serialize};
use tacita_datasets::Shape;

/// The name of a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ModelName {
    /// One linear layer.
    Logistic,
    /// Two hidden layers.
    Mlp,
    /// Two tanh convolutions (Papernot et al. 2021), one for very small images.
    Cnn,
    /// The same with ReLU, as in the program of Du et al. 2021 for MNIST.
    ReluCnn,
    /// The CNN of Galli et al. 2024: 551,322 parameters on MNIST.
    OnlineCnn,
    /// The CNN of Du et al. 2021; its sizes, which they leave open, are small: 8,194 parameters on MNIST.
    DynamicCnn,
    /// The same with more channels: 15,642 parameters on MNIST.
    WideDynamicCnn,
    /// The CNN of PyTorch's example for MNIST: 21,840 parameters.
    ExampleCnn,
    /// Residual network with group normalisation, for 32 × 32 images.
    Resnet9,
    /// VGG-11, for images whose width is a multiple of 32.
    Vgg11,
    /// Convolutional autoencoder of Galli et al. 2024: 48,705 parameters on grey images.
    Autoencoder,
    /// LSTM over embedded tokens.
    Lstm,
    /// Mean of learned word vectors through a hidden layer.
    EmbeddingMlp,
    /// Word vectors that are public through two hidden layers (Galli et al. 2024).
    BagOfWords,
    /// Transformer encoder.
    Transformer,
    /// The pre-trained encoder of --pretrained.
    Pretrained,
}

impl ModelName {
    /// The model that suits a kind of data.
    pub fn suited_to(shape: Shape) -> Self {
        match shape {
            Shape::Images(_) => Self::Cnn,
            // Short sequences are characters of names; long ones are words.
            Shape::Tokens { length, .. } if length <= 32 => Self::Lstm,
            Shape::Tokens { .. } => Self::EmbeddingMlp,
            // A linear model learns most of what a table or a text's counts can teach under noise.
            Shape::Rows { .. } => Self::Logistic,
        }
    }

    /// The name on the command line.
    pub fn name(self) -> String {
        let value = clap::ValueEnum::to_possible_value(&self);
        value.map_or_else(String::new, |value| value.get_name().to_string())
    }
}
