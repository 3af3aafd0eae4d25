//! Characters of a public alphabet.

use super::fact::{Basis, Fact};
use serde::{Deserialize, Serialize};

/// Letters with marks, and the letter without; the usual Latin ones.
const FOLDED: &[(&str, &str)] = &[
    ("àáâãäåāăą", "a"),
    ("ÀÁÂÃÄÅĀĂĄ", "A"),
    ("çćĉċč", "c"),
    ("ÇĆĈĊČ", "C"),
    ("ďđ", "d"),
    ("ĎĐ", "D"),
    ("èéêëēĕėęě", "e"),
    ("ÈÉÊËĒĔĖĘĚ", "E"),
    ("ĝğġģ", "g"),
    ("ĜĞĠĢ", "G"),
    ("ìíîïĩīĭįı", "i"),
    ("ÌÍÎÏĨĪĬĮİ", "I"),
    ("ñńņň", "n"),
    ("ÑŃŅŇ", "N"),
    ("òóôõöøōŏő", "o"),
    ("ÒÓÔÕÖØŌŎŐ", "O"),
    ("ŕŗř", "r"),
    ("ŔŖŘ", "R"),
    ("śŝşš", "s"),
    ("ŚŜŞŠ", "S"),
    ("ťţ", "t"),
    ("ŤŢ", "T"),
    ("ùúûüũūŭůűų", "u"),
    ("ÙÚÛÜŨŪŬŮŰŲ", "U"),
    ("ýÿ", "y"),
    ("Ý", "Y"),
    ("źżž", "z"),
    ("ŹŻŽ", "Z"),
    ("łľĺ", "l"),
    ("ŁĽĹ", "L"),
    ("ß", "ss"),
    ("æ", "ae"),
    ("Æ", "AE"),
];

/// The character in ASCII.
pub(super) fn fold(character: char) -> String {
    FOLDED
        .iter()
        .find(|(marked, _)| marked.contains(character))
        .map_or_else(|| character.to_string(), |(_, plain)| (*plain).to_string())
}

/// Characters numbered from 1 by their place in a public alphabet, after marks are taken off;
/// others are left out; cut or padded with 0 to one length.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Characters {
    /// The alphabet, in ASCII.
    pub alphabet: String,
    /// Tokens of each record.
    pub length: usize,
}

impl Characters {
    /// One more than the highest token.
    pub fn vocabulary(&self) -> usize {
        self.alphabet.chars().count() + 1
    }

    /// Appends the tokens of one text.
    pub(super) fn push(&self, text: &str, tokens: &mut Vec<u16>) {
        let end = tokens.len() + self.length;
        let folded: String = text.trim().chars().map(fold).collect();
        let numbers = folded.chars().filter_map(|character| {
            let place = self
                .alphabet
                .chars()
                .position(|letter| letter == character)?;
            u16::try_from(place + 1).ok()
        });
        tokens.extend(numbers.take(self.length));
        tokens.resize(end, 0);
    }

    pub(super) fn facts(&self) -> Vec<Fact> {
        let fact = |what, basis| Fact { what, basis };
        vec![
            fact(
                format!(
                    "characters without marks, numbered by the alphabet \u{201c}{}\u{201d}; others left out",
                    self.alphabet
                ),
                Basis::PublicConstant,
            ),
            fact(
                format!("texts cut or padded to {} characters", self.length),
                Basis::PublicConstant,
            ),
        ]
    }
}
