//! Multi-head attention made of private linear layers.

use super::{Dropout, Linear};
use crate::compute::backend::ops;
use burn::module::Module;
use burn::nn::activation::Gelu;
use burn::nn::attention::{MhaOutput, MultiHeadAttentionConfig as Config};
use burn::nn::{self, Initializer};
use burn::tensor::activation::quiet_softmax;
use burn::tensor::{Bool, Tensor};

layer_config! {
    /// Configuration of a [`MultiHeadAttention`] layer.
    MultiHeadAttentionConfig(Config) => MultiHeadAttention;
    new(d_model: usize, n_heads: usize);
    with_dropout(f64), with_min_float(f64), with_quiet_softmax(bool),
    with_initializer(Initializer), with_key_bias(bool), with_value_bias(bool),
    with_query_bias(bool), with_output_bias(bool),
}

/// Multi-head attention; see [`nn::attention::MultiHeadAttention`].
#[derive(Module, Debug)]
pub struct MultiHeadAttention {
    /// Maps the input to queries.
    pub query: Linear,
    /// Maps the input to keys.
    pub key: Linear,
    /// Maps the input to values.
    pub value: Linear,
    /// Maps the context to the output.
    pub output: Linear,
    /// Dropout of attention weights.
    pub dropout: Dropout,
    /// Kept for Burn's record layout.
    pub activation: Gelu,
    /// The size of each linear layer.
    pub d_model: usize,
    /// The number of heads.
    pub n_heads: usize,
    /// The size of a head.
    pub d_k: usize,
    /// The score of a masked position.
    pub min_float: f64,
    /// Whether the softmax may attend to nothing.
    pub quiet_softmax: bool,
}

same_fields!(MultiHeadAttention, nn::attention::MultiHeadAttention {
    activation, d_model, n_heads, d_k, min_float, quiet_softmax;
    dropout, query, key, value, output
});

/// What [`MultiHeadAttention::forward`] attends to.
#[derive(Debug, Clone)]
pub struct MhaInput {
    query: Tensor<3>,
    key: Tensor<3>,
    value: Tensor<3>,
    mask_pad: Option<Tensor<2, Bool>>,
    mask_attn: Option<Tensor<3, Bool>>,
}

impl MhaInput {
    /// A sequence that attends to itself, `[batch, positions, d_model]`.
    pub fn self_attn(tensor: Tensor<3>) -> Self {
        Self::new(tensor.clone(), tensor.clone(), tensor)
    }

    /// Queries `[batch, positions_1, d_model]` over keys and values `[batch, positions_2, d_model]`.
    pub fn new(query: Tensor<3>, key: Tensor<3>, value: Tensor<3>) -> Self {
        Self {
            query,
            key,
            value,
            mask_pad: None,
            mask_attn: None,
        }
    }

    /// Positions of the keys that are padding, `[batch, positions_2]`.
    #[must_use]
    pub fn mask_pad(mut self, mask: Tensor<2, Bool>) -> Self {
        self.mask_pad = Some(mask);
        self
    }

    /// Pairs that may not attend, `[batch, positions_1, positions_2]`.
    #[must_use]
    pub fn mask_attn(mut self, mask: Tensor<3, Bool>) -> Self {
        self.mask_attn = Some(mask);
        self
    }
}

impl MultiHeadAttention {
    fn drawn(self, config: &Config) -> Self {
        Self {
            query: self.query.drawn_as_part(&config.initializer),
            key: self.key.drawn_as_part(&config.initializer),
            value: self.value.drawn_as_part(&config.initializer),
            output: self.output.drawn_as_part(&config.initializer),
            ..self
        }
    }

    /// The context alone: without masks and dropout, the weights need not be handed out.
    pub(super) fn context(&self, input: MhaInput) -> Tensor<3> {
        let masked = input.mask_pad.is_some() || input.mask_attn.is_some();
        if masked || self.quiet_softmax || self.dropout.prob > 0.0 {
            return self.forward(input).context;
        }
        let query = self.query.forward(input.query);
        let key = self.key.forward(input.key);
        let value = self.value.forward(input.value);
        let context = ops::attention(query, key, value, self.n_heads);
        self.output.forward(context)
    }

    /// Attends.
    ///
    /// # Shapes
    /// - query: `[batch, positions_1, d_model]`; key and value: `[batch, positions_2, d_model]`
    /// - context: `[batch, positions_1, d_model]`
    pub fn forward(&self, input: MhaInput) -> MhaOutput {
        let [batch, positions, _] = input.query.dims();
        let heads = |sequence: Tensor<3>| {
            let [_, length, _] = sequence.dims();
            sequence
                .reshape([batch, length, self.n_heads, self.d_k])
                .swap_dims(1, 2)
        };
        let query = heads(self.query.forward(input.query));
        let key = heads(self.key.forward(input.key));
        let value = heads(self.value.forward(input.value));

        let mut scores =
            ops::matmul(query, key.swap_dims(2, 3)).div_scalar((self.d_k as f32).sqrt());
        if let Some(mask) = input.mask_pad {
            let [_, length] = mask.dims();
            scores = scores.mask_fill(mask.reshape([batch, 1, 1, length]), self.min_float);
        }
        if let Some(mask) = input.mask_attn {
            let [_, rows, columns] = mask.dims();
            scores = scores.mask_fill(mask.reshape([batch, 1, rows, columns]), self.min_float);
        }
        let weights = if self.quiet_softmax {
            quiet_softmax(scores, 3)
        } else {
            ops::softmax(scores)
        };
        let weights = self.dropout.forward(weights);
        let context = ops::matmul(weights.clone(), value).swap_dims(1, 2);
        let context = context.reshape([batch, positions, self.d_model]);
        MhaOutput {
            weights,
            context: self.output.forward(context),
        }
    }
}
