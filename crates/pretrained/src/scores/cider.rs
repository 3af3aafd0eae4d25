//! CIDEr-D.

use super::Sample;
use super::words::{ngrams, words};
use std::collections::{BTreeMap, BTreeSet};

/// Words in a row that are counted.
const ORDERS: usize = 4;
/// The width of the penalty for another length, in pairs of words.
const LENGTHS: f64 = 6.0;

/// What each n-gram weighs: how often it occurs, and how rare it is in the references of other texts.
type Vector<'a> = BTreeMap<&'a [String], f64>;

/// CIDEr-D of a corpus (Vedantam et al. 2015): ten times the mean similarity of n-grams weighted by rarity, 0 for
/// nothing in common. It needs several texts: rarity is counted over them.
pub fn cider(samples: &[Sample]) -> f64 {
    let tokens = |text: &str| words(&text.to_lowercase());
    let texts: Vec<(Vec<String>, Vec<Vec<String>>)> = (samples.iter())
        .map(|sample| {
            let references = sample.references.iter().map(|r| tokens(r)).collect();
            (tokens(&sample.text), references)
        })
        .collect();
    let mut occurs: BTreeMap<&[String], usize> = BTreeMap::new();
    for (_, references) in &texts {
        let distinct: BTreeSet<&[String]> = (1..=ORDERS)
            .flat_map(|n| references.iter().flat_map(move |r| r.windows(n)))
            .collect();
        for ngram in distinct {
            *occurs.entry(ngram).or_default() += 1;
        }
    }
    let all = (texts.len() as f64).ln();
    let score = |(text, references): &(Vec<String>, Vec<Vec<String>>)| {
        let similar = references.iter().map(|reference| {
            let orders = (1..=ORDERS).map(|n| {
                let [text, reference] =
                    [text, reference].map(|words| vector(words, n, &occurs, all));
                similarity(&text, &reference)
            });
            // Lengths are counted in pairs of words.
            let pairs = |words: &[String]| words.len().saturating_sub(1) as f64;
            let apart = pairs(text) - pairs(reference);
            let penalty = (-apart.powi(2) / (2.0 * LENGTHS.powi(2))).exp();
            penalty * orders.sum::<f64>() / ORDERS as f64
        });
        10.0 * similar.sum::<f64>() / references.len().max(1) as f64
    };
    texts.iter().map(score).sum::<f64>() / texts.len().max(1) as f64
}

/// The weights of the n-grams of `n` words, given in how many of e^`all` texts each occurs.
fn vector<'a>(
    words: &'a [String],
    n: usize,
    occurs: &BTreeMap<&[String], usize>,
    all: f64,
) -> Vector<'a> {
    let weigh = |(ngram, count): (&'a [String], usize)| {
        let texts = occurs.get(ngram).map_or(1.0, |texts| *texts as f64);
        (ngram, count as f64 * (all - texts.ln()))
    };
    ngrams(words, n).into_iter().map(weigh).collect()
}

/// The cosine of two vectors, where a weight of the text counts no more than the reference's.
fn similarity(text: &Vector<'_>, reference: &Vector<'_>) -> f64 {
    let norm = |vector: &Vector<'_>| {
        vector
            .values()
            .map(|weight| weight * weight)
            .sum::<f64>()
            .sqrt()
    };
    let product = text.iter().map(|(ngram, weight)| {
        let theirs = reference.get(ngram).copied().unwrap_or(0.0);
        weight.min(theirs) * theirs
    });
    let (product, norms) = (product.sum::<f64>(), norm(text) * norm(reference));
    if norms > 0.0 {
        product / norms
    } else {
        product
    }
}
