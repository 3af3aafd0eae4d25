//! Counts of the n-grams of a short text.

use super::words::bucket;
use super::{Basis, Fact};
use serde::{Deserialize, Serialize};

/// Numbers that n-grams are hashed into.
pub const BUCKETS: usize = 2048;
/// Characters of the longest n-gram.
const LONGEST: usize = 4;
/// Characters of a text that are used.
const MOST_CHARACTERS: usize = 256;

/// Counts of hashed n-grams of one to four characters, in lower case and with a mark at either end,
/// scaled to one length: no alphabet or vocabulary is learned.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NGrams {
    /// Characters of the longest.
    pub longest: usize,
    /// Numbers they are hashed into.
    pub buckets: usize,
}

impl Default for NGrams {
    fn default() -> Self {
        Self {
            longest: LONGEST,
            buckets: BUCKETS,
        }
    }
}

impl NGrams {
    /// Appends the counts of one text.
    pub(super) fn push(&self, text: &str, cells: &mut Vec<f32>) {
        let text = text.trim().to_lowercase();
        let marked = std::iter::once('^').chain(text.chars().take(MOST_CHARACTERS));
        let characters: Vec<char> = marked.chain(['$']).collect();
        let start = cells.len();
        cells.resize(start + self.buckets, 0.0);
        let counts = &mut cells[start..];
        for length in 1..=self.longest.min(characters.len()) {
            for gram in characters.windows(length) {
                let gram: String = gram.iter().collect();
                counts[bucket(&gram, self.buckets)] += 1.0;
            }
        }
        let squares: f32 = counts.iter().map(|count| count * count).sum();
        let scale = LENGTH / squares.sqrt();
        counts.iter_mut().for_each(|count| *count *= scale);
    }

    pub(super) fn facts(&self) -> Vec<Fact> {
        vec![Fact {
            what: format!(
                "n-grams of up to {} characters, hashed into {} counts that are scaled to one length",
                self.longest, self.buckets
            ),
            basis: Basis::PublicConstant,
        }]
    }
}

/// The length of every row: long beside the 1 that stands for the bias.
const LENGTH: f32 = 4.0;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn alike_names_have_alike_rows_of_one_length() {
        let row = |text: &str| {
            let mut cells = Vec::new();
            NGrams::default().push(text, &mut cells);
            cells
        };
        let dot = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f32>();
        let (first, ending, other) = (row("Ivanov"), row("petrov"), row("Nguyen"));
        assert_eq!(first.len(), BUCKETS);
        assert!((dot(&first, &first) - 16.0).abs() < 1e-4);
        assert!(dot(&first, &ending) > 2.0 * dot(&first, &other));
        assert_eq!(row(" ivanov "), first);
        // The ends of a text that is empty are still there.
        assert!((dot(&row(""), &row("")) - 16.0).abs() < 1e-4);
    }
}
