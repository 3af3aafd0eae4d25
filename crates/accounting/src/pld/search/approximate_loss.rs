//! The composed privacy loss, approximately: its cumulants choose tilt and window.

use crate::effort::Effort;
use crate::pld::proof::{Direction, Pair};
use crate::special::{normal_below, scaled_normal_above};

/// Log moment generating function of the privacy loss and its first two derivatives.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Cumulants {
    /// ln E e^(θ·loss)
    pub(super) log_moment: f64,
    /// Mean of the tilted loss.
    pub(super) mean: f64,
    /// Variance of the tilted loss.
    pub(super) variance: f64,
}

/// The privacy loss of one kind of round, at nodes of a trapezoidal rule.
#[derive(Debug, Clone)]
pub(super) struct RoundLoss {
    /// (loss, ln of the node's mass); empty for a plain Gaussian.
    nodes: Vec<(f64, f64)>,
    /// Squared sensitivity over noise variance, for a plain Gaussian.
    signal: f64,
}

impl RoundLoss {
    /// Samples the loss of one round; none if that is more work than is left.
    pub(super) fn new(
        pair: &Pair,
        direction: Direction,
        tail: f64,
        effort: &Effort,
    ) -> Option<Self> {
        let noise = pair.noise();
        if !pair.is_sampled() {
            return Some(Self {
                nodes: Vec::new(),
                signal: (noise * noise).recip(),
            });
        }
        let (low, high) = pair.range(direction, tail);
        let count = ((high - low) / noise * 5.0).clamp(96.0, 20_000.0);
        effort.spend(count * (12.0 + pair.work()))?;
        let spacing = (high - low) / count;
        let node = |ratio: f64, log_mass: f64| match direction {
            Direction::Remove => (ratio, log_mass + ratio),
            Direction::Add => (-ratio, log_mass),
        };
        let log_peak = (spacing / (noise * std::f64::consts::TAU.sqrt())).ln();
        let inner = (0..=count as usize).map(|i| {
            let x = low + i as f64 * spacing;
            let reach = x / noise;
            node(
                pair.origin() + pair.excess(x),
                log_peak - 0.5 * reach * reach,
            )
        });
        // The tails as one node each, so that strong tilts see them.
        let tail = |(p, q): (f64, f64)| node((p / q).ln(), q.ln());
        let nodes = (std::iter::once(tail(pair.below(low))).chain(inner))
            .chain([tail(pair.above(high))])
            .filter(|(loss, log_mass)| loss.is_finite() && log_mass.is_finite())
            .collect();
        Some(Self { nodes, signal: 0.0 })
    }

    /// Units of work of [`Self::cumulants`].
    pub(super) fn work(&self) -> f64 {
        10.0 + 7.0 * self.nodes.len() as f64
    }

    /// Cumulants of one round at a tilt.
    pub(super) fn cumulants(&self, tilt: f64) -> Cumulants {
        if self.nodes.is_empty() {
            return Cumulants {
                log_moment: 0.5 * tilt * (tilt + 1.0) * self.signal,
                mean: (tilt + 0.5) * self.signal,
                variance: self.signal,
            };
        }
        let largest = (self.nodes.iter()).fold(f64::NEG_INFINITY, |most, &(loss, log_mass)| {
            most.max(log_mass + tilt * loss)
        });
        let (mut sum, mut first, mut second) = (0.0, 0.0, 0.0);
        for &(loss, log_mass) in &self.nodes {
            let mass = (log_mass + tilt * loss - largest).exp();
            sum += mass;
            first += mass * loss;
            second += mass * loss * loss;
        }
        let mean = first / sum;
        Cumulants {
            log_moment: largest + sum.ln(),
            mean,
            variance: (second / sum - mean * mean).max(0.0),
        }
    }

    /// (loss, weight of larger outputs), by decreasing output.
    ///
    /// The weight is how much a loss matters to δ, relative to loss 0: e^(slope · loss), but no
    /// more than 1/δ, which is what a loss beyond ε adds.
    pub(super) fn weights_above(&self, slope: f64, delta: f64) -> impl Iterator<Item = (f64, f64)> {
        let most = -delta.ln();
        (self.nodes.iter().rev()).scan(0.0, move |sum, &(loss, log_mass)| {
            *sum += (log_mass + (slope * loss).min(most)).exp();
            Some((loss, *sum))
        })
    }
}

/// The privacy loss of all rounds together.
#[derive(Debug, Clone)]
pub(super) struct ComposedLoss {
    rounds: Vec<(f64, RoundLoss)>,
}

impl ComposedLoss {
    /// Collects rounds with their counts.
    pub(super) fn new(rounds: Vec<(f64, RoundLoss)>) -> Self {
        Self { rounds }
    }

    /// Units of work of [`Self::cumulants`].
    pub(super) fn work(&self) -> f64 {
        self.rounds.iter().map(|(_, loss)| loss.work()).sum()
    }

    /// Sums the cumulants of all rounds.
    pub(super) fn cumulants(&self, tilt: f64) -> Cumulants {
        let mut total = Cumulants::default();
        for (times, loss) in &self.rounds {
            let one = loss.cumulants(tilt);
            total.log_moment += times * one.log_moment;
            total.mean += times * one.mean;
            total.variance += times * one.variance;
        }
        total
    }

    /// The tilt under which the mean loss is the ε of this δ, by a saddle-point approximation;
    /// none if ε lies below the untilted mean.
    pub(super) fn tilt_for_delta(&self, delta: f64) -> Option<f64> {
        let goal = delta.ln();
        self.bisect_tilt(|tilt| {
            let at = self.cumulants(tilt);
            let deviation = at.variance.sqrt();
            let tail = scaled_normal_above(tilt * deviation)
                - scaled_normal_above((tilt + 1.0) * deviation);
            at.log_moment - tilt * at.mean + tail.max(1e-300).ln() < goal
        })
    }

    /// The tilt under which the mean loss is this ε, or makes δ vanish (e^−100) for it; none if ε
    /// lies below the untilted mean.
    pub(super) fn tilt_for_epsilon(&self, epsilon: f64) -> Option<f64> {
        self.bisect_tilt(|tilt| {
            let at = self.cumulants(tilt);
            at.mean > epsilon || at.log_moment - tilt * epsilon < -100.0
        })
    }

    /// Where a monotone predicate of the tilt turns true, to one part in a thousand; none if it
    /// is true of the smallest tilts.
    fn bisect_tilt(&self, beyond: impl Fn(f64) -> bool) -> Option<f64> {
        let deviation = self.cumulants(0.0).variance.sqrt().max(1e-12);
        let smallest = 1e-3 / deviation;
        if beyond(smallest) {
            return None;
        }
        let (mut low, mut high) = (smallest.ln(), (1e3 * (1.0 + smallest)).ln() + 14.0);
        while high - low > 1e-3 {
            let middle = 0.5 * (low + high);
            if beyond(middle.exp()) {
                high = middle;
            } else {
                low = middle;
            }
        }
        Some(low.exp())
    }

    /// δ at ε as if the untilted loss were normal; for ε below its mean.
    pub(super) fn normal_delta(&self, epsilon: f64) -> f64 {
        let at = self.cumulants(0.0);
        let deviation = at.variance.sqrt().max(1e-12);
        let above = (at.mean - epsilon) / deviation;
        normal_below(above) - (-0.5 * above * above).exp() * scaled_normal_above(deviation - above)
    }
}
