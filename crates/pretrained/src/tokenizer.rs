//! Texts to tokens, exactly as the model was trained on them.

use crate::error::PretrainedError;
use std::path::Path;
use tokenizers::{PostProcessor, Tokenizer, TruncationParams};

/// The tokenizer of a model.
#[derive(Debug, Clone)]
pub struct TextTokenizer {
    inner: Tokenizer,
}

impl TextTokenizer {
    /// `tokenizer.json` of a folder. Whatever the file says of truncation and padding, neither is done here.
    pub fn read(folder: &Path) -> Result<Self, PretrainedError> {
        let path = folder.join("tokenizer.json");
        let bytes = std::fs::read(&path).map_err(|source| PretrainedError::File {
            what: "read",
            path: path.clone(),
            source,
        })?;
        let inner = Tokenizer::from_bytes(&bytes).map_err(|error| PretrainedError::Damaged {
            path,
            why: error.to_string(),
        })?;
        Self::of(inner)
    }

    /// A tokenizer that was made elsewhere.
    pub fn of(mut inner: Tokenizer) -> Result<Self, PretrainedError> {
        let failed = |error: tokenizers::Error| PretrainedError::Tokenizer(error.to_string());
        inner.with_truncation(None).map_err(failed)?;
        inner.with_padding(None);
        Ok(Self { inner })
    }

    /// One more than the largest identifier of a token.
    pub fn tokens(&self) -> usize {
        let vocabulary = self.inner.get_vocab(true);
        vocabulary.values().max().map_or(0, |id| *id as usize + 1)
    }

    /// Refuses an embedding that lacks rows for some tokens.
    pub fn check_rows(&self, rows: usize) -> Result<(), PretrainedError> {
        let tokens = self.tokens();
        match tokens <= rows {
            true => Ok(()),
            false => Err(PretrainedError::Vocabulary { tokens, rows }),
        }
    }

    /// All tokens of a text, those that the model puts around it included if `special`.
    pub fn encode(&self, text: &str, special: bool) -> Result<Vec<u32>, PretrainedError> {
        let encoding = self.inner.encode_fast(text, special);
        let encoding = encoding.map_err(|error| PretrainedError::Tokenizer(error.to_string()))?;
        Ok(encoding.get_ids().to_vec())
    }

    /// The tokenizer for texts of so many tokens, those that the model puts around them included: longer ones are cut,
    /// the longer one of a pair first.
    pub fn with_length(mut self, length: usize) -> Result<Self, PretrainedError> {
        let around = self.inner.get_post_processor();
        let around = around.map_or(0, |around| around.added_tokens(true));
        if length <= around {
            return Err(PretrainedError::TooShort {
                asked: length,
                around,
            });
        }
        let cut = TruncationParams {
            max_length: length,
            ..TruncationParams::default()
        };
        let failed = |error: tokenizers::Error| PretrainedError::Tokenizer(error.to_string());
        self.inner.with_truncation(Some(cut)).map_err(failed)?;
        Ok(self)
    }

    /// The tokens of a text, or of a pair of texts, with those that the model puts around them.
    pub fn encode_for_model(
        &self,
        text: &str,
        second: Option<&str>,
    ) -> Result<Vec<u32>, PretrainedError> {
        let encoding = match second {
            Some(second) => self.inner.encode_fast((text, second), true),
            None => self.inner.encode_fast(text, true),
        };
        let encoding = encoding.map_err(|error| PretrainedError::Tokenizer(error.to_string()))?;
        Ok(encoding.get_ids().to_vec())
    }

    /// The text of tokens.
    pub fn decode(&self, tokens: &[u32]) -> Result<String, PretrainedError> {
        let text = self.inner.decode(tokens, true);
        text.map_err(|error| PretrainedError::Tokenizer(error.to_string()))
    }

    /// The identifier of a token, as `[PAD]`.
    pub fn id(&self, token: &str) -> Option<u32> {
        self.inner.token_to_id(token)
    }
}
