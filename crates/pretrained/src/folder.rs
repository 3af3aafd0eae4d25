//! A folder with an encoder, as the Hugging Face hub lays it out.

use crate::config::Config;
use crate::encoder::{Architecture, Classifier, EncoderSizes, Pooling};
use crate::error::PretrainedError;
use crate::load::Loader;
use crate::tokenizer::TextTokenizer;
use crate::weights::Weights;
use burn::tensor::Device;
use serde_json::Value;
use sha2::{Digest, Sha256};
use std::path::{Path, PathBuf};

/// An encoder's folder: config and tokenizer are read and checked, weights when they are asked for.
#[derive(Debug, Clone)]
pub struct EncoderFolder {
    /// The folder.
    pub path: PathBuf,
    /// The sizes by its config.
    pub sizes: EncoderSizes,
    /// Its tokenizer.
    pub tokenizer: TextTokenizer,
    /// SHA-256 of `tokenizer.json`.
    pub tokenizer_sha256: String,
    /// How the states of a text become one vector.
    pub pooling: Pooling,
    /// Whether records are pairs of texts; not unless this is set.
    pub pairs: bool,
}

impl EncoderFolder {
    /// Opens a folder.
    pub fn open(path: &Path) -> Result<Self, PretrainedError> {
        let sizes = EncoderSizes::of(&Config::read(path)?)?;
        let tokenizer = TextTokenizer::read(path)?;
        tokenizer.check_rows(sizes.vocabulary)?;
        let file = std::fs::read(path.join("tokenizer.json")).unwrap_or_default();
        let digest = Sha256::digest(&file);
        Ok(Self {
            path: path.into(),
            sizes,
            tokenizer,
            tokenizer_sha256: digest.iter().map(|byte| format!("{byte:02x}")).collect(),
            pooling: pooling(path),
            pairs: false,
        })
    }

    /// Refuses texts for which the network has no positions.
    pub fn check_length(&self, length: usize) -> Result<(), PretrainedError> {
        let positions = self.sizes.longest();
        match length <= positions {
            true => Ok(()),
            false => Err(PretrainedError::TooLong {
                asked: length,
                positions,
            }),
        }
    }

    /// The classifier with the weights of the folder; a head that the file may have is not used.
    pub fn classifier(
        &self,
        weights: &mut Weights,
        classes: usize,
        device: &Device,
    ) -> Result<Classifier, PretrainedError> {
        self.make(weights, classes, device, false)
    }

    /// The same with the head of the file, as far as it has one.
    pub fn classifier_with_head(
        &self,
        weights: &mut Weights,
        classes: usize,
        device: &Device,
    ) -> Result<Classifier, PretrainedError> {
        self.make(weights, classes, device, true)
    }

    fn make(
        &self,
        weights: &mut Weights,
        classes: usize,
        device: &Device,
        keep_head: bool,
    ) -> Result<Classifier, PretrainedError> {
        // The second text of a pair has another type in BERT, and begins after this token. A single text that holds the
        // token has no second part.
        let separator = match self.sizes.architecture {
            Architecture::Bert if self.pairs => self.tokenizer.id("[SEP]").map(|id| id as usize),
            _ => None,
        };
        let loader = Loader { weights, device };
        let (sizes, pooling) = (self.sizes, self.pooling);
        Classifier::load(loader, sizes, separator, pooling, classes, keep_head)
    }
}

/// As the folder of a sentence encoder says in `1_Pooling/config.json`; the first token where it says nothing.
fn pooling(folder: &Path) -> Pooling {
    let text = std::fs::read_to_string(folder.join("1_Pooling/config.json"));
    let config: Value = serde_json::from_str(&text.unwrap_or_default()).unwrap_or_default();
    match config["pooling_mode_mean_tokens"].as_bool() {
        Some(true) => Pooling::Mean,
        _ => Pooling::First,
    }
}
