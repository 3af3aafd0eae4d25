//! Bisection.

/// Where a condition that is false at `low` and true at `high` begins to hold: the last number known to be false and
/// the first known to be true. If it holds at `low` already, both are `low`; if not at `high`, both are `high`.
pub(crate) fn boundary(low: f64, high: f64, holds: impl Fn(f64) -> bool) -> (f64, f64) {
    if holds(low) {
        return (low, low);
    }
    if !holds(high) {
        return (high, high);
    }
    let (mut low, mut high) = (low, high);
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        if holds(middle) {
            high = middle;
        } else {
            low = middle;
        }
    }
    (low, high)
}
