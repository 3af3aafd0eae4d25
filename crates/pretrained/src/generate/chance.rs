//! The next token by chance, among the likeliest.

use super::step::log_probabilities;
use crate::error::PretrainedError;

/// The token at which the sum of the probabilities passes `at` (in [0, 1)), where only the likeliest tokens that
/// have the given share together count, and tokens come in the order of their probabilities.
pub(super) fn chosen(scores: &[f32], share: f64, temperature: f64, at: f64) -> u32 {
    let scores: Vec<f32> = scores
        .iter()
        .map(|score| score / temperature as f32)
        .collect();
    let mut tokens: Vec<(u32, f64)> = log_probabilities(&scores)
        .into_iter()
        .map(f64::exp)
        .enumerate()
        .map(|(token, probability)| (token as u32, probability))
        .collect();
    tokens.sort_by(|a, b| b.1.total_cmp(&a.1));
    let mut sum = 0.0;
    let needed = tokens.iter().position(|(_, probability)| {
        sum += probability;
        sum >= share
    });
    // Rounding may leave the sum of all below the share; then all count.
    tokens.truncate(needed.map_or(tokens.len(), |last| last + 1));
    let mut left = at * sum;
    for (token, probability) in &tokens {
        left -= probability;
        if left < 0.0 {
            return *token;
        }
    }
    tokens.last().map_or(0, |(token, _)| *token)
}

/// A number in [0, 1) from the operating system.
pub(super) fn uniform() -> Result<f64, PretrainedError> {
    let bits = getrandom::u64().map_err(|error| PretrainedError::Generation {
        why: format!("the operating system gave no random numbers: {error}"),
    })?;
    Ok((bits >> 11) as f64 / (1_u64 << 53) as f64)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    /// Each token's share of evenly spaced places.
    fn shares(scores: &[f32], share: f64, temperature: f64) -> BTreeMap<u32, f64> {
        let places = 100_000;
        let mut shares = BTreeMap::new();
        for place in 0..places {
            let at = (f64::from(place) + 0.5) / f64::from(places);
            *shares
                .entry(chosen(scores, share, temperature, at))
                .or_insert(0.0) += 1.0 / f64::from(places);
        }
        shares
    }

    #[test]
    fn tokens_come_as_often_as_their_renormalised_probabilities() {
        // Probabilities 0.1, 0.4, 0.2, 0.3: three tokens are needed for 0.8.
        let scores = [0.1_f32, 0.4, 0.2, 0.3].map(f32::ln);
        for (share, expected) in [
            (1.0, vec![(0, 0.1), (1, 0.4), (2, 0.2), (3, 0.3)]),
            (0.8, vec![(1, 4.0 / 9.0), (2, 2.0 / 9.0), (3, 3.0 / 9.0)]),
            (0.69, vec![(1, 4.0 / 7.0), (3, 3.0 / 7.0)]),
            (1e-9, vec![(1, 1.0)]),
        ] {
            let seen = shares(&scores, share, 1.0);
            assert_eq!(seen.len(), expected.len(), "share {share}");
            for (token, probability) in expected {
                assert!(
                    (seen[&token] - probability).abs() < 1e-4,
                    "{token} of {share}"
                );
            }
        }
        // A temperature of one half squares the probabilities.
        let seen = shares(&scores, 1.0, 0.5);
        assert!((seen[&1] - 0.16 / 0.30).abs() < 1e-4);
    }

    #[test]
    fn numbers_from_the_operating_system_lie_in_the_unit_interval_and_differ() {
        let [first, second] = [(); 2].map(|()| uniform().unwrap());
        assert!((0.0..1.0).contains(&first) && (0.0..1.0).contains(&second));
        assert_ne!(first, second);
    }
}
