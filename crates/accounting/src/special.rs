//! The normal distribution function, accurate in both tails.
//!
//! Everything certified in this crate rests on one assumption about the mathematics library:
//! `exp`, `exp_m1`, `ln`, `ln_1p`, `sqrt` of the standard library and `libm::erfc` are off by at
//! most 4 units in the last place. The slack that is carried covers hundreds.

use std::f64::consts::FRAC_1_SQRT_2;

/// Unit roundoff of f64: the relative error of one operation rounded to nearest.
pub(crate) const ROUNDOFF: f64 = f64::EPSILON / 2.0;

/// Probability that a standard normal variable is at most `x`.
pub(crate) fn normal_below(x: f64) -> f64 {
    0.5 * libm::erfc(-x * FRAC_1_SQRT_2)
}

/// Mills-like ratio e^(x²/2) · P(Z > x); approximate, for choosing parameters only.
pub(crate) fn scaled_normal_above(x: f64) -> f64 {
    if x < -37.0 {
        f64::MAX
    } else if x < 6.0 {
        (0.5 * x * x).exp() * normal_below(-x)
    } else {
        let inverse_square = (x * x).recip();
        (1.0 - inverse_square * (1.0 - 3.0 * inverse_square * (1.0 - 5.0 * inverse_square)))
            / (x * std::f64::consts::TAU.sqrt())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn normal_tails_match_forty_digit_values() {
        // mpmath 1.3.0, 40 digits: `mp.ncdf(x)`.
        for (x, expected) in [
            (-30.0, 4.906_713_927_148_187e-198),
            (-12.0, 1.776_482_112_077_679e-33),
            (-8.0, 6.220_960_574_271_784e-16),
            (-3.0, 0.001_349_898_031_630_094_6),
            (-0.5, 0.308_537_538_725_986_9),
            (1.0, 0.841_344_746_068_542_9),
        ] {
            // The rounding of the argument counts 2x² times.
            let relative = normal_below(x) / expected - 1.0;
            assert!(
                relative.abs() < (4.0 + 2.0 * x * x) * ROUNDOFF,
                "at {x}: {relative:e}"
            );
        }
    }

    #[test]
    fn scaled_tail_is_continuous_where_the_formula_changes() {
        let below = scaled_normal_above(6.0 - 1e-9);
        let above = scaled_normal_above(6.0);
        assert!((below / above - 1.0).abs() < 1e-4);
    }
}
