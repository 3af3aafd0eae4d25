//! A decoder from where a user has it: a folder or one file.

use super::{Decoder, ends_of_text, llama_checkpoint};
use crate::config::Config;
use crate::error::PretrainedError;
use crate::gguf::{self, Gguf};
use crate::tokenizer::TextTokenizer;
use crate::weights::Weights;
use burn::tensor::Device;
use std::path::Path;

/// A decoder's settings, weights and tokenizer, read and ready to be loaded on a device.
#[derive(Debug)]
pub struct DecoderSource {
    /// Its settings.
    pub config: Config,
    /// Its weights.
    pub weights: Weights,
    /// Its tokenizer.
    pub tokenizer: TextTokenizer,
}

impl DecoderSource {
    /// Reads a folder as the Hugging Face hub lays it out, or a GGUF file.
    pub fn open(path: &Path) -> Result<Self, PretrainedError> {
        if path.is_dir() {
            return Ok(Self {
                config: Config::read(path)?,
                weights: Weights::read(path)?,
                tokenizer: TextTokenizer::read(path)?,
            });
        }
        let mut file = Gguf::open(path)?;
        let (config, weights) = llama_checkpoint(&mut file)?;
        let tokenizer = TextTokenizer::of(gguf::tokenizer(&file)?)?;
        Ok(Self {
            config,
            weights,
            tokenizer,
        })
    }

    /// The network, its tokenizer and the tokens that end a text.
    pub fn load(
        self,
        device: &Device,
    ) -> Result<(Decoder, TextTokenizer, Vec<u32>), PretrainedError> {
        let decoder = Decoder::load(&self.config, self.weights, device)?;
        self.tokenizer.check_rows(decoder.vocabulary())?;
        let ends = ends_of_text(&self.config);
        Ok((decoder, self.tokenizer, ends))
    }
}
