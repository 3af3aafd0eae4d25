//! GPT-2: learned positions, layer normalisation, linear layers stored the other way round.

use super::attend::Place;
use super::expect;
use crate::adapter::{self, Kind, Layer, Projection};
use crate::config::Config;
use crate::error::PretrainedError;
use crate::layout::Layout;
use crate::load::Loader;
use burn::module::Module;
use burn::nn::activation::{Activation, Gelu};
use burn::tensor::{Int, Tensor};
use tacita::layers::{Embedding, LayerNorm};
use tacita::ops;

/// A GPT-2 (Radford et al. 2019). Its output layer is its table of tokens. Dropout is left out: nothing is learned
/// for long enough to need it.
#[derive(Module, Debug)]
pub struct Gpt2 {
    /// The table of tokens.
    pub embedding: Embedding,
    /// The table of positions.
    pub positions: Embedding,
    /// The blocks, first to last.
    pub blocks: Vec<Gpt2Block>,
    /// The last normalisation.
    pub norm: LayerNorm,
}

/// A block of a [`Gpt2`].
#[derive(Module, Debug)]
pub struct Gpt2Block {
    /// Normalisation before attention.
    pub attention_norm: LayerNorm,
    /// To queries, keys and values, side by side.
    pub attention: Projection,
    /// From the context.
    pub output: Projection,
    /// Normalisation before the feed-forward layers.
    pub feed_forward_norm: LayerNorm,
    /// To the inner width.
    pub up: Projection,
    /// Back to the width of the network.
    pub down: Projection,
    /// Heads.
    pub heads: usize,
}

/// Sizes of a block.
struct Sizes {
    width: usize,
    inner: usize,
    heads: usize,
    epsilon: f64,
}

impl Gpt2 {
    pub(super) fn load(config: &Config, mut loader: Loader<'_>) -> Result<Self, PretrainedError> {
        expect(config, "activation_function", "gelu_new")?;
        for (key, usual) in [
            ("scale_attn_weights", true),
            ("scale_attn_by_inverse_layer_idx", false),
            ("add_cross_attention", false),
            ("tie_word_embeddings", true),
        ] {
            if config.switch(key, usual) != usual {
                return Err(PretrainedError::Config {
                    key,
                    seen: (!usual).to_string(),
                    known: format!("{usual} is"),
                });
            }
        }
        let width = config.size("n_embd")?;
        let sizes = Sizes {
            width,
            inner: config.size_or("n_inner", 4 * width)?,
            heads: config.size("n_head")?,
            epsilon: config.number("layer_norm_epsilon", 1e-5)?,
        };
        if !width.is_multiple_of(sizes.heads) {
            return Err(PretrainedError::Config {
                key: "n_head",
                seen: sizes.heads.to_string(),
                known: format!("it must divide n_embd = {width}"),
            });
        }
        // Masks that old files keep among the weights, and the output layer, which is the table of tokens.
        loader.weights.strip_prefix("transformer.");
        loader.weights.discard(|name| {
            let mask = [".attn.bias", ".attn.masked_bias"];
            name == "lm_head.weight" || mask.iter().any(|mask| name.ends_with(mask))
        });
        let (rows, positions) = (config.size("vocab_size")?, config.size("n_positions")?);
        let blocks = config.size("n_layer")?;
        Ok(Self {
            embedding: loader.embedding("wte", rows, width)?,
            positions: loader.embedding("wpe", positions, width)?,
            blocks: (0..blocks)
                .map(|block| Gpt2Block::load(block, &sizes, &mut loader))
                .collect::<Result<_, _>>()?,
            norm: loader.layer_norm("ln_f", width, sizes.epsilon)?,
        })
    }

    pub(super) fn forward(&self, tokens: Tensor<2, Int>, place: &mut Place<'_>) -> Tensor<3> {
        let positions = place.of_tokens(tokens.dims(), &tokens.device());
        let mut hidden = self.embedding.forward(tokens) + self.positions.forward(positions);
        for (index, block) in self.blocks.iter().enumerate() {
            hidden = block.forward(hidden, index, place);
        }
        self.norm.forward(hidden)
    }
}

impl Gpt2Block {
    fn load(block: usize, sizes: &Sizes, loader: &mut Loader<'_>) -> Result<Self, PretrainedError> {
        let name = |part: &str| format!("h.{block}.{part}");
        let (width, inner) = (sizes.width, sizes.inner);
        let mut projection =
            |part: &str, sizes| loader.projection(&name(part), sizes, true, Layout::InputFirst);
        let attention = projection("attn.c_attn", [width, 3 * width])?;
        let output = projection("attn.c_proj", [width, width])?;
        let up = projection("mlp.c_fc", [width, inner])?;
        let down = projection("mlp.c_proj", [inner, width])?;
        Ok(Self {
            attention_norm: loader.layer_norm(&name("ln_1"), width, sizes.epsilon)?,
            attention,
            output,
            feed_forward_norm: loader.layer_norm(&name("ln_2"), width, sizes.epsilon)?,
            up,
            down,
            heads: sizes.heads,
        })
    }

    fn forward(&self, hidden: Tensor<3>, index: usize, place: &mut Place<'_>) -> Tensor<3> {
        let [_, _, width] = hidden.dims();
        let all = self
            .attention
            .forward(self.attention_norm.forward(hidden.clone()));
        let inputs = [0, 1, 2].map(|part| all.clone().narrow(2, part * width, width));
        let context = place.attend(index, self.heads, inputs, |sequence| sequence);
        let hidden = hidden + self.output.forward(context);
        let inner = self
            .up
            .forward(self.feed_forward_norm.forward(hidden.clone()));
        // The approximation by a hyperbolic tangent.
        let inner = ops::activate(&Activation::Gelu(Gelu::new_approximate()), inner);
        hidden + self.down.forward(inner)
    }

    fn layers(&mut self, block: usize) -> Vec<Layer<'_>> {
        let place = adapter::Place::Block(block);
        let parts = [
            ("ln_1", Kind::LayerNorm(&mut self.attention_norm)),
            (
                "attn.c_attn",
                Kind::Projection(&mut self.attention, Layout::InputFirst),
            ),
            (
                "attn.c_proj",
                Kind::Projection(&mut self.output, Layout::InputFirst),
            ),
            ("ln_2", Kind::LayerNorm(&mut self.feed_forward_norm)),
            (
                "mlp.c_fc",
                Kind::Projection(&mut self.up, Layout::InputFirst),
            ),
            (
                "mlp.c_proj",
                Kind::Projection(&mut self.down, Layout::InputFirst),
            ),
        ];
        let layer = |(part, kind)| Layer {
            name: format!("transformer.h.{block}.{part}"),
            place,
            kind,
        };
        parts.into_iter().map(layer).collect()
    }
}

impl adapter::Network for Gpt2 {
    fn blocks(&self) -> usize {
        self.blocks.len()
    }

    fn layers(&mut self) -> Vec<Layer<'_>> {
        let embedding = |name: &str, table| Layer {
            name: name.into(),
            place: adapter::Place::Embeddings,
            kind: Kind::Embedding(table),
        };
        let mut layers = vec![
            embedding("transformer.wte", &mut self.embedding),
            embedding("transformer.wpe", &mut self.positions),
        ];
        for (index, block) in self.blocks.iter_mut().enumerate() {
            layers.extend(block.layers(index));
        }
        layers.push(Layer {
            name: "transformer.ln_f".into(),
            place: adapter::Place::End,
            kind: Kind::LayerNorm(&mut self.norm),
        });
        layers
    }
}
