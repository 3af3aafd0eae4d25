//! A transformer encoder made of private layers.

use super::attention::MhaInput;
use super::{
    Dropout, DropoutConfig, LayerNorm, LayerNormConfig, MultiHeadAttention,
    MultiHeadAttentionConfig, PositionWiseFeedForward, PositionWiseFeedForwardConfig,
};
use burn::module::Module;
use burn::nn::Initializer;
use burn::nn::activation::ActivationConfig;
use burn::nn::transformer::TransformerEncoderConfig as Config;
use burn::tensor::{Bool, Device, Tensor};

layer_config! {
    /// Configuration of a [`TransformerEncoder`].
    TransformerEncoderConfig(Config);
    new(d_model: usize, d_ff: usize, n_heads: usize, n_layers: usize);
    with_dropout(f64), with_norm_first(bool), with_quiet_softmax(bool),
    with_initializer(Initializer), with_activation(ActivationConfig), with_layer_norm_eps(f64),
}

/// A stack of encoder layers; see [`burn::nn::transformer::TransformerEncoder`].
#[derive(Module, Debug)]
pub struct TransformerEncoder {
    /// The layers, first to last.
    pub layers: Vec<TransformerEncoderLayer>,
    /// The size of the model.
    pub d_model: usize,
    /// The size of the feed-forward layers.
    pub d_ff: usize,
    /// The number of heads.
    pub n_heads: usize,
    /// The number of layers.
    pub n_layers: usize,
    /// The dropout rate.
    pub dropout: f64,
    /// Whether normalisation comes before attention and feed-forward.
    pub norm_first: bool,
    /// Whether the softmax may attend to nothing.
    pub quiet_softmax: bool,
}

/// One layer of a [`TransformerEncoder`].
#[derive(Module, Debug)]
pub struct TransformerEncoderLayer {
    /// Self-attention.
    pub mha: MultiHeadAttention,
    /// Feed-forward.
    pub pwff: PositionWiseFeedForward,
    /// Normalisation around the feed-forward part.
    pub norm_1: LayerNorm,
    /// Normalisation around the attention part.
    pub norm_2: LayerNorm,
    /// Dropout of both parts.
    pub dropout: Dropout,
    /// Whether normalisation comes before attention and feed-forward.
    pub norm_first: bool,
}

/// What [`TransformerEncoder::forward`] reads.
#[derive(Debug)]
pub struct TransformerEncoderInput {
    tensor: Tensor<3>,
    mask_pad: Option<Tensor<2, Bool>>,
    mask_attn: Option<Tensor<3, Bool>>,
}

impl TransformerEncoderInput {
    /// A sequence, `[batch, positions, d_model]`.
    pub fn new(tensor: Tensor<3>) -> Self {
        Self {
            tensor,
            mask_pad: None,
            mask_attn: None,
        }
    }

    /// Positions that are padding, `[batch, positions]`.
    #[must_use]
    pub fn mask_pad(mut self, mask: Tensor<2, Bool>) -> Self {
        self.mask_pad = Some(mask);
        self
    }

    /// Pairs that may not attend, `[batch, positions, positions]`.
    #[must_use]
    pub fn mask_attn(mut self, mask: Tensor<3, Bool>) -> Self {
        self.mask_attn = Some(mask);
        self
    }
}

impl TransformerEncoderConfig {
    /// The encoder, with newly initialised parameters.
    pub fn init(&self, device: &Device) -> TransformerEncoder {
        TransformerEncoder {
            layers: (0..self.n_layers)
                .map(|_| self.init_layer(device))
                .collect(),
            d_model: self.d_model,
            d_ff: self.d_ff,
            n_heads: self.n_heads,
            n_layers: self.n_layers,
            dropout: self.dropout,
            norm_first: self.norm_first,
            quiet_softmax: self.quiet_softmax,
        }
    }

    fn init_layer(&self, device: &Device) -> TransformerEncoderLayer {
        let norm = LayerNormConfig::new(self.d_model).with_epsilon(self.layer_norm_eps);
        TransformerEncoderLayer {
            mha: MultiHeadAttentionConfig::new(self.d_model, self.n_heads)
                .with_initializer(self.initializer.clone())
                .with_dropout(self.dropout)
                .with_quiet_softmax(self.quiet_softmax)
                .init(device),
            pwff: PositionWiseFeedForwardConfig::new(self.d_model, self.d_ff)
                .with_initializer(self.initializer.clone())
                .with_dropout(self.dropout)
                .with_activation(self.activation.clone())
                .init(device),
            norm_1: norm.init(device),
            norm_2: norm.init(device),
            dropout: DropoutConfig::new(self.dropout).init(),
            norm_first: self.norm_first,
        }
    }
}

impl TransformerEncoder {
    /// Encodes a sequence.
    ///
    /// # Shapes
    /// - input and output: `[batch, positions, d_model]`
    pub fn forward(&self, input: TransformerEncoderInput) -> Tensor<3> {
        self.layers.iter().fold(input.tensor, |tensor, layer| {
            layer.forward(tensor, input.mask_pad.clone(), input.mask_attn.clone())
        })
    }
}

impl TransformerEncoderLayer {
    /// Applies attention and feed-forward, each around a residual connection.
    ///
    /// # Shapes
    /// - input and output: `[batch, positions, d_model]`
    pub fn forward(
        &self,
        input: Tensor<3>,
        mask_pad: Option<Tensor<2, Bool>>,
        mask_attn: Option<Tensor<3, Bool>>,
    ) -> Tensor<3> {
        let attend = |tensor: Tensor<3>| {
            let mut attention = MhaInput::self_attn(tensor);
            if let Some(mask) = mask_pad {
                attention = attention.mask_pad(mask);
            }
            if let Some(mask) = mask_attn {
                attention = attention.mask_attn(mask);
            }
            self.dropout.forward(self.mha.context(attention))
        };
        let feed = |tensor: Tensor<3>| self.dropout.forward(self.pwff.forward(tensor));
        if self.norm_first {
            let x = input.clone() + attend(self.norm_2.forward(input));
            x.clone() + feed(self.norm_1.forward(x))
        } else {
            // Burn applies norm_1 after attention and norm_2 after the feed-forward part.
            let x = self.norm_1.forward(input.clone() + attend(input));
            self.norm_2.forward(x.clone() + feed(x))
        }
    }
}
