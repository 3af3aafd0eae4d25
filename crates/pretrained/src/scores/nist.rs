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
        known
            .get(ngram)
            .map_or(0.0, |count| (beginning / *count as f64).log2())
    };
    let (mut score, mut length, mut reference_length) = (0.0, 0.0, 0.0);
    for n in 1..=ORDERS {
        let (mut all_bits, mut all_ngrams) = (0.0, 0.0);
        for (text, references) in &texts {
            let own = ngrams(text, n);
            let total = own.values().sum::<usize>() as f64;
            let compared = references.iter().map(|reference| {
                let theirs = ngrams(reference, n);
                let shared = own.iter().filter_map(|(ngram, count)| {
                    let count = theirs.get(ngram)?.min(count);
                    Some(bits(ngram) * *count as f64)
                });
                (shared.sum::<f64>(), reference.len() as f64)
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
