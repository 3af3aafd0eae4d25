//! ROUGE-L.

use super::Sample;

/// ROUGE-L, between 0 and 100 (Lin 2004): the mean over texts of the F₁ of the longest common subsequence of
/// words with the reference that is best for it.
pub fn rouge_l(samples: &[Sample]) -> f64 {
    let best = |sample: &Sample| {
        let text = words(&sample.text);
        let scores = sample
            .references
            .iter()
            .map(|r| f_measure(&text, &words(r)));
        scores.fold(0.0, f64::max)
    };
    100.0 * samples.iter().map(best).sum::<f64>() / samples.len().max(1) as f64
}

/// Runs of the letters a to z and of digits, in lower case; everything else is space.
fn words(text: &str) -> Vec<String> {
    let text = text.to_lowercase();
    let words = text.split(|letter: char| !letter.is_ascii_lowercase() && !letter.is_ascii_digit());
    words
        .filter(|word| !word.is_empty())
        .map(str::to_owned)
        .collect()
}

fn f_measure(text: &[String], reference: &[String]) -> f64 {
    let common = longest_common(text, reference) as f64;
    match common > 0.0 {
        // 2PR / (P + R) for P = common / |text| and R = common / |reference|.
        true => 2.0 * common / (text.len() + reference.len()) as f64,
        false => 0.0,
    }
}

/// The length of the longest common subsequence.
fn longest_common(a: &[String], b: &[String]) -> usize {
    let mut best = vec![0; b.len() + 1];
    for left in a {
        let mut diagonal = 0;
        for (at, right) in b.iter().enumerate() {
            let above = best[at + 1];
            best[at + 1] = match left == right {
                true => diagonal + 1,
                false => above.max(best[at]),
            };
            diagonal = above;
        }
    }
    best[b.len()]
}
