//! A Llama in a GGUF file, under the names and in the layout of the Hugging Face hub.

use crate::config::Config;
use crate::error::PretrainedError;
use crate::gguf::{Gguf, GgufError, Value, unexpected};
use crate::weights::Weights;
use serde_json::json;
use std::io::{Read, Seek};

const SIZES: &str = "is one of the sizes of the network";

/// The config and the weights of a file that holds a Llama.
///
/// Names and shapes are those that `transformers` gives them; the rows of queries and keys are put back
/// in the order they had before they were converted.
pub fn llama_checkpoint<R: Read + Seek>(
    file: &mut Gguf<R>,
) -> Result<(Config, Weights), PretrainedError> {
    let sizes = Sizes::read(file)?;
    let mut tensors = Vec::new();
    let names: Vec<String> = file.tensors().keys().cloned().collect();
    for name in names {
        // Frequencies of another rotary embedding than that of the config.
        if name == "rope_freqs.weight" {
            return Err(GgufError::Unexpected {
                key: name,
                seen: "there".into(),
                expected: "a Llama without scaled rotary frequencies",
            }
            .into());
        }
        let shape = file.tensors()[&name].shape.clone();
        let mut values = file.values(&name)?;
        if name.ends_with(".attn_q.weight") {
            values = rows_in_halves(values, &shape, sizes.heads);
        } else if name.ends_with(".attn_k.weight") {
            values = rows_in_halves(values, &shape, sizes.key_heads);
        }
        tensors.push((hub_name(&name), shape, values));
    }
    let tied = !file.tensors().contains_key("output.weight");
    let sha256 = file.sha256()?;
    let config = sizes.config(file, tied)?;
    Ok((config, Weights::of(tensors, sha256)))
}

/// Sizes of a Llama.
struct Sizes {
    hidden: usize,
    heads: usize,
    key_heads: usize,
    head: usize,
}

impl Sizes {
    fn read<R: Read + Seek>(file: &Gguf<R>) -> Result<Self, PretrainedError> {
        let key = "general.architecture";
        let architecture = file.text(key, "says which network it is")?;
        if architecture != "llama" {
            return Err(PretrainedError::Architecture {
                seen: format!("{architecture} in a GGUF file"),
                known: "llama in GGUF files",
            });
        }
        let hidden = file.size("llama.embedding_length", SIZES)?;
        let heads = file.size("llama.attention.head_count", SIZES)?;
        let key = "llama.attention.head_count_kv";
        let key_heads = match file.metadata().contains_key(key) {
            true => file.size(key, SIZES)?,
            false => heads,
        };
        let key = "llama.attention.key_length";
        let head = match file.metadata().contains_key(key) {
            true => file.size(key, SIZES)?,
            false => hidden / heads,
        };
        Ok(Self {
            hidden,
            heads,
            key_heads,
            head,
        })
    }

    /// What `config.json` would say.
    fn config<R: Read + Seek>(
        &self,
        file: &Gguf<R>,
        tied: bool,
    ) -> Result<Config, PretrainedError> {
        let theta = match file.metadata().contains_key("llama.rope.freq_base") {
            true => file.number("llama.rope.freq_base", SIZES)?,
            false => 10_000.0,
        };
        if let Some(other) = file.metadata().get("llama.rope.scaling.type")
            && *other != Value::Text("none".into())
        {
            let key = "llama.rope.scaling.type";
            return Err(unexpected(key, other, "`none`").into());
        }
        let epsilon = file.number("llama.attention.layer_norm_rms_epsilon", SIZES)?;
        let json = json!({
            "model_type": "llama",
            "hidden_act": "silu",
            "hidden_size": self.hidden,
            "num_hidden_layers": file.size("llama.block_count", SIZES)?,
            "num_attention_heads": self.heads,
            "num_key_value_heads": self.key_heads,
            "head_dim": self.head,
            "intermediate_size": file.size("llama.feed_forward_length", SIZES)?,
            "max_position_embeddings": file.size("llama.context_length", SIZES)?,
            "vocab_size": file.texts("tokenizer.ggml.tokens", SIZES)?.len(),
            "rms_norm_eps": epsilon,
            "rope_theta": theta,
            "tie_word_embeddings": tied,
            "eos_token_id": match file.metadata().get("tokenizer.ggml.eos_token_id") {
                Some(Value::Integer(id)) => json!(id),
                _ => json!(null),
            },
        });
        Config::parse(&json.to_string()).map_err(|why| {
            GgufError::Unexpected {
                key: "the metadata".into(),
                seen: why,
                expected: "the settings of a Llama",
            }
            .into()
        })
    }
}

/// The name that the hub's files have for a tensor; an unknown one is left as it is, to be refused by it.
fn hub_name(name: &str) -> String {
    match name {
        "token_embd.weight" => return "model.embed_tokens.weight".into(),
        "output_norm.weight" => return "model.norm.weight".into(),
        "output.weight" => return "lm_head.weight".into(),
        _ => {}
    }
    let parts = name
        .strip_prefix("blk.")
        .and_then(|rest| rest.split_once('.'));
    let Some((block, part)) = parts else {
        return name.into();
    };
    let (layer, kind) = part.rsplit_once('.').unwrap_or((part, ""));
    let layer = match layer {
        "attn_norm" => "input_layernorm",
        "ffn_norm" => "post_attention_layernorm",
        "attn_q" => "self_attn.q_proj",
        "attn_k" => "self_attn.k_proj",
        "attn_v" => "self_attn.v_proj",
        "attn_output" => "self_attn.o_proj",
        "ffn_gate" => "mlp.gate_proj",
        "ffn_up" => "mlp.up_proj",
        "ffn_down" => "mlp.down_proj",
        _ => return name.into(),
    };
    format!("model.layers.{block}.{layer}.{kind}")
}

/// llama.cpp rotates neighbouring rows of a head, the hub's Llama a row of its first half and one of its
/// second: row 2i of the one is row i of the other, row 2i + 1 is row i + half.
fn rows_in_halves(values: Vec<f32>, shape: &[usize], heads: usize) -> Vec<f32> {
    let (rows, width) = (shape[0], shape.get(1).copied().unwrap_or(1));
    let head = rows / heads;
    if rows == 0 || head * heads != rows || !head.is_multiple_of(2) {
        // The shape is refused when the network takes the tensor.
        return values;
    }
    let mut turned = Vec::with_capacity(values.len());
    for row in 0..rows {
        let (first, place) = (row - row % head, row % head);
        let from = first + 2 * (place % (head / 2)) + place / (head / 2);
        turned.extend_from_slice(&values[from * width..(from + 1) * width]);
    }
    turned
}
