//! Scores of generated text against references.
//!
//! Each equals a reference implementation on the same texts (`tests/decoder/scores.rs`):
//!
//! | score | equals |
//! |---|---|
//! | [`bleu`] | `sacrebleu` 2.6.0, its defaults |
//! | [`nist`] | `nltk` 3.10.4, on the tokens of BLEU |
//! | [`rouge_l`] | `rouge-score` 0.1.2 without stemmer, the best of several references |
//! | [`cider`] | `pycocoevalcap` 1.2 (CIDEr-D), on the tokens of BLEU in lower case |
//!
//! METEOR is not among them: it needs WordNet and tables of paraphrases of some 60 MB, and its result is
//! theirs as much as the text's.
//!
//! A score on private references is a release; nothing here adds noise, so references must be public.
//!
//! ```
//! use tacita_pretrained::scores::{Sample, bleu};
//!
//! let sample = Sample::new("the cat sat on the mat", ["the cat sat on the mat", "a cat sat"]);
//! assert!((bleu(&[sample]) - 100.0).abs() < 1e-9);
//! ```

mod bleu;
mod cider;
mod nist;
mod rouge;
mod words;

pub use bleu::bleu;
pub use cider::cider;
pub use nist::nist;
pub use rouge::rouge_l;

/// A generated text, and what people wrote for the same input.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sample {
    /// The generated text.
    pub text: String,
    /// One or more texts to compare it with.
    pub references: Vec<String>,
}

impl Sample {
    /// A text and its references.
    pub fn new<R: Into<String>>(
        text: impl Into<String>,
        references: impl IntoIterator<Item = R>,
    ) -> Self {
        Self {
            text: text.into(),
            references: references.into_iter().map(Into::into).collect(),
        }
    }
}
