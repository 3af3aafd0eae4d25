//! Trade-off curves as finitely many lines: how much an attack finds at most, by its false alarms.

use tacita_accounting::{AccountError, delta_of_mu};

/// A point of a privacy profile: the mechanism is (`epsilon`, `delta`)-private.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Point {
    /// ε ≥ 0.
    pub epsilon: f64,
    /// δ, an upper bound.
    pub delta: f64,
}

/// A bound on every attack: with false alarms x, it finds at most the least of some rising lines at x.
///
/// Every point (ε, δ) gives two: e^ε x + δ, and, by exchanging the roles of "in" and "out",
/// 1 − e^(−ε) (1 − δ − x) (Kairouz, Oh & Viswanath 2015, arXiv:1311.0776, Theorem 2.1). Fewer points make a weaker
/// bound, never a wrong one. The least of lines is concave, which [`f_dp`](crate::f_dp) needs.
#[derive(Debug, Clone, PartialEq)]
pub struct Curve {
    /// (slope, height at 0), slopes falling; only lines that are lowest somewhere.
    lines: Vec<(f64, f64)>,
    points: Vec<Point>,
}

impl Curve {
    /// The bound that some points of a profile give.
    pub fn of(points: &[Point]) -> Self {
        let direct = points.iter().map(|p| (p.epsilon.exp(), p.delta));
        let reverse = points.iter().map(|p| {
            let slope = (-p.epsilon).exp();
            (slope, 1.0 - slope * (1.0 - p.delta))
        });
        // Nobody finds more than all.
        let mut lines: Vec<(f64, f64)> = direct.chain(reverse).chain([(0.0, 1.0)]).collect();
        lines.retain(|(slope, height)| slope.is_finite() && height.is_finite());
        lines.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.total_cmp(&b.1)));
        Self {
            lines: lowest(lines),
            points: points.to_vec(),
        }
    }

    /// That of (ε, δ) alone.
    pub fn through(epsilon: f64, delta: f64) -> Self {
        Self::of(&[Point { epsilon, delta }])
    }

    /// That of the Gaussian mechanism with sensitivity over noise `mu`: μ-GDP (Dong, Roth & Su 2019).
    pub fn gaussian(mu: f64) -> Result<Self, AccountError> {
        const POINTS: u32 = 240;
        let last = 9.0 * mu + 0.5 * mu * mu;
        let points: Result<Vec<Point>, AccountError> = (0..=POINTS)
            .map(|k| {
                let epsilon = last * f64::from(k) / f64::from(POINTS);
                Ok(Point {
                    epsilon,
                    delta: delta_of_mu(mu, epsilon)?,
                })
            })
            .collect();
        Ok(Self::of(&points?))
    }

    /// The most an attack with these false alarms finds.
    pub fn most_found(&self, false_alarms: f64) -> f64 {
        let lines = self.lines.iter();
        let heights = lines.map(|(slope, height)| slope * false_alarms + height);
        heights.fold(1.0, f64::min).max(0.0)
    }

    /// The least false alarms with which an attack finds so much; infinity if none does.
    pub fn least_false_alarms(&self, found: f64) -> f64 {
        if found > 1.0 {
            return f64::INFINITY;
        }
        let rising = self.lines.iter().filter(|(slope, _)| *slope > 0.0);
        rising
            .map(|(slope, height)| (found - height) / slope)
            .fold(0.0, f64::max)
    }

    /// The points it was made of, all of which hold.
    pub fn points(&self) -> &[Point] {
        &self.points
    }

    /// Slopes and heights, the steepest first.
    pub(crate) fn lines(&self) -> &[(f64, f64)] {
        &self.lines
    }
}

/// Of lines sorted by falling slope, those that are the lowest somewhere: the upper hull of the dual points.
fn lowest(lines: Vec<(f64, f64)>) -> Vec<(f64, f64)> {
    let mut kept: Vec<(f64, f64)> = Vec::new();
    for line in lines {
        if kept.last().is_some_and(|last| last.0 == line.0) {
            continue; // parallel and not lower
        }
        // A line that is no higher at 0 and less steep hides the one before it.
        while let Some(last) = kept.last() {
            let hidden = match kept.len().checked_sub(2).map(|at| kept[at]) {
                _ if line.1 <= last.1 => true,
                Some(before) => meet(before, line) <= meet(before, *last),
                None => false,
            };
            if !hidden {
                break;
            }
            kept.pop();
        }
        kept.push(line);
    }
    kept
}

/// Where two lines meet.
fn meet((steep, low): (f64, f64), (flat, high): (f64, f64)) -> f64 {
    (high - low) / (steep - flat)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::normal::{below, quantile};

    #[test]
    fn a_gaussian_curve_lies_just_above_the_exact_one() {
        for mu in [0.1, 1.0, 3.0] {
            let curve = Curve::gaussian(mu).unwrap();
            for false_alarms in [1e-4, 0.01, 0.1, 0.5, 0.9] {
                let exact = below(quantile(false_alarms) + mu);
                let found = curve.most_found(false_alarms);
                assert!(
                    found >= exact - 1e-12 && found < exact + 1e-3,
                    "{found} {exact}"
                );
                let back = curve.least_false_alarms(found);
                assert!((back - false_alarms).abs() < 1e-9, "{back} {false_alarms}");
            }
        }
    }

    #[test]
    fn lines_that_are_nowhere_lowest_change_nothing() {
        let points: Vec<Point> = (0..40)
            .map(|k| {
                let epsilon = 0.2 * f64::from(k);
                let delta = delta_of_mu(1.3, epsilon).unwrap();
                Point { epsilon, delta }
            })
            .collect();
        let curve = Curve::of(&points);
        for k in 0..=1000 {
            let x = f64::from(k) / 1000.0;
            let all = points.iter().map(|p| {
                let direct = p.epsilon.exp() * x + p.delta;
                direct.min(1.0 - (-p.epsilon).exp() * (1.0 - p.delta - x))
            });
            let least = all.fold(1.0, f64::min);
            assert!((curve.most_found(x) - least).abs() < 1e-12, "{x}");
        }
    }
}
