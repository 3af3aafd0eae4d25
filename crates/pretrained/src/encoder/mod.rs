//! Encoders: BERT and MiniLM, RoBERTa, MPNet, DistilBERT. One network; what differs is in [`Architecture`].

mod architecture;
mod block;
mod classifier;
mod embeddings;
mod network;
mod relative;
mod sizes;

pub use architecture::Architecture;
pub use block::Block;
pub use classifier::{Classifier, Head, Pooling};
pub use embeddings::Embeddings;
pub use network::Encoder;
pub use relative::RelativeBias;
pub use sizes::EncoderSizes;
