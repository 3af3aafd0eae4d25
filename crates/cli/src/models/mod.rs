//! Models, one file each, made of the private layers.

mod autoencoder;
mod batch;
mod cnn;
mod embedding_mlp;
mod lstm;
mod mlp;
mod resnet9;
mod scored;
mod transformer;
mod vgg11;

pub use autoencoder::AutoencoderConfig;
pub use batch::{Labelled, Unlabelled};
pub use cnn::CnnConfig;
#[cfg(test)]
pub use cnn::ConvolutionConfig;
pub use embedding_mlp::EmbeddingMlpConfig;
pub use lstm::LstmClassifierConfig;
pub use mlp::MlpConfig;
pub use resnet9::Resnet9Config;
pub use scored::{Score, Scored};
pub use transformer::TransformerConfig;
pub use vgg11::Vgg11Config;

#[cfg(test)]
mod tests;
