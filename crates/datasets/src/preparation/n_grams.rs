//! Counts of the n-grams of a short text.

use super::characters::fold;
use super::fact::{Basis, Fact};
use super::words::hash;
use serde::{Deserialize, Serialize};

/// Numbers that n-grams are hashed into.
pub const BUCKETS: usize = 8192;
/// Characters of a text that are used.
const MOST_CHARACTERS: usize = 256;

/// What a pair of characters with one between them weighs beside an n-gram, and what a pattern weighs.
const HALF: f32 = 0.5;

/// Counts of hashed n-grams of one to three characters, of pairs with a gap, of patterns of vowels and
/// consonants, and the length; in lower case, with a mark at either end, scaled to one length. No alphabet
/// or vocabulary is learned.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NGrams {
    /// Characters of the longest n-gram: short ones are in many texts, so that more than noise is
    /// learned about them.
    pub longest: usize,
    /// Characters of the longest pattern; the shortest has three.
    pub longest_pattern: usize,
    /// Numbers they are hashed into.
    pub buckets: usize,
}

impl Default for NGrams {
    fn default() -> Self {
        Self {
            longest: 3,
            longest_pattern: 4,
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
        let mut add = |gram: &str, weight: f32| {
            let hash = hash(gram);
            // Signs make collisions cancel on average (Weinberger et al. 2009, arXiv:0902.2206).
            let sign = if hash >> 63 == 1 { -1.0 } else { 1.0 };
            counts[(hash % self.buckets.max(1) as u64) as usize] += sign * weight;
        };
        for length in 1..=self.longest {
            for gram in characters.windows(length) {
                // A mark alone is in every text.
                if gram != ['^'] && gram != ['$'] {
                    add(&gram.iter().collect::<String>(), 1.0);
                }
            }
        }
        for gram in characters.windows(3) {
            add(&format!("{}_{}", gram[0], gram[2]), HALF);
        }
        let pattern: Vec<char> = characters.iter().copied().map(kind).collect();
        for length in 3..=self.longest_pattern {
            for gram in pattern.windows(length) {
                add(&format!("#{}", gram.iter().collect::<String>()), HALF);
            }
        }
        add(&format!("len{}", characters.len()), 1.0);
        let squares: f32 = counts.iter().map(|count| count * count).sum();
        if squares > 0.0 {
            let scale = LENGTH / squares.sqrt();
            counts.iter_mut().for_each(|count| *count *= scale);
        }
    }

    pub(super) fn facts(&self) -> Vec<Fact> {
        vec![Fact {
            what: format!(
                "n-grams of up to {} characters, pairs with a gap, patterns of vowels and consonants of up to {} \
                 characters, and the length, hashed into {} counts that are scaled to one length",
                self.longest, self.longest_pattern, self.buckets
            ),
            basis: Basis::PublicConstant,
        }]
    }
}

/// `V` for a vowel, `C` for another letter, and other characters as they are.
fn kind(character: char) -> char {
    if fold(character).starts_with(['a', 'e', 'i', 'o', 'u', 'y']) {
        'V'
    } else if character.is_alphabetic() {
        'C'
    } else {
        character
    }
}

/// The length of every row: long beside the 1 that stands for the bias.
const LENGTH: f32 = 4.0;

#[cfg(test)]
mod tests {
    use super::*;

    fn row(text: &str) -> Vec<f32> {
        let mut cells = Vec::new();
        NGrams::default().push(text, &mut cells);
        cells
    }

    fn dot(a: &[f32], b: &[f32]) -> f32 {
        a.iter().zip(b).map(|(a, b)| a * b).sum()
    }

    #[test]
    fn alike_names_have_alike_rows_of_one_length() {
        let (first, ending, other) = (row("Ivanov"), row("petrov"), row("Nguyen"));
        assert_eq!(first.len(), BUCKETS);
        assert!((dot(&first, &first) - 16.0).abs() < 1e-4);
        assert!(dot(&first, &ending) > 2.0 * dot(&first, &other));
        assert_eq!(row(" ivanov "), first);
        // The ends of a text that is empty are still there.
        assert!((dot(&row(""), &row("")) - 16.0).abs() < 1e-4);
    }

    /// By hand, for “to”: ^t to o$ t o ^to to$, ^_o t_$, #^CV #CV$ #^CV$ and len4; seven count 1, five a
    /// half, and the length 1, so the squares sum to 9.25.
    #[test]
    fn a_row_holds_n_grams_gaps_patterns_and_the_length_with_signs() {
        let row = row("to");
        let scale = 4.0 / 9.25f32.sqrt();
        let mut wanted = vec![0.0f32; BUCKETS];
        let whole = ["t", "o", "^t", "to", "o$", "^to", "to$", "len4"];
        let half = ["^_o", "t_$", "#^CV", "#CV$", "#^CV$"];
        for (grams, weight) in [(&whole[..], scale), (&half[..], scale / 2.0)] {
            for gram in grams {
                let hash = hash(gram);
                let sign = if hash >> 63 == 0 { 1.0 } else { -1.0 };
                wanted[(hash % 8192) as usize] += sign * weight;
            }
        }
        for (got, wanted) in row.iter().zip(&wanted) {
            assert!((got - wanted).abs() < 1e-5, "{got} {wanted}");
        }
        assert!(row.iter().any(|count| *count < 0.0));
    }

    #[test]
    fn vowels_keep_their_kind_under_marks() {
        assert_eq!(
            ['é', 'ů', 'y', 'ř', '\''].map(kind),
            ['V', 'V', 'V', 'C', '\'']
        );
    }
}
