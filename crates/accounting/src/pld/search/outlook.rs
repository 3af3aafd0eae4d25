//! What is expected near the wanted reading, and the window that suits it.

use super::approximate_loss::ComposedLoss;
use crate::pld::proof::{Direction, Window};

/// What is expected of the composed loss near the wanted reading: approximate log moments.
#[derive(Debug, Clone)]
pub(super) struct Outlook {
    /// (exponent, log moment), increasing.
    table: Vec<(f64, f64)>,
    /// How fast ln δ falls with ε.
    pub(super) slope: f64,
    /// Largest sensible tilt: the slope, or next to none below the mean of the loss.
    saddle: f64,
    /// Where ε is expected.
    pub(super) epsilon: f64,
    /// δ there.
    pub(super) delta: f64,
    /// Standard deviation of the loss under the saddle point's tilt.
    deviation: f64,
}

impl Outlook {
    /// Expects ε where a saddle-point approximation puts it for this δ.
    pub(super) fn at_delta(loss: &ComposedLoss, delta: f64) -> Self {
        if let Some(slope) = loss.tilt_for_delta(delta) {
            let epsilon = loss.cumulants(slope).mean;
            return Self::new(loss, slope, slope, epsilon, delta);
        }
        let at = loss.cumulants(0.0);
        let (mut low, mut high) = (0.0, at.mean);
        for _ in 0..40 {
            let middle = 0.5 * (low + high);
            if loss.normal_delta(middle) > delta {
                low = middle;
            } else {
                high = middle;
            }
        }
        let slope = at.variance.sqrt().recip();
        Self::new(loss, slope, 0.1 * slope.min(1.0), low, delta)
    }

    /// Expects this ε.
    pub(super) fn at_epsilon(loss: &ComposedLoss, epsilon: f64) -> Self {
        if let Some(slope) = loss.tilt_for_epsilon(epsilon) {
            let at = loss.cumulants(slope);
            let spread = (slope + 1.0) * slope * at.variance.sqrt();
            let log_delta = at.log_moment - slope * epsilon - (1.0 + spread).ln() - 1.0;
            return Self::new(loss, slope, slope, epsilon, log_delta.exp().min(1.0));
        }
        let slope = loss.cumulants(0.0).variance.sqrt().recip();
        let delta = loss.normal_delta(epsilon).clamp(1e-12, 1.0);
        Self::new(loss, slope, 0.1 * slope.min(1.0), epsilon, delta)
    }

    /// The same, with δ known.
    pub(super) fn for_delta(mut self, delta: f64) -> Self {
        self.delta = delta;
        self
    }

    fn new(loss: &ComposedLoss, slope: f64, saddle: f64, epsilon: f64, delta: f64) -> Self {
        let deviation = loss.cumulants(saddle).variance.sqrt();
        // A few inverse deviations; a tilt onto the very end of the losses has hardly any.
        let untilted = loss.cumulants(0.0).variance.sqrt().max(1e-12);
        let farthest =
            (20.0 / deviation.max(1e-12)).clamp(9.0 * saddle, 50.0 * saddle + 20.0 / untilted);
        let progression = |from: f64, ratio: f64| {
            std::iter::successors(Some(from), move |exponent| Some(exponent * ratio))
                .take_while(move |exponent| *exponent <= farthest)
                .take(140)
        };
        let mut below: Vec<f64> = progression(0.05 * saddle, 1.6)
            .map(|exponent| -exponent)
            .collect();
        below.reverse();
        let above = progression(0.028 * saddle, 1.25);
        let table = (below.into_iter().chain([0.0]).chain(above))
            .map(|exponent| (exponent, loss.cumulants(exponent).log_moment))
            .filter(|(_, log_moment)| log_moment.is_finite())
            .collect();
        Self {
            table,
            slope,
            saddle,
            epsilon,
            delta,
            deviation,
        }
    }

    /// A loss that ε is likely not below.
    pub(super) fn likely_bottom(&self) -> f64 {
        let margin = 2.0 / self.slope + 0.02 * self.deviation;
        (self.epsilon - margin).max(0.0)
    }

    /// The shortest window from this bottom that loses or doubles at most the share `loss` of δ
    /// (PROOF.md, §4).
    ///
    /// A smaller tilt than that of the saddle point makes heavy upper tails lighter but enlarges
    /// rounding errors relative to δ; `amplification` is how far it may.
    pub(super) fn window(
        &self,
        direction: Direction,
        bottom: f64,
        loss: f64,
        amplification: f64,
        shortest: f64,
    ) -> Window {
        let epsilon = self.epsilon.max(bottom);
        let log_delta = self.delta.max(1e-290).ln();
        let allowed = log_delta + loss.ln();
        // ln of what an error of the spectrum counts relative to δ.
        let amplified = |&(tilt, log_moment): &(f64, f64)| {
            log_moment - tilt * epsilon - log_delta + (self.saddle / tilt).ln()
        };
        let candidates = || {
            (self.table.iter())
                .filter(|(tilt, _)| *tilt > 0.02 * self.saddle && *tilt < 1.6 * self.saddle)
        };
        let least = candidates().map(amplified).fold(f64::INFINITY, f64::min);
        let limit = least.max(0.0) + amplification.ln();
        let mut best = Window {
            direction,
            tilt: self.saddle,
            bottom,
            length: f64::INFINITY,
            above: 0.0,
            below: 0.0,
        };
        for candidate in candidates().filter(|candidate| amplified(candidate) <= limit) {
            let tilt = candidate.0;
            // Losses above the window, by the best further tilt.
            let mut above = (f64::INFINITY, 0.0);
            for &(exponent, log_moment) in &self.table {
                if exponent > 1.01 * tilt {
                    let length = (log_moment - exponent * bottom - allowed) / (exponent - tilt);
                    if length < above.0 {
                        above = (length, exponent);
                    }
                }
            }
            // Losses below it: the tilt makes them small, or a lower bottom makes them rare.
            for &(exponent, log_moment) in &self.table {
                if exponent > 0.0 {
                    break;
                }
                let by_tilt = (log_moment - exponent * bottom - allowed) / tilt;
                let rare_below = if exponent < 0.0 {
                    ((log_moment - allowed) / exponent).min(bottom)
                } else {
                    f64::NEG_INFINITY
                };
                for (bottom, length) in [
                    (bottom, above.0.max(by_tilt)),
                    (rare_below, above.0 + bottom - rare_below),
                ] {
                    if length < best.length {
                        best = Window {
                            tilt,
                            bottom,
                            length,
                            above: above.1 - tilt,
                            below: exponent,
                            ..best
                        };
                    }
                }
            }
        }
        if !(best.length > 0.0 && best.length.is_finite()) {
            best.length = self.deviation + 40.0 / self.saddle;
        }
        // Room below the bottom for reading at the bottom itself despite loss errors.
        best.bottom -= 0.01 * best.length;
        best.length = (1.03 * best.length).max(shortest);
        best
    }
}
