//! The privacy profile of one Gaussian: μ-GDP read as (ε, δ) and back.
//!
//! Dong, Roth & Su 2019 (arXiv:1905.02383), Corollary 2.13; Balle & Wang 2018, Theorem 8:
//! δ(ε) = Φ(−ε/μ + μ/2) − e^ε Φ(−ε/μ − μ/2).

use crate::search::bisect;
use std::f64::consts::{PI, SQRT_2};

/// What is lost where probabilities underflow.
const LOST: f64 = 1e-307;
/// Above this μ the profile is read at its place in deviations, of which ε has too few digits.
const LARGE_MU: f64 = 1e4;

/// Upper tail of the standard normal, Φ(−t).
pub(crate) fn upper_tail(t: f64) -> f64 {
    0.5 * libm::erfc(t / SQRT_2)
}

/// Density of the standard normal.
pub(crate) fn density(t: f64) -> f64 {
    (-0.5 * t * t).exp() / (2.0 * PI).sqrt()
}

/// Mills ratio Φ(−t)/φ(t) for t ≥ 0; neither factor is formed where it would underflow.
fn mills_ratio(t: f64) -> f64 {
    if t < 4.0 {
        return upper_tail(t) / density(t);
    }
    // Laplace's continued fraction 1/(t + 1/(t + 2/(t + …))); at t ≥ 4 sixty levels leave an
    // error below 1e-30.
    let tail = (1..=60)
        .rev()
        .fold(t, |tail, level| t + f64::from(level) / tail);
    tail.recip()
}

/// δ of μ-GDP at `epsilon` and a bound on the rounding error of the value returned.
fn delta_with_error(epsilon: f64, mu: f64) -> (f64, f64) {
    let middle = epsilon / mu;
    let near = middle - 0.5 * mu;
    let far = middle + 0.5 * mu;
    // e^ε φ(far) = φ(near), since far² − near² = 2ε: no term overflows.
    let first = upper_tail(near);
    let second = density(near) * mills_ratio(far);
    // The arguments are off by some ε(|middle| + mu) which the tail's log-derivative, at most
    // |near| + 1, carries over; erfc, exp and the products add a few units more.
    let units = 16.0 + 4.0 * (middle + mu) * (near.abs() + 1.0);
    if units * f64::EPSILON > 1e-3 {
        // The arguments are too far off for their derivative to say what that does.
        return delta_with_wide_error(near, far, 4.0 * f64::EPSILON * (middle + mu));
    }
    let error = units * f64::EPSILON * (first + second) + LOST;
    (first - second, error)
}

/// The same where the arguments may be off by `off`: both tails at the ends of where they may be.
fn delta_with_wide_error(near: f64, far: f64, off: f64) -> (f64, f64) {
    let high = upper_tail(near - off) * (1.0 + 1e-12) + LOST;
    // φ is at most 0.4, and the Mills ratio falls.
    let second = 0.4 * mills_ratio((far - off).max(0.0));
    let low = upper_tail(near + off) * (1.0 - 1e-12) - second - LOST;
    let (middle, half) = (0.5 * (high + low), 0.5 * (high - low));
    if middle.is_nan() {
        return (0.5, 0.5); // nothing is known
    }
    (middle, half + 4.0 * f64::EPSILON * high)
}

/// δ of μ-GDP at `epsilon`, rounded up.
pub(crate) fn delta_up(epsilon: f64, mu: f64) -> f64 {
    let (delta, error) = delta_with_error(epsilon, mu);
    (delta + error).clamp(0.0, 1.0)
}

/// δ of μ-GDP at `epsilon`, rounded down.
pub(crate) fn delta_down(epsilon: f64, mu: f64) -> f64 {
    let (delta, error) = delta_with_error(epsilon, mu);
    (delta - error).clamp(0.0, 1.0)
}

/// The least ε at which μ-GDP gives `delta`, rounded up.
pub(crate) fn epsilon_up(delta: f64, mu: f64) -> f64 {
    if mu > LARGE_MU {
        return epsilon_up_of_large(delta, mu);
    }
    if delta_up(0.0, mu) <= delta {
        return 0.0;
    }
    // Φ(−t) ≤ e^(−t²/2)/2, so δ(ε) ≤ δ once ε/μ − μ/2 ≥ √(2 ln 1/δ).
    let highest = mu * (-2.0 * delta.ln()).sqrt() + 0.5 * mu * mu;
    bisect(
        |epsilon| delta_up(epsilon, mu) <= delta,
        0.0,
        highest * 1.01,
    )
    .1
}

/// The least ε at which μ-GDP gives `delta`, rounded down.
pub(crate) fn epsilon_down(delta: f64, mu: f64) -> f64 {
    if mu > LARGE_MU {
        return epsilon_down_of_large(delta, mu);
    }
    if delta_down(0.0, mu) <= delta {
        return 0.0;
    }
    let highest = mu * (-2.0 * delta.ln()).sqrt() + 0.5 * mu * mu;
    bisect(
        |epsilon| delta_down(epsilon, mu) <= delta,
        0.0,
        highest * 1.01,
    )
    .0
}

/// ε = μt + μ²/2 at `t` deviations above the mean of the loss, and what its roundings may be.
fn epsilon_at_deviations(t: f64, mu: f64) -> (f64, f64) {
    let (spread, mean) = (mu * t, 0.5 * mu * mu);
    (spread + mean, 4.0 * f64::EPSILON * (spread.abs() + mean))
}

/// As [`epsilon_up`], through t = ε/μ − μ/2: δ is at most Φ(−t).
fn epsilon_up_of_large(delta: f64, mu: f64) -> f64 {
    let enough = |t: f64| upper_tail(t) * tail_rounding(t) + LOST <= delta;
    // Φ(−t) ≤ e^(−t²/2)/2 also where it underflows.
    let surely = (-2.0 * delta.ln()).sqrt() * (1.0 + 1e-12);
    let (epsilon, rounding) = epsilon_at_deviations(bisect(enough, -40.0, surely).1, mu);
    let epsilon = (epsilon + rounding).max(0.0);
    // An infinity less another proves nothing.
    if epsilon.is_nan() {
        f64::INFINITY
    } else {
        epsilon
    }
}

/// As [`epsilon_down`], through t = ε/μ − μ/2: δ is Φ(−t) − φ(t) · (Mills ratio of t + μ).
fn epsilon_down_of_large(delta: f64, mu: f64) -> f64 {
    let too_much = |t: f64| {
        let second = density(t) * mills_ratio(t + mu) * tail_rounding(t);
        upper_tail(t) * (2.0 - tail_rounding(t)) - second - LOST > delta
    };
    if !too_much(-40.0) {
        return 0.0;
    }
    let (epsilon, rounding) = epsilon_at_deviations(bisect(|t| !too_much(t), -40.0, 40.0).0, mu);
    if epsilon == f64::INFINITY {
        return f64::MAX; // what overflows is above the largest number
    }
    (epsilon - rounding).max(0.0)
}

/// 1 and a bound on the relative error of Φ(−t) and φ(t).
fn tail_rounding(t: f64) -> f64 {
    1.0 + (16.0 + 4.0 * t * t) * f64::EPSILON
}

/// The largest μ whose δ at `epsilon` is at most `delta`.
pub(crate) fn mu(epsilon: f64, delta: f64) -> f64 {
    let over = |mu: f64| delta_with_error(epsilon, mu).0 > delta;
    let mut highest = 1.0;
    while !over(highest) {
        highest *= 2.0;
    }
    let mut lowest = 1.0;
    while over(lowest) {
        lowest *= 0.5;
    }
    bisect(over, lowest, highest).0
}

#[cfg(test)]
#[allow(clippy::excessive_precision)]
mod tests {
    use super::*;

    #[test]
    fn profile_equals_the_multiprecision_value() {
        // mpmath 1.4.1, 40 digits: findroot of the dual at μ = √10/5, δ = 1e-5; μ = 10/3, δ = 1e-3.
        for (mu, delta, epsilon) in [
            (0.632_455_532_033_675_9, 1e-5, 2.594_383_380_527_607),
            (1.0, 1e-6, 4.886_554_117_462_212),
            (3.333_333_333_333_333_5, 1e-3, 15.153_356_399_099_105),
            (0.1, 1e-9, 0.535_148_231_553_172_6),
            (0.632_455_532_033_675_9, 1e-12, 4.424_474_305_283_805),
        ] {
            let read = epsilon_up(delta, mu);
            assert!(read >= epsilon * (1.0 - 1e-15), "{read} below {epsilon}");
            assert!(read <= epsilon * (1.0 + 1e-10), "{read} above {epsilon}");
        }
    }

    #[test]
    fn mu_inverts_epsilon() {
        for epsilon in [0.01, 0.4, 3.0, 50.0] {
            for delta in [1e-3, 1e-6, 1e-12] {
                let back = epsilon_up(delta, mu(epsilon, delta));
                assert!((back / epsilon - 1.0).abs() < 1e-8, "{back} from {epsilon}");
            }
        }
    }

    /// μ = 1000 is read by both forms; beyond, ε = μ²/2 + μt with Φ(−t) = δ to first order.
    #[test]
    fn the_profile_of_a_large_mu_is_bracketed() {
        for mu in [1e2, 1e3, 1e4] {
            for delta in [0.9, 1e-3, 1e-9, 1e-200] {
                let (down, up) = (epsilon_down(delta, mu), epsilon_up(delta, mu));
                let (low, high) = (
                    epsilon_down_of_large(delta, mu),
                    epsilon_up_of_large(delta, mu),
                );
                assert!(down <= up && low <= high && low <= up && down <= high);
                assert!(up - down <= 1e-6 * up, "{down} {up} at {mu}");
                assert!(
                    high - low <= 2e-2 * high / mu.sqrt(),
                    "{low} {high} at {mu}"
                );
            }
        }
        for mu in [1e6, 1e9, 1e18, 1e150] {
            // mpmath 1.4.1: Φ(−4.753424308822899) = 1e-6.
            let expected = 0.5 * mu * mu + 4.753_424_308_822_899 * mu;
            let (low, high) = (epsilon_down(1e-6, mu), epsilon_up(1e-6, mu));
            assert!(low <= expected && expected <= high && high - low <= 1e-10 * high);
        }
        assert_eq!(epsilon_up(1e-6, 1e200), f64::INFINITY);
        assert_eq!(epsilon_down(1e-6, 1e200), f64::MAX);
    }

    #[test]
    fn delta_of_a_large_mu_is_bracketed() {
        for mu in [1e3, 1e9, 1e15, 1e18, f64::MAX, f64::INFINITY] {
            for epsilon in [0.0, 1.0, 0.5 * mu * mu, mu * mu, 1e300, f64::MAX] {
                let epsilon = epsilon.min(f64::MAX);
                let (low, high) = (delta_down(epsilon, mu), delta_up(epsilon, mu));
                assert!((0.0..=1.0).contains(&low) && low <= high && high <= 1.0);
                if epsilon < 0.4 * mu * mu {
                    assert!(high > 1.0 - 1e-9);
                }
            }
        }
        assert!(delta_down(1.0, 1e18) > 1.0 - 1e-9);
        assert!(delta_up(1e37, 1e18) < 1e-300);
    }

    #[test]
    fn mills_ratio_is_continuous_across_its_two_forms() {
        let (below, above) = (mills_ratio(4.0 - 1e-12), mills_ratio(4.0));
        assert!((below / above - 1.0).abs() < 1e-11);
    }
}
