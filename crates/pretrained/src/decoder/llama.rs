//! Llama: rotary positions, root-mean-square normalisation, gated layers, shared heads of keys and values.

use super::attend::Place;
use super::expect;
use super::rotary::Rotary;
use crate::adapter::{self, Kind, Layer, Projection};
use crate::config::Config;
use crate::error::PretrainedError;
use crate::layout::Layout;
use crate::load::Loader;
use burn::module::Module;
use burn::tensor::activation::silu;
use burn::tensor::{Int, Tensor};
use tacita::layers::{Embedding, Linear, RmsNorm};

/// A Llama (Touvron et al. 2023, arXiv:2302.13971, §2.2; shared heads: Ainslie et al. 2023, arXiv:2305.13245).
#[derive(Module, Debug)]
pub struct Llama {
    /// The table of tokens.
    pub embedding: Embedding,
    /// The blocks, first to last.
    pub blocks: Vec<LlamaBlock>,
    /// The last normalisation.
    pub norm: RmsNorm,
    /// The output layer, if it is not the table of tokens.
    pub output: Option<Linear>,
    /// Positions that it was trained on.
    pub positions: usize,
    /// Values of a head.
    pub head: usize,
    /// The base of the rotary frequencies.
    pub rotary_base: f64,
}

/// A block of a [`Llama`].
#[derive(Module, Debug)]
pub struct LlamaBlock {
    /// Normalisation before attention.
    pub attention_norm: RmsNorm,
    /// To queries.
    pub query: Projection,
    /// To keys.
    pub key: Projection,
    /// To values.
    pub value: Projection,
    /// From the context.
    pub output: Projection,
    /// Normalisation before the gated layers.
    pub gated_norm: RmsNorm,
    /// To the gate.
    pub gate: Projection,
    /// To what is gated.
    pub up: Projection,
    /// Back to the width of the network.
    pub down: Projection,
    /// Heads of the queries.
    pub heads: usize,
}

/// Sizes of a Llama.
struct Sizes {
    width: usize,
    heads: usize,
    key_heads: usize,
    head: usize,
    inner: usize,
    epsilon: f64,
    attention_bias: bool,
    gated_bias: bool,
}

impl Sizes {
    fn read(config: &Config) -> Result<Self, PretrainedError> {
        expect(config, "hidden_act", "silu")?;
        let (width, heads) = (
            config.size("hidden_size")?,
            config.size("num_attention_heads")?,
        );
        let sizes = Self {
            width,
            heads,
            key_heads: config.size_or("num_key_value_heads", heads)?,
            head: config.size_or("head_dim", width / heads)?,
            inner: config.size("intermediate_size")?,
            epsilon: config.number("rms_norm_eps", 1e-6)?,
            attention_bias: config.switch("attention_bias", false),
            gated_bias: config.switch("mlp_bias", false),
        };
        let wrong = |key, seen: usize, known: String| PretrainedError::Config {
            key,
            seen: seen.to_string(),
            known,
        };
        if !sizes.heads.is_multiple_of(sizes.key_heads) {
            let known = format!("it must divide the {heads} heads of the queries");
            return Err(wrong("num_key_value_heads", sizes.key_heads, known));
        }
        if sizes.head == 0 || !sizes.head.is_multiple_of(2) {
            let known = "a head must have an even width above 0".into();
            return Err(wrong("head_dim", sizes.head, known));
        }
        Ok(sizes)
    }
}

/// The base of the rotary frequencies. Newer files keep it among the `rope_parameters`.
fn rotary_base(config: &Config) -> Result<f64, PretrainedError> {
    let parameters = ["rope_parameters", "rope_scaling"].map(|key| config.value(key));
    let parameters = parameters
        .into_iter()
        .flatten()
        .find(|value| !value.is_null());
    let Some(parameters) = parameters else {
        return config.number("rope_theta", 10_000.0);
    };
    let kinds = ["rope_type", "type"].map(|key| parameters.get(key));
    let kind = kinds.into_iter().flatten().next();
    if kind.is_some_and(|kind| kind != "default") {
        return Err(PretrainedError::Config {
            key: "rope_parameters",
            seen: parameters.to_string(),
            known: "rotary positions of the type `default` are".into(),
        });
    }
    match parameters
        .get("rope_theta")
        .and_then(serde_json::Value::as_f64)
    {
        Some(base) => Ok(base),
        None => config.number("rope_theta", 10_000.0),
    }
}

impl Llama {
    pub(super) fn load(config: &Config, mut loader: Loader<'_>) -> Result<Self, PretrainedError> {
        let (sizes, rows) = (Sizes::read(config)?, config.size("vocab_size")?);
        let rotary_base = rotary_base(config)?;
        loader
            .weights
            .discard(|name| name.ends_with(".rotary_emb.inv_freq"));
        let tied = config.switch("tie_word_embeddings", false);
        if tied {
            loader.weights.discard(|name| name == "lm_head.weight");
        }
        let blocks = config.size("num_hidden_layers")?;
        Ok(Self {
            embedding: loader.embedding("model.embed_tokens", rows, sizes.width)?,
            blocks: (0..blocks)
                .map(|block| LlamaBlock::load(block, &sizes, &mut loader))
                .collect::<Result<_, _>>()?,
            norm: norm(&mut loader, "model.norm", &sizes)?,
            output: match tied {
                true => None,
                false => {
                    let sizes = [sizes.width, rows];
                    Some(loader.linear("lm_head", sizes, false, Layout::OutputFirst)?)
                }
            },
            positions: config.size("max_position_embeddings")?,
            head: sizes.head,
            rotary_base,
        })
    }

    pub(super) fn forward(&self, tokens: Tensor<2, Int>, place: &mut Place<'_>) -> Tensor<3> {
        let [_, count] = tokens.dims();
        let (first, window) = place.positions(count);
        let rotary = Rotary::new(self.rotary_base, self.head, first, window, &tokens.device());
        let mut hidden = self.embedding.forward(tokens);
        for (index, block) in self.blocks.iter().enumerate() {
            hidden = block.forward(hidden, index, &rotary, place);
        }
        self.norm.forward(hidden)
    }

    pub(super) fn scores(&self, hidden: Tensor<3>) -> Tensor<3> {
        match &self.output {
            Some(output) => output.forward(hidden),
            None => self.embedding.tied_output(hidden),
        }
    }
}

fn norm(loader: &mut Loader<'_>, name: &str, sizes: &Sizes) -> Result<RmsNorm, PretrainedError> {
    Ok(RmsNorm {
        gamma: loader.parameter(&format!("{name}.weight"), [sizes.width])?,
        epsilon: sizes.epsilon,
    })
}

impl LlamaBlock {
    fn load(block: usize, sizes: &Sizes, loader: &mut Loader<'_>) -> Result<Self, PretrainedError> {
        let queries = sizes.heads * sizes.head;
        let keys = sizes.key_heads * sizes.head;
        let name = |part: &str| format!("model.layers.{block}.{part}");
        let (attention, gated) = (sizes.attention_bias, sizes.gated_bias);
        let (width, inner) = (sizes.width, sizes.inner);
        let mut projection = |part: &str, sizes, bias| {
            loader.projection(&name(part), sizes, bias, Layout::OutputFirst)
        };
        let query = projection("self_attn.q_proj", [width, queries], attention)?;
        let key = projection("self_attn.k_proj", [width, keys], attention)?;
        let value = projection("self_attn.v_proj", [width, keys], attention)?;
        let output = projection("self_attn.o_proj", [queries, width], attention)?;
        let gate = projection("mlp.gate_proj", [width, inner], gated)?;
        let up = projection("mlp.up_proj", [width, inner], gated)?;
        let down = projection("mlp.down_proj", [inner, width], gated)?;
        Ok(Self {
            attention_norm: norm(loader, &name("input_layernorm"), sizes)?,
            query,
            key,
            value,
            output,
            gated_norm: norm(loader, &name("post_attention_layernorm"), sizes)?,
            gate,
            up,
            down,
            heads: sizes.heads,
        })
    }

    fn forward(
        &self,
        hidden: Tensor<3>,
        index: usize,
        rotary: &Rotary,
        place: &mut Place<'_>,
    ) -> Tensor<3> {
        let normal = self.attention_norm.forward(hidden.clone());
        let inputs = [
            self.query.forward(normal.clone()),
            self.key.forward(normal.clone()),
            self.value.forward(normal),
        ];
        let context = place.attend(index, self.heads, inputs, |sequence| rotary.turn(sequence));
        let hidden = hidden + self.output.forward(context);
        let normal = self.gated_norm.forward(hidden.clone());
        let gated = silu(self.gate.forward(normal.clone())) * self.up.forward(normal);
        hidden + self.down.forward(gated)
    }

    fn layers(&mut self, block: usize) -> Vec<Layer<'_>> {
        let name = |part: &str| format!("model.layers.{block}.{part}");
        let place = adapter::Place::Block(block);
        let parts = [
            ("input_layernorm", Kind::RmsNorm(&mut self.attention_norm)),
            (
                "self_attn.q_proj",
                Kind::Projection(&mut self.query, Layout::OutputFirst),
            ),
            (
                "self_attn.k_proj",
                Kind::Projection(&mut self.key, Layout::OutputFirst),
            ),
            (
                "self_attn.v_proj",
                Kind::Projection(&mut self.value, Layout::OutputFirst),
            ),
            (
                "self_attn.o_proj",
                Kind::Projection(&mut self.output, Layout::OutputFirst),
            ),
            (
                "post_attention_layernorm",
                Kind::RmsNorm(&mut self.gated_norm),
            ),
            (
                "mlp.gate_proj",
                Kind::Projection(&mut self.gate, Layout::OutputFirst),
            ),
            (
                "mlp.up_proj",
                Kind::Projection(&mut self.up, Layout::OutputFirst),
            ),
            (
                "mlp.down_proj",
                Kind::Projection(&mut self.down, Layout::OutputFirst),
            ),
        ];
        let layer = |(part, kind)| Layer {
            name: name(part),
            place,
            kind,
        };
        parts.into_iter().map(layer).collect()
    }
}

impl adapter::Network for Llama {
    fn blocks(&self) -> usize {
        self.blocks.len()
    }

    fn layers(&mut self) -> Vec<Layer<'_>> {
        let mut layers = vec![Layer {
            name: "model.embed_tokens".into(),
            place: adapter::Place::Embeddings,
            kind: Kind::Embedding(&mut self.embedding),
        }];
        for (index, block) in self.blocks.iter_mut().enumerate() {
            layers.extend(block.layers(index));
        }
        layers.push(Layer {
            name: "model.norm".into(),
            place: adapter::Place::End,
            kind: Kind::RmsNorm(&mut self.norm),
        });
        if let Some(output) = &mut self.output {
            layers.push(Layer {
                name: "lm_head".into(),
                place: adapter::Place::End,
                kind: Kind::Linear(output, Layout::OutputFirst),
            });
        }
        layers
    }
}
