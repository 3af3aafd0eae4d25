//! Networks that predict the next token: Llama and GPT-2.
//!
//! ```
//! use burn::tensor::{Device, Int, Tensor};
//! use tacita_pretrained::decoder::Decoder;
//! use tacita_pretrained::{Weights, config::Config};
//!
//! # let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/decoder/fixtures/llama");
//! # let folder = std::path::Path::new(folder);
//! let (config, weights) = (Config::read(folder)?, Weights::read(folder)?);
//! let decoder = Decoder::load(&config, weights, &Device::default())?;
//! let tokens = Tensor::<2, Int>::from_ints([[3, 14, 15]], &Device::default());
//! assert_eq!(decoder.logits(tokens).dims(), [1, 3, 48]);
//! # Ok::<(), tacita_pretrained::PretrainedError>(())
//! ```

mod attend;
mod cache;
mod causal;
mod from_gguf;
mod gpt2;
mod llama;
mod records;
mod rotary;
mod source;

pub use cache::Cache;
pub use causal::{CausalBatch, Surprise, surprise};
pub use from_gguf::llama_checkpoint;
pub use gpt2::{Gpt2, Gpt2Block};
pub use llama::{Llama, LlamaBlock};
pub use records::{CausalRecords, Example, Reduction, Shape};
pub use source::DecoderSource;

use crate::adapter::{Layer, Network};
use crate::config::Config;
use crate::error::PretrainedError;
use crate::load::Loader;
use crate::weights::Weights;
use attend::Place;
use burn::module::{Module, Param};
use burn::tensor::{Device, Int, Tensor};
use serde_json::Value;

/// A network that predicts the next token.
#[derive(Module, Debug)]
pub enum Decoder {
    /// Llama, and what is built like it: SmolLM, SmolLM2, TinyLlama.
    Llama(Llama),
    /// GPT-2 of any size.
    Gpt2(Gpt2),
}

impl Decoder {
    /// The network that a config describes, with these weights. A tensor that lacks, is left over or has
    /// another shape is an error that names it.
    pub fn load(
        config: &Config,
        mut weights: Weights,
        device: &Device,
    ) -> Result<Self, PretrainedError> {
        let loader = Loader {
            weights: &mut weights,
            device,
        };
        let decoder = match config.model_type() {
            "llama" => Self::Llama(Llama::load(config, loader)?),
            "gpt2" => Self::Gpt2(Gpt2::load(config, loader)?),
            other => {
                return Err(PretrainedError::Architecture {
                    seen: other.into(),
                    known: "llama and gpt2",
                });
            }
        };
        weights.finish()?;
        Ok(decoder)
    }

    /// Scores of every token as the next one, at every position.
    ///
    /// # Shapes
    /// - tokens: `[batch, positions]`
    /// - result: `[batch, positions, vocabulary]`
    pub fn logits(&self, tokens: Tensor<2, Int>) -> Tensor<3> {
        let [_, positions] = tokens.dims();
        self.scores(self.hidden(tokens, positions.max(1)))
    }

    /// What the last block gives, normalised. Positions are cut into windows of `window` that see nothing of each
    /// other, so that the windows of a record are one row.
    ///
    /// # Shapes
    /// - tokens: `[batch, windows · window]`
    /// - result: `[batch, windows · window, width]`
    pub fn hidden(&self, tokens: Tensor<2, Int>, window: usize) -> Tensor<3> {
        self.forward(tokens, &mut Place::Windows { length: window })
    }

    /// The same for positions that come after those that a cache has seen, which it then has seen too.
    ///
    /// # Shapes
    /// - tokens: `[batch, positions]`
    /// - result: `[batch, positions, width]`
    pub fn hidden_after(&self, tokens: Tensor<2, Int>, cache: &mut Cache) -> Tensor<3> {
        let [_, positions] = tokens.dims();
        let hidden = self.forward(tokens, &mut Place::After(cache));
        cache.length += positions;
        hidden
    }

    fn forward(&self, tokens: Tensor<2, Int>, place: &mut Place<'_>) -> Tensor<3> {
        match self {
            Self::Llama(network) => network.forward(tokens, place),
            Self::Gpt2(network) => network.forward(tokens, place),
        }
    }

    /// Scores of every token as the next one.
    ///
    /// # Shapes
    /// - hidden: `[batch, positions, width]`
    /// - result: `[batch, positions, vocabulary]`
    pub fn scores(&self, hidden: Tensor<3>) -> Tensor<3> {
        match self {
            Self::Llama(network) => network.scores(hidden),
            Self::Gpt2(network) => network.embedding.tied_output(hidden),
        }
    }

    /// Where its weights are.
    pub fn device(&self) -> Device {
        self.embedding().lazy_device()
    }

    /// The table of tokens.
    fn embedding(&self) -> &Param<Tensor<2>> {
        match self {
            Self::Llama(network) => &network.embedding.weight,
            Self::Gpt2(network) => &network.embedding.weight,
        }
    }

    /// Tokens that it knows.
    pub fn vocabulary(&self) -> usize {
        let [rows, _] = self.embedding().lazy_shape().dims();
        rows
    }

    /// Positions that it has.
    pub fn positions(&self) -> usize {
        match self {
            Self::Llama(network) => network.positions,
            Self::Gpt2(network) => network.positions.weight.lazy_shape()[0],
        }
    }

    /// Refuses a text of more tokens than there are positions.
    pub fn check_length(&self, tokens: usize) -> Result<(), PretrainedError> {
        match tokens <= self.positions() {
            true => Ok(()),
            false => Err(PretrainedError::TooLong {
                asked: tokens,
                positions: self.positions(),
            }),
        }
    }
}

impl Network for Decoder {
    fn blocks(&self) -> usize {
        match self {
            Self::Llama(network) => network.blocks(),
            Self::Gpt2(network) => network.blocks(),
        }
    }

    fn layers(&mut self) -> Vec<Layer<'_>> {
        match self {
            Self::Llama(network) => network.layers(),
            Self::Gpt2(network) => network.layers(),
        }
    }
}

/// The tokens that end a text, as the config has them.
pub fn ends_of_text(config: &Config) -> Vec<u32> {
    let id = |value: &Value| value.as_u64().and_then(|id| u32::try_from(id).ok());
    match config.value("eos_token_id") {
        Some(Value::Array(ids)) => ids.iter().filter_map(id).collect(),
        Some(value) => id(value).into_iter().collect(),
        None => Vec::new(),
    }
}

/// Refuses a setting that this version does not know.
fn expect(config: &Config, key: &'static str, usual: &str) -> Result<(), PretrainedError> {
    match config.text(key, usual) {
        same if same == usual => Ok(()),
        other => Err(PretrainedError::Config {
            key,
            seen: other.into(),
            known: format!("{usual} is"),
        }),
    }
}
