//! Burn's layers, made private: same names, same configurations, same records.
//!
//! Swap `burn::nn::Linear` for [`Linear`] and a model trains privately; nothing else changes.
//! Outside a recording ([`crate::sensitivity::tape::record`]) each layer computes what Burn's does. Initial weights
//! have the distributions of Burn's initialisers but come from the operating system or from
//! [`Keys::initial_weights`](crate::Keys::initial_weights), not from Burn's generator. Parameter-free
//! modules (activations, pooling) may be Burn's, but for [`Dropout`], whose masks must be secret;
//! [`MaxPool2d`] and the functions of [`crate::compute::backend::ops`] are faster on the CPU.
//!
//! ```
//! use burn::tensor::{Device, Tensor};
//! use tacita::layers::LinearConfig;
//!
//! let device = Device::default();
//! let layer = LinearConfig::new(4, 2).with_bias(false).init(&device);
//! assert_eq!(layer.forward(Tensor::<2>::ones([3, 4], &device)).dims(), [3, 2]);
//! // Weights go both ways.
//! let stock = burn::nn::Linear::from(layer);
//! let _private = tacita::layers::Linear::from(stock);
//! ```

#[macro_use]
mod config;
mod affine;
mod attention;
mod conv1d;
mod conv2d;
mod conv_transpose2d;
mod dropout;
mod embedding;
mod feed_forward;
mod gate;
mod group_norm;
mod gru;
mod layer_norm;
mod linear;
mod lstm;
mod lstm_bidirectional;
mod max_pool2d;
mod padding;
mod rms_norm;
mod transformer;

pub use attention::{MhaInput, MultiHeadAttention, MultiHeadAttentionConfig};
pub use burn::nn::LstmState;
pub use burn::nn::attention::MhaOutput;
pub use conv_transpose2d::{ConvTranspose2d, ConvTranspose2dConfig};
pub use conv1d::{Conv1d, Conv1dConfig};
pub use conv2d::{Conv2d, Conv2dConfig};
pub use dropout::{Dropout, DropoutConfig};
pub use embedding::{Embedding, EmbeddingConfig};
pub use feed_forward::{PositionWiseFeedForward, PositionWiseFeedForwardConfig};
pub use gate::GateController;
pub use group_norm::{GroupNorm, GroupNormConfig};
pub use gru::{Gru, GruConfig};
pub use layer_norm::{LayerNorm, LayerNormConfig};
pub use linear::{Linear, LinearConfig};
pub use lstm::{Lstm, LstmConfig};
pub use lstm_bidirectional::{BiLstm, BiLstmConfig};
pub use max_pool2d::{MaxPool2d, MaxPool2dConfig};
pub use rms_norm::{RmsNorm, RmsNormConfig};
pub use transformer::{
    TransformerEncoder, TransformerEncoderConfig, TransformerEncoderInput, TransformerEncoderLayer,
};
