//! The least value of a function on an interval.

/// Points of the first search.
const GRID: usize = 64;
/// Steps of the second one, each of which keeps 0.618 of the interval.
const GOLDEN: usize = 36;

/// (argument, value) of the least value of `f` on `[low, high]`: the best of a grid, refined by
/// golden section between its neighbours. Right where `f` has one minimum between grid points.
pub fn minimum(low: f64, high: f64, f: impl Fn(f64) -> f64) -> (f64, f64) {
    let step = (high - low) / GRID as f64;
    let at = |index: usize| low + step * index as f64;
    let best = (0..=GRID)
        .map(|index| (index, f(at(index))))
        .min_by(|a, b| a.1.total_cmp(&b.1))
        .map_or(0, |(index, _)| index);
    let (mut left, mut right) = (at(best.saturating_sub(1)), at((best + 1).min(GRID)));
    let ratio = (5f64.sqrt() - 1.0) / 2.0;
    let inner = |left: f64, right: f64| {
        let width = ratio * (right - left);
        (right - width, left + width)
    };
    let (a, b) = inner(left, right);
    let (mut at_a, mut at_b) = (f(a), f(b));
    for _ in 0..GOLDEN {
        let (a, b) = inner(left, right);
        // The inner point that stays is the other inner point of the next interval.
        if at_a <= at_b {
            (right, at_b) = (b, at_a);
            at_a = f(inner(left, right).0);
        } else {
            (left, at_a) = (a, at_b);
            at_b = f(inner(left, right).1);
        }
    }
    [at(best), left, right]
        .map(|x| (x, f(x)))
        .into_iter()
        .min_by(|a, b| a.1.total_cmp(&b.1))
        .unwrap_or((low, f64::NAN))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn minima_inside_and_at_the_ends_are_found() {
        let (x, y) = minimum(-1.0, 3.0, |x| (x - 0.3).powi(2) + 1.0);
        assert!((x - 0.3).abs() < 1e-7 && (y - 1.0).abs() < 1e-12);
        assert_eq!(minimum(0.0, 1.0, |x| -x), (1.0, -1.0));
        assert_eq!(minimum(0.0, 1.0, |x| x), (0.0, 0.0));
    }
}
