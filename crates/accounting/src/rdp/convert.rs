//! From Rényi divergences to (ε, δ), at the best real order.
//!
//! Canonne, Kamath & Steinke 2020 (arXiv:2004.00010), Proposition 12: if D_α ≤ d then
//! δ ≤ exp((α−1)(d − ε)) (1 − 1/α)^α / (α − 1), that is
//! ε = d + ln(1 − 1/α) − ln(δα)/(α − 1).
//!
//! With K(α) = (α−1)D_α, which is convex, both ε (a convex function over α − 1) and ln δ (convex)
//! are quasi-convex in α, so golden-section search finds the best order. Whatever order it
//! returns, the value there is a bound.

use super::moment::up;
use crate::search::minimise;

/// Orders searched, as ln(α − 1).
const LEAST: f64 = -14.0;
const MOST: f64 = 14.0;
/// ε and ln δ are flat at their least: this leaves a relative 1e-9.
const TOLERANCE: f64 = 1e-5;

/// ε at order α from K = (α−1)D_α, rounded up.
pub(crate) fn epsilon_at(order: f64, log_moment: f64, delta: f64) -> f64 {
    let above = order - 1.0;
    let terms = [log_moment / above, -delta.ln() / above];
    let credits = [(-order.recip()).ln_1p(), -order.ln() / above];
    let size: f64 = terms.iter().chain(&credits).map(|term| term.abs()).sum();
    let epsilon = terms.iter().sum::<f64>() + credits.iter().sum::<f64>();
    let epsilon = epsilon + 16.0 * f64::EPSILON * size;
    // What overflowed proves nothing.
    if epsilon.is_nan() {
        return f64::INFINITY;
    }
    epsilon.max(0.0)
}

/// ln δ at order α from K = (α−1)D_α, rounded up.
pub(crate) fn log_delta_at(order: f64, log_moment: f64, epsilon: f64) -> f64 {
    let above = order - 1.0;
    let terms = [
        log_moment,
        -above * epsilon,
        above * above.ln(),
        -order * order.ln(),
    ];
    let size: f64 = terms.iter().map(|term| term.abs()).sum();
    let log_delta = terms.iter().sum::<f64>() + 16.0 * f64::EPSILON * size;
    // What overflowed proves nothing.
    if log_delta.is_nan() { 0.0 } else { log_delta }
}

/// The order at which `objective` (quasi-convex in the order) is least.
pub(crate) fn best_order(mut objective: impl FnMut(f64) -> f64) -> f64 {
    1.0 + minimise(|t| objective(1.0 + t.exp()), LEAST, MOST, TOLERANCE).exp()
}

/// The least ε over orders, and its order. `rough` steers the search, `certified` gives the value.
pub(crate) fn least_epsilon(
    mut rough: impl FnMut(f64) -> f64,
    certified: impl FnOnce(f64) -> f64,
    delta: f64,
) -> (f64, f64) {
    let order = best_order(|order| epsilon_at(order, rough(order), delta));
    (epsilon_at(order, certified(order), delta), order)
}

/// The least δ over orders, rounded up and at most 1.
pub(crate) fn least_delta(
    mut rough: impl FnMut(f64) -> f64,
    certified: impl FnOnce(f64) -> f64,
    epsilon: f64,
) -> f64 {
    let order = best_order(|order| log_delta_at(order, rough(order), epsilon));
    let delta = up(log_delta_at(order, certified(order), epsilon).exp(), 16.0);
    // What underflows is not nothing.
    delta.clamp(f64::MIN_POSITIVE, 1.0)
}
