//! Which stretch of composed losses the transform holds, and under which tilt.

use super::pair::Direction;
use super::profile::{Schedule, is_at_floor};

/// A stretch of losses and the exponents of the tail bounds outside it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Window {
    /// Which divergence.
    pub(super) direction: Direction,
    /// Exponential tilt of the transform.
    pub(super) tilt: f64,
    /// Lowest loss held.
    pub(super) bottom: f64,
    /// Length of the stretch; losses a multiple of it apart fall together.
    pub(super) length: f64,
    /// Further tilt of the Chernoff bound above the window.
    pub(super) above: f64,
    /// Tilt, at most 0, of the Chernoff bound below the window.
    pub(super) below: f64,
}

/// What is expected of the composed loss near the wanted reading: approximate log moments.
#[derive(Debug, Clone)]
pub(super) struct Outlook {
    /// (exponent, log moment), increasing.
    table: Vec<(f64, f64)>,
    /// How fast ln δ falls with ε: the tilt of the saddle point.
    pub(super) slope: f64,
    /// Where ε is expected.
    pub(super) epsilon: f64,
    /// δ there.
    pub(super) delta: f64,
    /// Standard deviation of the loss under the saddle point's tilt.
    deviation: f64,
}

impl Outlook {
    /// Expects ε where a saddle-point approximation puts it for this δ.
    pub(super) fn at_delta(schedule: &Schedule, delta: f64) -> Self {
        let slope = schedule.tilt_for_delta(delta);
        let mean = schedule.cumulants(slope).mean;
        let epsilon = if is_at_floor(slope) { 0.0 } else { mean };
        Self::new(schedule, slope, epsilon, delta)
    }

    /// Expects this ε.
    pub(super) fn at_epsilon(schedule: &Schedule, epsilon: f64) -> Self {
        let slope = schedule.tilt_for_epsilon(epsilon);
        let at = schedule.cumulants(slope);
        let spread = (slope + 1.0) * slope * at.variance.sqrt();
        let log_delta = at.log_moment - slope * epsilon - (1.0 + spread).ln() - 1.0;
        Self::new(schedule, slope, epsilon, log_delta.exp().min(1.0))
    }

    /// The same, with δ known.
    pub(super) fn for_delta(mut self, delta: f64) -> Self {
        self.delta = delta;
        self
    }

    fn new(schedule: &Schedule, slope: f64, epsilon: f64, delta: f64) -> Self {
        let below = (0..12).rev().map(|i| -slope * 0.05 * 1.6_f64.powi(i));
        let above = (-16..=10).map(|i| slope * 1.25_f64.powi(i));
        let table = (below.chain([0.0]).chain(above))
            .map(|exponent| (exponent, schedule.cumulants(exponent).log_moment))
            .filter(|(_, log_moment)| log_moment.is_finite())
            .collect();
        Self {
            table,
            slope,
            epsilon,
            delta,
            deviation: schedule.cumulants(slope).variance.sqrt(),
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
    /// rounding errors relative to δ, so it is allowed only as far as those do not matter.
    pub(super) fn window(
        &self,
        direction: Direction,
        bottom: f64,
        loss: f64,
        rounds: f64,
        shortest: f64,
    ) -> Window {
        let epsilon = self.epsilon.max(bottom);
        let log_delta = self.delta.max(1e-290).ln();
        let allowed = log_delta + loss.ln();
        let amplified = |&(tilt, log_moment): &(f64, f64)| log_moment - tilt * epsilon - log_delta;
        let candidates = || {
            (self.table.iter())
                .filter(|(tilt, _)| *tilt > 0.02 * self.slope && *tilt < 1.6 * self.slope)
        };
        let least = candidates().map(amplified).fold(f64::INFINITY, f64::min);
        let limit = least.max(0.0) + (1e10 * loss / (rounds + 1.0)).clamp(10.0, 1e6).ln();
        let mut best = Window {
            direction,
            tilt: self.slope,
            bottom,
            length: f64::INFINITY,
            above: 0.0,
            below: 0.0,
        };
        for candidate in candidates().filter(|candidate| amplified(candidate) <= limit) {
            let tilt = candidate.0;
            let (mut above, mut below) = ((f64::INFINITY, 0.0), (f64::INFINITY, 0.0));
            for &(exponent, log_moment) in &self.table {
                let (end, rate) = if exponent > 1.01 * tilt {
                    (&mut above, exponent - tilt)
                } else if exponent <= 0.0 {
                    (&mut below, tilt)
                } else {
                    continue;
                };
                let length = (log_moment - exponent * bottom - allowed) / rate;
                if length < end.0 {
                    *end = (length, exponent);
                }
            }
            let length = above.0.max(below.0);
            if length < best.length {
                best = Window {
                    tilt,
                    length,
                    above: above.1 - tilt,
                    below: below.1,
                    ..best
                };
            }
        }
        if !(best.length > 0.0 && best.length.is_finite()) {
            best.length = self.deviation + 40.0 / self.slope;
        }
        // Room below the bottom for reading at the bottom itself despite loss errors.
        best.bottom = bottom - 0.01 * best.length;
        best.length = (1.03 * best.length).max(shortest);
        best
    }
}
