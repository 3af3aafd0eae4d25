//! BLEU.

use super::Sample;
use super::words::{Counts, ngrams, words};

/// BLEU of a corpus, between 0 and 100 (Papineni et al. 2002), with up to four words in a row.
///
/// A precision without any match is halved from the one before, as `sacrebleu` smooths by default (its
/// `exp`, method 3 of Chen & Cherry 2014).
pub fn bleu(samples: &[Sample]) -> f64 {
    let (mut matches, mut totals) = ([0_usize; 4], [0_usize; 4]);
    let (mut length, mut reference_length) = (0, 0);
    for sample in samples {
        let text = words(&sample.text);
        let references: Vec<Vec<String>> = sample.references.iter().map(|r| words(r)).collect();
        length += text.len();
        reference_length += closest(text.len(), &references);
        for n in 1..=4 {
            let known: Vec<Counts<'_>> = references.iter().map(|r| ngrams(r, n)).collect();
            for (ngram, count) in ngrams(&text, n) {
                let most = known.iter().filter_map(|counts| counts.get(ngram)).max();
                matches[n - 1] += most.map_or(0, |most| count.min(*most));
                totals[n - 1] += count;
            }
        }
    }
    if matches == [0; 4] || totals.contains(&0) {
        return 0.0;
    }
    let mut halved = 1.0;
    let logarithms = matches.iter().zip(&totals).map(|(matches, total)| {
        if *matches == 0 {
            halved *= 2.0;
        }
        let matches = if *matches == 0 {
            1.0 / halved
        } else {
            *matches as f64
        };
        (matches / *total as f64).ln()
    });
    let precision = (logarithms.sum::<f64>() / 4.0).exp();
    let brevity = match length < reference_length {
        true => (1.0 - reference_length as f64 / length as f64).exp(),
        false => 1.0,
    };
    100.0 * brevity * precision
}

/// The length of the reference that is closest, the shorter of two.
fn closest(length: usize, references: &[Vec<String>]) -> usize {
    let lengths = references.iter().map(Vec::len);
    let closest = lengths.min_by_key(|reference| (reference.abs_diff(length), *reference));
    closest.unwrap_or(0)
}
