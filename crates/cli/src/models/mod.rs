//! Models, one file each, made of the private layers, and the registry that makes them by name.

mod autoencoder;
mod bench;
mod cnn;
mod embedding_mlp;
mod loss;
mod lstm;
mod mlp;
mod name;
mod registry;
mod resnet9;
mod scored;
mod text_classifier;
mod transformer;
mod vgg11;

pub use autoencoder::AutoencoderConfig;
pub use bench::{Bench, Erase, Kind};
pub use cnn::CnnConfig;
#[cfg(test)]
pub use cnn::ConvolutionConfig;
pub use embedding_mlp::EmbeddingMlpConfig;
pub use loss::{MIDDLE, STEP};
pub use lstm::LstmClassifierConfig;
pub use mlp::MlpConfig;
pub use name::ModelName;
pub use registry::ModelSpec;
pub use resnet9::Resnet9Config;
pub use scored::{Score, Scored};
pub use text_classifier::{TextClassifier, TextHead};
pub use transformer::TransformerConfig;
pub use vgg11::Vgg11Config;

#[cfg(test)]
mod tests;
