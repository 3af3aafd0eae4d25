//! Tokens of a pre-trained model: its own tokenizer, which is public like its weights.

use super::fact::{Basis, Fact};
use anyhow::{Context, Result, ensure};
use serde::{Deserialize, Serialize};
use std::fmt::Debug;
use std::sync::Arc;

/// Splits a text, or a pair of texts, into tokens, with those that the model puts around them.
pub trait SplitText: Debug + Send + Sync {
    /// The tokens; a text that cannot be split has those of an empty one, since an error would tell of a record.
    fn tokens(&self, text: &str, second: Option<&str>) -> Vec<u16>;
}

/// Tokens of a pre-trained model, cut or filled up to one length.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Subwords {
    /// Rows of the model's embedding.
    pub vocabulary: usize,
    /// Tokens of each record.
    pub length: usize,
    /// The token that fills texts up.
    pub padding: u16,
    /// SHA-256 of the tokenizer's file.
    pub tokenizer_sha256: String,
    /// The tokenizer, which is not written down with the run.
    #[serde(skip)]
    pub tokenizer: Option<Arc<dyn SplitText>>,
}

impl PartialEq for Subwords {
    fn eq(&self, other: &Self) -> bool {
        let facts = |one: &Self| (one.vocabulary, one.length, one.padding);
        facts(self) == facts(other) && self.tokenizer_sha256 == other.tokenizer_sha256
    }
}

impl Subwords {
    /// Checks the sizes.
    pub fn checked(self) -> Result<Self> {
        ensure!(
            self.vocabulary <= 1 << 16,
            "the model knows {} tokens; up to 65,536 are supported here",
            self.vocabulary
        );
        Ok(self)
    }

    /// Appends the tokens of a text or of a pair of texts.
    pub(super) fn push(
        &self,
        text: &str,
        second: Option<&str>,
        tokens: &mut Vec<u16>,
    ) -> Result<()> {
        let tokenizer = self.tokenizer.as_ref();
        let tokenizer =
            tokenizer.context("the tokenizer of the pre-trained model was not loaded")?;
        let end = tokens.len() + self.length;
        let all = tokenizer.tokens(text, second).into_iter();
        tokens.extend(all.take(self.length));
        tokens.resize(end, self.padding);
        Ok(())
    }

    pub(super) fn facts(&self) -> Vec<Fact> {
        let fact = |what, basis| Fact { what, basis };
        vec![
            fact(
                format!(
                    "texts split by the tokenizer of the pre-trained model, which was declared public (SHA-256 {})",
                    self.tokenizer_sha256
                ),
                Basis::Declared,
            ),
            fact(
                format!("texts cut or filled up to {} tokens", self.length),
                Basis::Declared,
            ),
        ]
    }
}
