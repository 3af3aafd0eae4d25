//! Products and powers of coefficients near 1, with bounds on their rounding (PROOF.md, §4).

use crate::special::ROUNDOFF;
use realfft::num_complex::Complex64;

/// Frequencies multiplied side by side.
pub(super) const BATCH: usize = 64;

/// Multiplies by 1 + second + share · (first − second) for every share, where these are near 1;
/// returns a bound on the relative rounding error.
///
/// Products are kept less 1, over as many shares as keep that small: a rounding of it, not of 1,
/// is lost for each. With c the largest change and m shares together, mc ≤ 0.1, the product less 1
/// is at most 1.06 mc; each share costs at most 20 u of that, and the m shares together 24 u m · mc
/// of the product. Multiplying the groups together costs 6 u for each.
pub(super) fn multiply_small(
    factors: &mut [Complex64; BATCH],
    first: &[Complex64],
    second: &[Complex64],
    shares: &[f64],
) -> f64 {
    let largest =
        (first.iter().chain(second)).fold(0.0_f64, |most, change| most.max(size(*change)));
    let group = (0.5 / largest.sqrt()).min(0.1 / largest).clamp(1.0, 1e4) as usize;
    for shares in shares.chunks(group) {
        let mut small = [Complex64::default(); BATCH];
        for &share in shares {
            for ((sum, one), two) in small.iter_mut().zip(first).zip(second) {
                let change = two + (one - two) * share;
                *sum += change + *sum * change;
            }
        }
        for (factor, sum) in factors.iter_mut().zip(&small) {
            *factor *= 1.0 + sum;
        }
    }
    let count = shares.len() as f64;
    let groups = (count / group as f64).ceil();
    ROUNDOFF * (24.0 * count * (group as f64 * largest).max(largest) + 6.0 * groups)
}

/// Modulus, where nothing overflows.
pub(super) fn size(value: Complex64) -> f64 {
    value.norm_sqr().sqrt()
}

/// (1 + change)^rounds, and a bound on its modulus if `change` is off by `error`.
///
/// Through the logarithm, so that the relative error is rounds · (|change| u + error), not
/// rounds · u.
pub(super) fn power(change: Complex64, rounds: f64, error: f64) -> (Complex64, f64) {
    let log_modulus = 0.5 * (2.0 * change.re + change.norm_sqr()).ln_1p();
    let angle = change.im.atan2(1.0 + change.re);
    let modulus = (rounds * log_modulus).exp();
    let (sine, cosine) = (rounds * angle).sin_cos();
    let sizes = log_modulus.abs() + angle.abs();
    let relative = rounds * (error / log_modulus.exp() + 8.0 * ROUNDOFF * sizes) + 16.0 * ROUNDOFF;
    (
        Complex64::new(modulus * cosine, modulus * sine),
        modulus * relative.exp(),
    )
}
