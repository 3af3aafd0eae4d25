//! Tails of the binomial distribution, rounded up, and the exact limits that follow from them.

use crate::search::boundary;

/// What rounding may take of a tail: log-gamma is right to a few units in the last place of n ln n, which for the ten
/// million draws that are allowed is below 3e-8 of a probability.
const ROUNDING: f64 = 1.0 + 1e-7;

/// The logarithm of P[Bin(n, p) = k], where `odds` = ln p − ln(1 − p).
pub(crate) fn ln_mass(n: u64, k: u64, odds: f64) -> f64 {
    let (n, k) = (n as f64, k as f64);
    let ways = libm::lgamma(n + 1.0) - libm::lgamma(k + 1.0) - libm::lgamma(n - k + 1.0);
    // p^k (1 − p)^(n − k) = e^(k odds) / (1 + e^odds)^n, without the cancellation of 1 − p near 1.
    let ln_either = if odds > 0.0 {
        odds + (-odds).exp().ln_1p()
    } else {
        odds.exp().ln_1p()
    };
    ways + k * odds - n * ln_either
}

/// P[Bin(n, p) ≥ k], rounded up.
pub(crate) fn at_least(n: u64, k: u64, odds: f64) -> f64 {
    if k == 0 {
        return 1.0;
    }
    let sum: f64 = (k..=n).map(|i| ln_mass(n, i, odds).exp()).sum();
    (sum * ROUNDING).min(1.0)
}

/// The least probability of success at which so many successes are not unlikelier than `error`: with probability
/// 1 − `error` the true one is not below it (Clopper & Pearson 1934). Rounded down.
pub(crate) fn success_lower(n: u64, successes: u64, error: f64) -> f64 {
    if successes == 0 || n == 0 {
        return 0.0;
    }
    let odds = boundary(-800.0, 800.0, |odds| at_least(n, successes, odds) > error);
    probability(odds.0)
}

/// The same from above, rounded up.
pub(crate) fn success_upper(n: u64, successes: u64, error: f64) -> f64 {
    if successes >= n {
        return 1.0;
    }
    // As many failures.
    let odds = boundary(-800.0, 800.0, |odds| {
        at_least(n, n - successes, odds) > error
    });
    probability(-odds.0)
}

fn probability(odds: f64) -> f64 {
    1.0 / (1.0 + (-odds).exp())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// scipy 1.14.1: `binom.sf(k − 1, n, p)`.
    #[test]
    fn tails_equal_another_implementation() {
        for (n, k, p, expected) in [
            (10_u64, 7_u64, 0.5_f64, 0.171_875),
            (1000, 550, 0.5, 8.652_680_424_885_79e-4),
            (20, 20, 0.75, 0.003_171_211_938_934_17),
        ] {
            let tail = at_least(n, k, (p / (1.0 - p)).ln());
            assert!((tail / expected - 1.0).abs() < 1e-6, "{tail} {expected}");
        }
    }

    #[test]
    fn a_tail_equals_the_sum_of_pascals_triangle() {
        // P[Bin(n, ½) ≥ k] by additions alone.
        let mut row = vec![1.0_f64];
        for _ in 0..60 {
            let next = |i: usize| {
                0.5 * (row.get(i).copied().unwrap_or(0.0)
                    + i.checked_sub(1).map_or(0.0, |before| row[before]))
            };
            row = (0..=row.len()).map(next).collect();
        }
        for k in 0..=60 {
            let expected: f64 = row[k..].iter().sum();
            let tail = at_least(60, k as u64, 0.0);
            assert!(
                (tail / expected - 1.0).abs() < 1e-6,
                "{k}: {tail} {expected}"
            );
        }
    }

    #[test]
    fn limits_hold_what_they_say() {
        // Of 0 of n successes the upper limit solves (1 − p)^n = error.
        let upper = success_upper(100, 0, 0.05);
        assert!(
            (upper - (1.0 - 0.05_f64.powf(0.01))).abs() < 1e-6,
            "{upper}"
        );
        let lower = success_lower(100, 100, 0.05);
        assert!((lower - 0.05_f64.powf(0.01)).abs() < 1e-6, "{lower}");
        assert_eq!(success_lower(100, 0, 0.05), 0.0);
        assert_eq!(success_upper(100, 100, 0.05), 1.0);
        assert!(success_lower(100, 50, 0.05) < 0.5 && success_upper(100, 50, 0.05) > 0.5);
    }
}
