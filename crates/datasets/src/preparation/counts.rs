//! A text as counts of its words and of the pieces of its words: short or long, in any script.

use super::words::hash;
use super::{Basis, Fact};
use crate::records::ROW_LENGTH;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Numbers that words and pieces are hashed into.
pub const BUCKETS: usize = 8192;
/// The shortest and the longest piece of a word, in characters, with a mark at either end of the word.
const PIECES: std::ops::RangeInclusive<usize> = 2..=4;
/// A longer run of punctuation is cut.
const LONGEST_RUN: usize = 4;
/// What a word, a sign or a character of a script without spaces weighs beside a piece of a word.
const WORD_WEIGHT: f32 = 2.0;

/// Counts of hashed words and of pieces of words, without an order.
///
/// Words are runs of letters and digits in lower case. Scripts that put no space between words (Chinese, Japanese,
/// Thai, Lao, Khmer, Burmese) give every character, and every pair of neighbours. An emoji or another sign is a word
/// by itself, a run of ASCII punctuation such as `:)` too. Counts enter by their square root, and the row is scaled to one
/// length, whatever that of the text. No vocabulary is learned, nothing is padded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TextCounts {
    /// Numbers they are hashed into.
    pub buckets: usize,
}

impl Default for TextCounts {
    fn default() -> Self {
        Self { buckets: BUCKETS }
    }
}

/// A part of a text.
#[derive(Debug, PartialEq)]
enum Unit {
    /// A run of letters and digits, which has pieces.
    Word(String),
    /// A character of a script without spaces.
    Character(char),
    /// An emoji, another sign, or a run of punctuation.
    Sign(String),
}

impl TextCounts {
    /// Appends a number and a value for each count of one text that is not zero.
    pub(super) fn push(self, text: &str, cells: &mut Vec<f32>) {
        let units = units(text);
        let mut words = Counts::default();
        let mut pieces = Counts::default();
        let mut before: Option<&Unit> = None;
        for unit in &units {
            match unit {
                Unit::Word(word) => {
                    words.add(word);
                    count_pieces(word, &mut pieces);
                }
                Unit::Sign(sign) => words.add(sign),
                Unit::Character(character) => {
                    words.add(&character.to_string());
                    if let Some(Unit::Character(first)) = before {
                        words.add(&format!("{first}{character}"));
                    }
                }
            }
            before = Some(unit);
        }
        let mut row = BTreeMap::new();
        words.add_to(&mut row, WORD_WEIGHT, self.buckets);
        pieces.add_to(&mut row, 1.0, self.buckets);
        let length = length(row.values());
        for (bucket, value) in row {
            if value != 0.0 {
                cells.extend([bucket as f32, value * ROW_LENGTH / length]);
            }
        }
    }

    pub(super) fn facts(self) -> Vec<Fact> {
        vec![Fact {
            what: format!(
                "words, signs, characters of scripts without spaces and their pairs, and pieces of words of {} to {} \
                 characters, hashed into {} counts whose roots are scaled to one length",
                PIECES.start(),
                PIECES.end(),
                self.buckets
            ),
            basis: Basis::PublicConstant,
        }]
    }
}

/// How often each word or piece is in a text.
#[derive(Default)]
struct Counts(BTreeMap<String, u32>);

impl Counts {
    fn add(&mut self, gram: &str) {
        *self.0.entry(gram.to_string()).or_default() += 1;
    }

    /// Adds the weighted roots of the counts to the row.
    fn add_to(self, row: &mut BTreeMap<usize, f32>, weight: f32, buckets: usize) {
        for (gram, count) in self.0 {
            let hash = hash(&gram);
            // Signs make collisions cancel on average (Weinberger et al. 2009, arXiv:0902.2206).
            let sign = if hash >> 63 == 1 { -weight } else { weight };
            let bucket = (hash % buckets.max(1) as u64) as usize;
            *row.entry(bucket).or_default() += sign * (count as f32).sqrt();
        }
    }
}

/// The Euclidean length, or 1 where there is nothing to scale.
fn length<'a>(values: impl Iterator<Item = &'a f32>) -> f32 {
    let squares: f32 = values.map(|value| value * value).sum();
    if squares > 0.0 { squares.sqrt() } else { 1.0 }
}

fn count_pieces(word: &str, pieces: &mut Counts) {
    let marked = std::iter::once('^').chain(word.chars()).chain(['$']);
    let characters: Vec<char> = marked.collect();
    for length in PIECES {
        for piece in characters.windows(length) {
            // Apart from a word of the same letters.
            pieces.add(&format!("#{}", piece.iter().collect::<String>()));
        }
    }
}

fn units(text: &str) -> Vec<Unit> {
    let text = text.replace("<br />", " ").to_lowercase();
    let mut units = Vec::new();
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        if is_without_spaces(character) {
            units.push(Unit::Character(character));
        } else if character.is_alphanumeric() {
            let mut word = String::from(character);
            while let Some(next) = characters.next_if(|next| is_in_word(*next)) {
                word.push(if next == '\u{2019}' { '\'' } else { next });
            }
            units.push(Unit::Word(word.trim_end_matches('\'').to_string()));
        } else if character.is_ascii_punctuation() {
            let mut run = String::from(character);
            while let Some(next) = characters.next_if(char::is_ascii_punctuation) {
                if run.len() < LONGEST_RUN {
                    run.push(next);
                }
            }
            units.push(Unit::Sign(run));
        } else if !(character.is_whitespace() || character.is_control() || is_joiner(character)) {
            units.push(Unit::Sign(character.to_string()));
        }
    }
    units
}

fn is_in_word(character: char) -> bool {
    let apostrophe = matches!(character, '\'' | '\u{2019}');
    let mark = matches!(character, '\u{300}'..='\u{36f}' | '\u{200c}' | '\u{200d}')
        || VIRAMAS.contains(&character);
    (character.is_alphanumeric() && !is_without_spaces(character)) || apostrophe || mark
}

/// Signs of Indian scripts that join consonants and are no letters by themselves.
const VIRAMAS: [char; 9] = [
    '\u{94d}', '\u{9cd}', '\u{a4d}', '\u{acd}', '\u{b4d}', '\u{bcd}', '\u{c4d}', '\u{ccd}',
    '\u{d4d}',
];

/// What joins the parts of an emoji or chooses its look.
fn is_joiner(character: char) -> bool {
    matches!(character, '\u{200c}' | '\u{200d}' | '\u{fe00}'..='\u{fe0f}')
}

/// Letters of scripts that put no space between words.
fn is_without_spaces(character: char) -> bool {
    matches!(character,
        '\u{0e00}'..='\u{0eff}' // Thai, Lao
        | '\u{1000}'..='\u{109f}' // Burmese
        | '\u{1780}'..='\u{17ff}' // Khmer
        | '\u{3005}'..='\u{3007}' | '\u{3040}'..='\u{30ff}' | '\u{31f0}'..='\u{31ff}' // Japanese
        | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' // Chinese
        | '\u{20000}'..='\u{323af}'
    ) && character.is_alphanumeric()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(text: &str) -> Vec<f32> {
        let mut cells = Vec::new();
        TextCounts::default().push(text, &mut cells);
        let mut row = vec![0.0; BUCKETS];
        for pair in cells.chunks_exact(2) {
            row[pair[0] as usize] = pair[1];
        }
        row
    }

    fn parts(text: &str) -> Vec<String> {
        let written = |unit| match unit {
            Unit::Word(part) | Unit::Sign(part) => part,
            Unit::Character(part) => part.to_string(),
        };
        units(text).into_iter().map(written).collect()
    }

    fn dot(a: &[f32], b: &[f32]) -> f32 {
        a.iter().zip(b).map(|(a, b)| a * b).sum()
    }

    #[test]
    fn texts_are_split_as_their_script_writes_them() {
        assert_eq!(
            parts("Don\u{2019}t go<br />THERE :-) 😡👍🏽"),
            ["don't", "go", "there", ":-)", "😡", "👍", "🏽"]
        );
        assert_eq!(parts("质量好。Ok"), ["质", "量", "好", "。", "ok"]);
        assert_eq!(parts("हिन्दी भाषा"), ["हिन्दी", "भाषा"]);
        assert!(parts(" \n\t").is_empty());
    }

    #[test]
    fn texts_of_any_script_are_told_apart_and_have_one_length() {
        let texts = [
            "good",
            "bad",
            "😀",
            "😡",
            "好",
            "坏",
            "хорошо",
            "плохо",
            "جيد",
            "سيئ",
            "!",
            "?",
        ];
        let rows: Vec<_> = texts.iter().map(|text| row(text)).collect();
        for (at, one) in rows.iter().enumerate() {
            assert!(
                (dot(one, one) - ROW_LENGTH * ROW_LENGTH).abs() < 1e-3,
                "{}",
                texts[at]
            );
            for other in &rows[..at] {
                assert!(dot(one, other) < 0.5 * dot(one, one), "{}", texts[at]);
            }
        }
        assert_eq!(dot(&row(""), &row("")), 0.0);
    }

    /// A short text beside padding was the trouble of averages: here its words weigh as much as in a long one.
    #[test]
    fn a_word_weighs_more_in_a_short_text() {
        let word = row("awful");
        let short = row("awful film");
        let long = row(&format!("awful {}", "the and of ".repeat(100)));
        assert!(dot(&word, &short) > dot(&word, &long));
        assert!(dot(&word, &short) > 0.5 * dot(&word, &word));
        assert!(dot(&row("films"), &row("film")) > 3.0 * dot(&row("films"), &row("cat")).abs());
    }
}
