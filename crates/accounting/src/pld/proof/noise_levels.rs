//! Schedules of many distinct noise levels: every level is bracketed by blends of two of a few.
//!
//! A round of noise s between a < b is compared with the round that publicly tosses a coin and
//! uses noise a or b. The Gaussian hockey-stick divergence at e^ε has the derivative
//! c(ε) · g(μ), g(μ) = e^(−ε²/2μ² − μ²/8), in μ = 1/noise; so
//!
//! ρ(ε) = (δ_s − δ_b)/(δ_a − δ_b) = ∫_{1/b}^{1/s} g / ∫_{1/b}^{1/a} g
//!
//! falls as ε² grows. A coin of weight ρ(0) on a dominates the round; one of weight ρ(E) is
//! dominated by it as far as |ε| ≤ E, and beyond if the blended lattices have no points there.
//! Sampling only moves and scales the axis (PROOF.md, §6). The error is of second order in b/a.

use super::lattice::Lattice;
use super::rounds::{RoundKind, Side};
use crate::special::normal_below;

/// Relative error of a blend's weight, taken against us.
const WEIGHT_ERROR: f64 = 1e-9;

/// Noise levels, increasing, between which others are blended.
#[derive(Debug, Clone)]
pub(super) struct Levels {
    noises: Vec<f64>,
}

impl Levels {
    /// Levels for rounds of one rate, sorted by noise, if they are many; `ratio` is the largest
    /// ratio of neighbouring levels.
    pub(super) fn cover(kinds: &[RoundKind], ratio: f64) -> Option<Self> {
        let least = kinds.first()?.noise(Side::Upper);
        let most = kinds.last()?.noise(Side::Lower) * (1.0 + 1e-9);
        let count = ((most / least).ln() / ratio.ln()).ceil().max(1.0);
        if kinds.len() as f64 <= 1.2 * (count + 1.0) {
            return None;
        }
        let noises = (0..=count as usize)
            .map(|i| least * (most / least).powf(i as f64 / count))
            .map(|noise| noise.clamp(least, most))
            .collect();
        Some(Self { noises })
    }

    /// The levels.
    pub(super) fn noises(&self) -> &[f64] {
        &self.noises
    }
}

/// Weight on the lower level `a` that dominates noise s in [a, b].
pub(super) fn weight_up(a: f64, b: f64, s: f64) -> f64 {
    (share(a, b, s, 0.0) * (1.0 + WEIGHT_ERROR)).clamp(0.0, 1.0)
}

/// Weight on the lower level `a` that is dominated by noise s in [a, b], for lattices whose
/// points lie within `farthest` in |ln dN(1)/dN(0)|.
pub(super) fn weight_down(a: f64, b: f64, s: f64, farthest: f64) -> f64 {
    (share(a, b, s, farthest) * (1.0 - WEIGHT_ERROR)).clamp(0.0, 1.0)
}

/// ρ at ±ε, by Gauss–Legendre panels.
fn share(a: f64, b: f64, s: f64, epsilon: f64) -> f64 {
    let (low, middle, high) = (b.recip(), s.recip(), a.recip());
    // Relative to the upper end, where g is largest in the cases that matter.
    let log_g = |m: f64| -0.5 * (epsilon / m).powi(2) - m * m / 8.0;
    let top = log_g(high);
    let integral = |from: f64, to: f64| {
        const PANELS: usize = 4;
        let panel = (to - from) / PANELS as f64;
        let mut sum = 0.0;
        for index in 0..PANELS {
            for (abscissa, weight) in super::quadrature::EIGHT {
                let m = from + (index as f64 + abscissa) * panel;
                sum += weight * (log_g(m) - top).exp();
            }
        }
        sum * panel
    };
    let below = integral(low, middle);
    let above = integral(middle, high);
    if below + above > 0.0 {
        below / (below + above)
    } else {
        0.0
    }
}

/// Bound on |ln dN(1)/dN(0)| at the points of a dominated lattice of this noise, whether merged
/// or dropped at the lower end.
pub(super) fn farthest_point(lattice: &Lattice, noise: f64) -> f64 {
    let (low, high) = lattice.cuts;
    let top = (high - 0.5) / (noise * noise);
    let bottom = (normal_below(low / noise) / normal_below((low - 1.0) / noise)).ln();
    let farthest = top.abs().max(bottom.abs());
    if farthest.is_finite() {
        farthest * (1.0 + 1e-9) + 1e-9
    } else {
        f64::INFINITY
    }
}
