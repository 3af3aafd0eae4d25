//! Words by hashing: no vocabulary is learned, so nothing of the data is in it.

use super::fact::{Basis, Fact};
use anyhow::{Result, ensure};
use serde::{Deserialize, Serialize};

/// The words of a text, in lower case: what stands between characters that are neither letters nor
/// digits. The line break `<br />`, which film reviews are full of, is no word.
pub(super) fn words(text: &str) -> impl Iterator<Item = String> + '_ {
    text.split("<br />")
        .flat_map(|part| part.split(|character: char| !character.is_alphanumeric()))
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
}

/// One of `buckets` for a text: the same on every machine and for ever, because runs depend on it.
pub fn bucket(text: &str, buckets: usize) -> usize {
    (hash(text) % buckets.max(1) as u64) as usize
}

/// FNV-1a (Fowler, Noll, Vo; 64 bits), then the finaliser of SplitMix64 for even remainders.
pub(super) fn hash(text: &str) -> u64 {
    let hash = text.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    });
    let mixed = (hash ^ (hash >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

/// Words hashed to numbers from 1, cut or padded with 0 to one length (feature hashing, Weinberger
/// et al. 2009, arXiv:0902.2206).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HashedWords {
    /// One more than the highest token; 0 is padding.
    pub vocabulary: usize,
    /// Tokens of each record.
    pub length: usize,
}

impl HashedWords {
    /// Checks the sizes.
    pub fn new(vocabulary: usize, length: usize) -> Result<Self> {
        ensure!(
            (2..=usize::from(u16::MAX)).contains(&vocabulary),
            "the vocabulary must be between 2 and {} words, got {vocabulary}",
            u16::MAX
        );
        ensure!(
            (1..=1 << 16).contains(&length),
            "the length of a text must be between 1 and 65536 words, got {length}"
        );
        Ok(Self { vocabulary, length })
    }

    /// Appends the tokens of one text.
    pub(super) fn push(&self, text: &str, tokens: &mut Vec<u16>) {
        let end = tokens.len() + self.length;
        let number = |word: String| 1 + bucket(&word, self.vocabulary.saturating_sub(1)) as u16;
        tokens.extend(words(text).take(self.length).map(number));
        tokens.resize(end, 0);
    }

    pub(super) fn facts(&self) -> Vec<Fact> {
        let fact = |what, basis| Fact { what, basis };
        vec![
            fact(
                "lower-case words, split at characters that are neither letters nor digits".into(),
                Basis::PublicConstant,
            ),
            fact(
                format!(
                    "words numbered by a fixed hash into {} values; no word list is learned",
                    self.vocabulary.saturating_sub(1)
                ),
                Basis::Declared,
            ),
            fact(
                format!("texts cut or padded to {} words", self.length),
                Basis::Declared,
            ),
        ]
    }
}
