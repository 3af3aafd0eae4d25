//! The privacy profile of one Gaussian: μ-GDP read as (ε, δ) and back.
//!
//! Dong, Roth & Su 2019 (arXiv:1905.02383), Corollary 2.13; Balle & Wang 2018, Theorem 8:
//! δ(ε) = Φ(−ε/μ + μ/2) − e^ε Φ(−ε/μ − μ/2).

use crate::search::bisect;
use std::f64::consts::{PI, SQRT_2};

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
    let error = units * f64::EPSILON * (first + second);
    (first - second, error)
}

/// δ of μ-GDP at `epsilon`, rounded up.
pub(crate) fn delta_up(epsilon: f64, mu: f64) -> f64 {
    let (delta, error) = delta_with_error(epsilon, mu);
    (delta + error).clamp(0.0, 1.0)
}

/// The least ε at which μ-GDP gives `delta`, rounded up.
pub(crate) fn epsilon_up(delta: f64, mu: f64) -> f64 {
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

    #[test]
    fn mills_ratio_is_continuous_across_its_two_forms() {
        let (below, above) = (mills_ratio(4.0 - 1e-12), mills_ratio(4.0));
        assert!((below / above - 1.0).abs() < 1e-11);
    }
}
