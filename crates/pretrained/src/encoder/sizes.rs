//! The sizes of an encoder, from its config.

use super::Architecture;
use crate::config::Config;
use crate::error::PretrainedError;

/// The sizes of an encoder. Public.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct EncoderSizes {
    /// Its family.
    pub architecture: Architecture,
    /// Rows of the embedding.
    pub vocabulary: usize,
    /// Width of the network.
    pub width: usize,
    /// Blocks.
    pub blocks: usize,
    /// Heads of attention.
    pub heads: usize,
    /// Width of the feed-forward part.
    pub feed_forward: usize,
    /// Rows of the table of positions.
    pub positions: usize,
    /// Types of tokens; 0 if they have none.
    pub types: usize,
    /// Buckets of the relative bias; 0 without one.
    pub buckets: usize,
    /// The token that fills texts up.
    pub padding: usize,
    /// What is added to variances.
    pub epsilon: f64,
}

/// How many numbers the largest size may be: larger ones are a mistake, and would not fit any memory.
const LARGEST: usize = 1 << 24;

impl EncoderSizes {
    /// Those of a config.
    pub fn of(config: &Config) -> Result<Self, PretrainedError> {
        let seen = config.model_type();
        let architecture = Architecture::ALL.into_iter().find(|one| one.name() == seen);
        let architecture = architecture.ok_or_else(|| PretrainedError::Architecture {
            seen: match seen {
                "" => "network without a `model_type`".into(),
                seen => seen.escape_debug().take(60).collect(),
            },
            known: Architecture::NAMES,
        })?;
        let distilled = architecture == Architecture::Distilbert;
        let size =
            |usual, of_distilbert| config.size(if distilled { of_distilbert } else { usual });
        let relative = architecture == Architecture::Mpnet;
        let sizes = Self {
            architecture,
            vocabulary: config.size("vocab_size")?,
            width: size("hidden_size", "dim")?,
            blocks: size("num_hidden_layers", "n_layers")?,
            heads: size("num_attention_heads", "n_heads")?,
            feed_forward: size("intermediate_size", "hidden_dim")?,
            positions: config.size("max_position_embeddings")?,
            types: match architecture.has_types() {
                true => config.size_or("type_vocab_size", 2)?,
                false => 0,
            },
            buckets: match relative {
                true => config.size_or("relative_attention_num_buckets", 32)?,
                false => 0,
            },
            padding: config.number(
                "pad_token_id",
                if architecture.positions_begin_after_padding() {
                    1.0
                } else {
                    0.0
                },
            )? as usize,
            epsilon: match distilled {
                true => 1e-12,
                false => config.number("layer_norm_eps", 1e-12)?,
            },
        };
        sizes.check(config)
    }

    fn check(self, config: &Config) -> Result<Self, PretrainedError> {
        let refused = |key, seen: &dyn ToString, known: &str| {
            Err(PretrainedError::Config {
                key,
                seen: seen.to_string(),
                known: known.into(),
            })
        };
        let activation = match self.architecture {
            Architecture::Distilbert => ("activation", config.text("activation", "gelu")),
            _ => ("hidden_act", config.text("hidden_act", "gelu")),
        };
        if activation.1 != "gelu" {
            return refused(activation.0, &activation.1, "gelu is");
        }
        let kind = config.text("position_embedding_type", "absolute");
        if kind != "absolute" {
            return refused("position_embedding_type", &kind, "absolute is");
        }
        if config.switch("is_decoder", false) {
            return refused("is_decoder", &true, "an encoder is");
        }
        if !self.width.is_multiple_of(self.heads) {
            let known = format!("it must divide the width {}", self.width);
            return refused("num_attention_heads", &self.heads, &known);
        }
        let sizes = [
            self.vocabulary,
            self.width,
            self.blocks,
            self.heads,
            self.feed_forward,
            self.positions,
            self.types,
            self.buckets,
        ];
        if let Some(size) = sizes.into_iter().find(|size| *size > LARGEST) {
            return refused("a size", &size, "sizes up to 16,777,216 are");
        }
        if self.buckets != 0 && self.buckets != 32 {
            // `transformers` has 32 whatever the config says.
            return refused("relative_attention_num_buckets", &self.buckets, "32 is");
        }
        if self.padding >= self.vocabulary {
            return refused("pad_token_id", &self.padding, "it must be below vocab_size");
        }
        Ok(self)
    }

    /// The longest text, with the tokens that the model puts around it.
    pub fn longest(&self) -> usize {
        match self.architecture.positions_begin_after_padding() {
            true => self.positions.saturating_sub(self.padding + 1),
            false => self.positions,
        }
    }
}
