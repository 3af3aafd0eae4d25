//! Texts to words, and words to counts of n-grams.

use std::collections::BTreeMap;

/// How often each n-gram of some length occurs. Ordered, so that sums over it have one order.
pub(super) type Counts<'a> = BTreeMap<&'a [String], usize>;

/// The n-grams of exactly `n` words.
pub(super) fn ngrams(words: &[String], n: usize) -> Counts<'_> {
    let mut counts = Counts::new();
    for ngram in words.windows(n) {
        *counts.entry(ngram).or_default() += 1;
    }
    counts
}

/// Words as the scoring script of the NIST workshops, `mteval-v13a.pl`, finds them in Western languages.
pub(super) fn words(text: &str) -> Vec<String> {
    let text = text.trim_end().replace("<skipped>", "").replace("-\n", "");
    let text = text.replace('\n', " ").replace("&quot;", "\"");
    let text = text
        .replace("&amp;", "&")
        .replace("&lt;", "<")
        .replace("&gt;", ">");
    let mut letters = vec![' '];
    for letter in text.chars() {
        match letter {
            '{'..='~' | '['..='`' | ' '..='&' | '('..='+' | ':'..='@' | '/' => {
                letters.extend([' ', letter, ' ']);
            }
            _ => letters.push(letter),
        }
    }
    letters.push(' ');
    let stop = |letter: char| matches!(letter, '.' | ',');
    let digit = |letter: char| letter.is_ascii_digit();
    // Full stops and commas stay with digits around them, and a dash is apart after a digit.
    let letters = spaced(
        &letters,
        |a, b| !digit(a) && stop(b),
        |a, b| [a, ' ', b, ' '],
    );
    let letters = spaced(
        &letters,
        |a, b| stop(a) && !digit(b),
        |a, b| [' ', a, ' ', b],
    );
    let letters = spaced(
        &letters,
        |a, b| digit(a) && b == '-',
        |a, b| [a, ' ', b, ' '],
    );
    let text: String = letters.into_iter().collect();
    text.split_whitespace().map(str::to_owned).collect()
}

/// Every pair of neighbours that matches, from left to right and without overlap, replaced.
fn spaced(
    letters: &[char],
    matches: impl Fn(char, char) -> bool,
    replaced: impl Fn(char, char) -> [char; 4],
) -> Vec<char> {
    let mut result = Vec::with_capacity(letters.len() * 2);
    let mut at = 0;
    while at < letters.len() {
        match letters.get(at + 1) {
            Some(next) if matches(letters[at], *next) => {
                result.extend(replaced(letters[at], *next));
                at += 2;
            }
            _ => {
                result.push(letters[at]);
                at += 1;
            }
        }
    }
    result
}
