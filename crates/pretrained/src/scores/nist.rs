//! NIST.

use super::Sample;
use super::words::{ngrams, words};
use std::collections::BTreeMap;

/// Words in a row that are counted.
const ORDERS: usize = 5;

/// NIST of a corpus (Doddington 2002): as BLEU, but n-grams count by how much they tell, in bits, and their
/// precisions are added.
///
/// For each length of n-grams, a text is compared with the reference that it fits best, as `nltk` does it.
pub fn nist(samples: &[Sample]) -> f64 {
    let texts: Vec<(Vec<String>, Vec<Vec<String>>)> = (samples.iter())
        .map(|sample| {
            let references = sample.references.iter().map(|r| words(r)).collect();
            (words(&sample.text), references)
        })
        .collect();
    let mut known: BTreeMap<&[String], usize> = BTreeMap::new();
    let mut known_words = 0;
    for reference in texts.iter().flat_map(|(_, references)| references) {
        known_words += reference.len();
        for n in 1..=ORDERS {
            for (ngram, count) in ngrams(reference, n) {
                *known.entry(ngram).or_default() += count;
            }
        }
    }
    // Equation 2: log₂ of how many of the words after the first n − 1 words are the last one.
    let bits = |ngram: &[String]| {
        let beginning = known.get(&ngram[..ngram.len() - 1]).copied();
        let beginning = beginning.unwrap_or(known_words) as f64;
        // Divided as `nltk` does it, since texts of equal fit are told apart by the last bit.
        known
            .get(ngram)
            .map_or(0.0, |count| (beginning / *count as f64).ln() / 2.0_f64.ln())
    };
    let (mut score, mut length, mut reference_length) = (0.0, 0.0, 0.0);
    for n in 1..=ORDERS {
        let (mut all_bits, mut all_ngrams) = (0.0, 0.0);
        for (text, references) in &texts {
            let own = in_order(text, n);
            let total = own.iter().map(|(_, count)| count).sum::<usize>() as f64;
            let compared = references.iter().map(|reference| {
                let theirs = ngrams(reference, n);
                let shared = own.iter().filter_map(|(ngram, count)| {
                    let count = theirs.get(ngram)?.min(count);
                    Some(bits(ngram) * *count as f64)
                });
                // From +0, or nothing in common would differ from common words that tell nothing.
                (
                    shared.fold(0.0, |sum, bits| sum + bits),
                    reference.len() as f64,
                )
            });
            let best = compared.max_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)));
            let (shared, best_length) = best.unwrap_or((0.0, 0.0));
            all_bits += shared;
            all_ngrams += total;
            reference_length += best_length;
            length += text.len() as f64;
        }
        if all_ngrams > 0.0 {
            score += all_bits / all_ngrams;
        }
    }
    score * brevity(length, reference_length)
}

/// The n-grams of a text by their first occurrence, so that sums over them have `nltk`'s order.
fn in_order(text: &[String], n: usize) -> Vec<(&[String], usize)> {
    let mut counts = ngrams(text, n);
    let windows = text.windows(n);
    windows
        .filter_map(|ngram| Some((ngram, counts.remove(ngram)?)))
        .collect()
}

/// Equation 3: one half at two thirds of the references' length.
fn brevity(length: f64, reference_length: f64) -> f64 {
    let ratio = length / reference_length;
    if length <= 0.0 || reference_length <= 0.0 {
        0.0
    } else if ratio < 1.0 {
        let beta = 0.5_f64.ln() / 1.5_f64.ln().powi(2);
        (beta * ratio.ln().powi(2)).exp()
    } else {
        1.0
    }
}
