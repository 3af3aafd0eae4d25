//! The standard normal distribution.

use crate::search::boundary;
use std::f64::consts::FRAC_1_SQRT_2;

/// P[Z ≤ x].
pub(crate) fn below(x: f64) -> f64 {
    0.5 * libm::erfc(-x * FRAC_1_SQRT_2)
}

/// The x with P[Z ≤ x] = `probability`.
pub(crate) fn quantile(probability: f64) -> f64 {
    boundary(-38.0, 38.0, |x| below(x) >= probability).0
}
