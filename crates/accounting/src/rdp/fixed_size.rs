//! Rényi moments of a fixed-size draw without replacement, under replace-one.
//!
//! A subset of m of the n records is drawn, γ = m/n, and z is the noise standard deviation over
//! the *replace-one* sensitivity (2C for gradients clipped to C).
//!
//! # Why the value returned is an upper bound
//!
//! Balle, Barthe & Gaboardi 2018 (arXiv:1807.01647), sampling without replacement under
//! substitution: for neighbours X, X′ and every t ≥ 1 the hockey-stick divergence H_t(M(X)‖M(X′)) is at most H_t(P‖Q) with
//! P = (1 − γ)N(0, z²) + γN(1, z²) and Q = N(0, z²). The relation is symmetric, so for t < 1
//! H_t(M(X)‖M(X′)) − (1 − t) = t H_{1/t}(M(X′)‖M(X)) is bounded in the same way. A Rényi moment is
//! a mixture of hockey sticks, E[(dM(X)/dM(X′))^α] = 1 + ∫ α(α−1) t^(α−2) (H_t − (1−t)₊) dt, hence
//! with R = dP/dQ and f_β(R) = R^β − 1 − β(R − 1)
//!
//!   moment ≤ 1 + E_Q[f_α(R); R > 1] + E_Q[f_{1−α}(R); R > 1]
//!          = E_Q[R^α] + E_Q[f_{1−α}(R); R > 1] − E_Q[f_α(R); R < 1].
//!
//! This is the best that amplification gives at the level of Rényi moments, and it lies below
//! Wang, Balle & Kasiviswanathan 2019 (arXiv:1808.00087), Theorem 9, which applies the triangle
//! inequality to the same mixture. The first term is the Poisson moment. The other two are
//! bounded cell by cell: f is convex in R, so a cell's chord lies above it and Jensen's inequality
//! below it, and the cell's masses under N(0, 1) and N(1/z, 1) are differences of Φ.

use super::moment::{Mixture, log_convex_part, log_ratio_of_one, up, work_of_moments};
use crate::gaussian::upper_tail;

/// Width of a cell in standard deviations; the chords are off by a quarter of its square.
const CELL: f64 = 0.02;
/// Cells reach this many standard deviations beyond both centres.
const REACH: f64 = 13.0;
/// Below this multiplier the masses underflow, and amplification gains nothing worth having.
const LEAST_AMPLIFIED: f64 = 0.05;

/// (α − 1) times the divergence of order α, rounded up, for a draw of `batch` of `of` records.
pub(crate) fn log_moment_up(batch: u64, of: u64, noise_multiplier: f64, order: f64) -> f64 {
    let unamplified = log_moment_unamplified_up(noise_multiplier, order);
    // γ is rounded up: more sampling is never more private.
    let rate = (batch as f64 / of as f64) * (1.0 + 2.0 * f64::EPSILON);
    if rate >= 1.0 || noise_multiplier < LEAST_AMPLIFIED {
        return unamplified;
    }
    let poisson = Mixture::new(rate, noise_multiplier, 1).log_moment_remove_up(order);
    let correction = correction_up(rate, noise_multiplier, order);
    // ln(e^K + c) = K + ln(1 + c e^−K); the correction may have either sign.
    let amplified = poisson + (correction * (-poisson).exp()).ln_1p();
    up(amplified, 16.0).min(unamplified)
}

/// The same as if all records were drawn.
pub(crate) fn log_moment_unamplified_up(noise_multiplier: f64, order: f64) -> f64 {
    up(0.5 * order * (order - 1.0) / noise_multiplier.powi(2), 8.0)
}

/// Units of work of [`log_moment_up`].
pub(crate) fn work(noise_multiplier: f64, order: f64) -> f64 {
    if noise_multiplier < LEAST_AMPLIFIED {
        return 10.0;
    }
    let cells = (0.5 / noise_multiplier + REACH) / CELL;
    work_of_moments(noise_multiplier, 1, order) + 450.0 * cells
}

/// E_Q[f_{1−α}(R); R > 1] − E_Q[f_α(R); R < 1], rounded up.
fn correction_up(rate: f64, noise_multiplier: f64, order: f64) -> f64 {
    let shift = noise_multiplier.recip();
    let middle = 0.5 * shift;
    let exponent = |u: f64| shift * (u - middle);
    let convex =
        |power: f64, exponent: f64| log_convex_part(power, log_ratio_of_one(rate, exponent)).exp();
    let cells = ((middle + REACH) / CELL).ceil() as usize;

    // Right of the middle R > 1: chords, with the masses of each cell under both Gaussians.
    let mut above = 0.0;
    for cell in 0..cells {
        let (left, right) = (
            middle + cell as f64 * CELL,
            middle + (cell + 1) as f64 * CELL,
        );
        let plain = upper_tail(left) - upper_tail(right);
        let shifted = upper_tail(left - shift) - upper_tail(right - shift);
        let (low, high) = (exponent(left), exponent(right));
        // Where in [R(left), R(right)] the mean of R lies; the rate drops out of the fraction.
        let mean = shifted / plain * (-low).exp() - 1.0;
        let fraction = (mean / (high - low).exp_m1() + 1e-9).clamp(0.0, 1.0);
        let (at_low, at_high) = (convex(1.0 - order, low), convex(1.0 - order, high));
        above += plain * (at_low + fraction * (at_high - at_low));
    }
    // Beyond the cells f_{1−α}(R) ≤ (α − 1)(R − 1) ≤ (α − 1) γ e^a.
    let end = middle + cells as f64 * CELL;
    above += (order - 1.0) * rate * upper_tail(end - shift);

    // Left of the middle R < 1: f_α at the mean of R; what lies beyond the cells is dropped.
    let mut below = 0.0;
    for cell in 0..cells {
        let (right, left) = (
            middle - cell as f64 * CELL,
            middle - (cell + 1) as f64 * CELL,
        );
        let plain = upper_tail(-right) - upper_tail(-left);
        let shifted = upper_tail(shift - right) - upper_tail(shift - left);
        if plain < 1e-30 {
            break;
        }
        let mean_exponent = (shifted / plain)
            .ln()
            .clamp(exponent(left), exponent(right));
        below += plain * convex(order, mean_exponent);
    }
    // Masses are off by a unit of Φ ≤ 1 against cells of mass above 1e-4 where they matter.
    above * (1.0 + 1e-10) - below * (1.0 - 1e-10)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Wang, Balle & Kasiviswanathan 2019, Theorem 9 for the Gaussian, integer order.
    fn theorem_nine(rate: f64, noise_multiplier: f64, order: u32) -> f64 {
        let scale = 0.5 / (noise_multiplier * noise_multiplier);
        let at_two = (2.0 * scale).exp();
        let mut choose = 1.0;
        let mut sum = 1.0;
        for j in 1..=order {
            choose *= f64::from(order - j + 1) / f64::from(j);
            let j_real = f64::from(j);
            let term = match j {
                1 => continue,
                2 => (4.0 * (at_two - 1.0)).min(2.0 * at_two),
                _ => 2.0 * ((j_real - 1.0) * j_real * scale).exp(),
            };
            sum += choose * rate.powf(j_real) * term;
        }
        sum.ln()
    }

    #[test]
    fn bound_lies_below_the_published_theorem_and_above_poisson() {
        for (batch, of) in [(1, 1000), (250, 60_000), (100, 1000), (400, 1000)] {
            for noise_multiplier in [0.7, 1.0, 2.0, 8.0] {
                for order in [2, 3, 5, 10, 25] {
                    let rate = batch as f64 / of as f64;
                    let real = f64::from(order);
                    let bound = log_moment_up(batch, of, noise_multiplier, real);
                    let published = theorem_nine(rate, noise_multiplier, order);
                    let poisson =
                        Mixture::new(rate, noise_multiplier, 1).log_moment_remove_up(real);
                    assert!(
                        bound <= published,
                        "{bound} above {published} at order {order}"
                    );
                    assert!(bound >= poisson * (1.0 - 1e-9), "{bound} below {poisson}");
                }
            }
        }
    }

    #[test]
    fn correction_equals_a_fine_sum() {
        // Midpoint sum with 2e-4 steps: second order, so some 1e-8 off.
        for (rate, z, order) in [(0.3, 1.0, 4.5), (0.01, 2.0, 20.0), (0.9, 0.8, 1.3)] {
            let (step, shift) = (2e-4, 1.0 / z);
            let mut sum = 0.0;
            for index in 0..150_000 {
                let u = -14.0 + (f64::from(index) + 0.5) * step;
                let l = log_ratio_of_one(rate, shift * (u - 0.5 * shift));
                let mass = step * crate::gaussian::density(u);
                sum += if l > 0.0 {
                    mass * log_convex_part(1.0 - order, l).exp()
                } else {
                    -mass * log_convex_part(order, l).exp()
                };
            }
            let bound = correction_up(rate, z, order);
            let scale = (Mixture::new(rate, z, 1).log_moment_remove_up(order)).exp_m1();
            assert!(bound >= sum - 1e-7 * scale, "{bound} below {sum}");
            assert!(
                bound <= sum + 2e-3 * scale,
                "{bound} far above {sum} of {scale}"
            );
        }
    }

    #[test]
    fn drawing_every_record_is_the_plain_gaussian() {
        let bound = log_moment_up(10, 10, 2.0, 3.0);
        assert!((bound - 0.5 * 3.0 * 2.0 / 4.0).abs() < 1e-12);
    }
}
