//! One-dimensional searches shared by the accountants.

/// The inverse golden ratio.
const GOLDEN: f64 = 0.618_033_988_749_894_9;

/// The point at which the quasi-convex `f` is least on `[low, high]`, to within `tolerance`.
///
/// Golden-section search. A plateau of +∞ is taken to lie on the right, as it does for Rényi
/// divergences beyond the largest order that can be evaluated.
pub(crate) fn minimise(mut f: impl FnMut(f64) -> f64, low: f64, high: f64, tolerance: f64) -> f64 {
    let (mut low, mut high) = (low, high);
    let mut left = high - GOLDEN * (high - low);
    let mut right = low + GOLDEN * (high - low);
    let (mut at_left, mut at_right) = (f(left), f(right));
    while high - low > tolerance {
        if at_left <= at_right {
            high = right;
            (right, at_right) = (left, at_left);
            left = high - GOLDEN * (high - low);
            at_left = f(left);
        } else {
            low = left;
            (left, at_left) = (right, at_right);
            right = low + GOLDEN * (high - low);
            at_right = f(right);
        }
    }
    if at_left <= at_right { left } else { right }
}

/// The two neighbouring ends between which the monotone `holds` turns from false (low) to true
/// (high), refined until they are within a relative 1e-15 or no number lies between them.
pub(crate) fn bisect(mut holds: impl FnMut(f64) -> bool, low: f64, high: f64) -> (f64, f64) {
    let (mut low, mut high) = (low, high);
    loop {
        let middle = low + 0.5 * (high - low);
        // Ends that are no numbers have nothing between them.
        let between = middle > low && middle < high;
        if !between || high - low <= 1e-15 * high.abs() {
            return (low, high);
        }
        if holds(middle) {
            high = middle;
        } else {
            low = middle;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn minimum_of_a_parabola_is_found() {
        let at = minimise(|x| (x - 2.25) * (x - 2.25), -10.0, 30.0, 1e-7);
        assert!((at - 2.25).abs() < 1e-6);
    }

    #[test]
    fn infinite_plateau_on_the_right_is_left() {
        let f = |x: f64| if x > 1.0 { f64::INFINITY } else { x * x };
        assert!(minimise(f, -2.0, 40.0, 1e-7).abs() < 1e-6);
    }

    #[test]
    fn bisection_ends_where_there_are_no_numbers() {
        for (low, high) in [(0.0, f64::NAN), (f64::NAN, 1.0), (0.0, f64::INFINITY)] {
            let (_, end) = bisect(|_| false, low, high);
            assert_eq!(end.to_bits(), high.to_bits());
        }
    }

    #[test]
    fn bisection_closes_on_the_switch() {
        let (low, high) = bisect(|x| x * x >= 2.0, 0.0, 2.0);
        assert!(low < high && low * low < 2.0 && high * high >= 2.0);
        assert!(high - low < 1e-14);
    }
}
