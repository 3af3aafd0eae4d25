//! The two output distributions that neighbouring data sets may have in one round.

use crate::special::{ROUNDOFF, normal_below};

/// Which of the two data sets is the one with the extra unit.
///
/// Both are composed separately and the larger ε counts (Zhu, Dong & Wang 2022, §3).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Direction {
    /// Divergence of the output with the unit from the output without it.
    Remove,
    /// Divergence of the output without the unit from the output with it.
    Add,
}

impl Direction {
    /// The privacy loss is this times L = ln dP/dQ.
    pub(crate) fn sign(self) -> f64 {
        match self {
            Self::Remove => 1.0,
            Self::Add => -1.0,
        }
    }

    /// The power of dP/dQ, under Q, that tilts the privacy loss by e^(tilt · loss).
    pub(crate) fn power(self, tilt: f64) -> f64 {
        match self {
            Self::Remove => 1.0 + tilt,
            Self::Add => -tilt,
        }
    }
}

/// One Gaussian of the mixture P.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Part {
    /// How many of the unit's records were drawn: the mean.
    pub(crate) shift: f64,
    /// Natural logarithm of the probability of drawing so many.
    pub(crate) log_weight: f64,
}

/// P = Σⱼ wⱼ N(j, s²) against Q = N(0, s²), where j of the unit's records are drawn with
/// probability wⱼ. L(x) = ln dP/dQ increases with x.
#[derive(Debug, Clone)]
pub(crate) struct Pair {
    noise: f64,
    /// 1/s²
    precision: f64,
    /// ln w₀, unless the unit is always drawn.
    rest: Option<f64>,
    parts: Vec<Part>,
}

/// A point of the output line and what the likelihood ratio is made of there.
#[derive(Debug, Clone, Default)]
pub(crate) struct Anchor {
    /// Output value.
    pub(crate) x: f64,
    /// L(x) less [`Pair::origin`].
    pub(crate) excess: f64,
    /// Posterior probability of each part, in the order of [`Pair::parts`].
    pub(crate) shares: Vec<f64>,
}

impl Pair {
    /// The unit always takes part: a plain Gaussian of sensitivity 1.
    pub(crate) fn full(noise: f64) -> Self {
        Self {
            noise,
            precision: (noise * noise).recip(),
            rest: None,
            parts: vec![Part {
                shift: 1.0,
                log_weight: 0.0,
            }],
        }
    }

    /// Each of the unit's `records` is drawn with probability `rate` < 1.
    pub(crate) fn poisson(rate: f64, records: u32, noise: f64) -> Self {
        let (drawn, kept_out) = (rate.ln(), (-rate).ln_1p());
        let mut log_choices = 0.0;
        let parts = (1..=records)
            .map(|j| {
                log_choices += (f64::from(records - j + 1) / f64::from(j)).ln();
                Part {
                    shift: f64::from(j),
                    log_weight: log_choices
                        + f64::from(j) * drawn
                        + f64::from(records - j) * kept_out,
                }
            })
            .collect();
        Self {
            noise,
            precision: (noise * noise).recip(),
            rest: Some(f64::from(records) * kept_out),
            parts,
        }
    }

    /// Standard deviation of the noise.
    pub(crate) fn noise(&self) -> f64 {
        self.noise
    }

    /// Inverse variance of the noise.
    pub(crate) fn precision(&self) -> f64 {
        self.precision
    }

    /// The Gaussians with a mean above 0.
    pub(crate) fn parts(&self) -> &[Part] {
        &self.parts
    }

    /// The unit may be left out, so L has the finite infimum [`Self::origin`].
    pub(crate) fn is_sampled(&self) -> bool {
        self.rest.is_some()
    }

    /// Units of work to look at every part once.
    pub(crate) fn work(&self) -> f64 {
        match self.parts.len() {
            1 => 4.0,
            several => 14.0 * several as f64,
        }
    }

    /// ln w₀, the infimum of L (0 if there is none).
    pub(crate) fn origin(&self) -> f64 {
        self.rest.unwrap_or(0.0)
    }

    /// ln of the density ratio of one part to Q, at `x`.
    fn exponent(&self, shift: f64, x: f64) -> f64 {
        shift * (x - 0.5 * shift) * self.precision
    }

    /// ln Σⱼ≥₁ wⱼ e^(aⱼ(x)) less the origin: the log odds that the unit was drawn.
    /// Also its slope in x.
    fn log_odds(&self, x: f64) -> (f64, f64) {
        if let [only] = self.parts[..] {
            let odds = only.log_weight - self.origin() + self.exponent(only.shift, x);
            return (odds, only.shift * self.precision);
        }
        let terms = || {
            self.parts
                .iter()
                .map(|part| (part.shift, part.log_weight + self.exponent(part.shift, x)))
        };
        let largest = terms().fold(f64::NEG_INFINITY, |most, (_, term)| most.max(term));
        let (mut sum, mut weighted) = (0.0, 0.0);
        for (shift, term) in terms() {
            let share = (term - largest).exp();
            sum += share;
            weighted += share * shift;
        }
        (
            largest + sum.ln() - self.origin(),
            weighted / sum * self.precision,
        )
    }

    /// L(x) less the origin.
    pub(crate) fn excess(&self, x: f64) -> f64 {
        let (odds, _) = self.log_odds(x);
        if self.is_sampled() {
            softplus(odds)
        } else {
            odds
        }
    }

    /// Moves an anchor to output `x`.
    pub(crate) fn move_to(&self, anchor: &mut Anchor, x: f64) {
        let excess = self.excess(x);
        self.move_to_known(anchor, x, excess);
    }

    /// Moves an anchor to output `x`, whose excess is known.
    pub(crate) fn move_to_known(&self, anchor: &mut Anchor, x: f64, excess: f64) {
        anchor.x = x;
        anchor.excess = excess;
        anchor.shares.clear();
        if self.parts.len() == 1 {
            anchor.shares.push(self.single_share(excess));
        } else {
            anchor.shares.extend(self.parts.iter().map(|part| {
                (part.log_weight + self.exponent(part.shift, x) - self.origin() - excess).exp()
            }));
        }
    }

    fn single_share(&self, excess: f64) -> f64 {
        if self.is_sampled() {
            -(-excess).exp_m1()
        } else {
            1.0
        }
    }

    /// The output at which L is `excess` above the origin (above 0 if the unit may be left out).
    pub(crate) fn locate(&self, excess: f64) -> f64 {
        self.locate_from(0.0, excess)
    }

    /// The same, looked for from an output near it.
    pub(crate) fn locate_from(&self, start: f64, excess: f64) -> f64 {
        let goal = if self.is_sampled() {
            // ln(e^excess − 1) without overflow.
            excess + (-(-excess).exp_m1()).ln()
        } else {
            excess
        };
        if let [only] = self.parts[..] {
            let exponent = goal - (only.log_weight - self.origin());
            return self.noise * self.noise * exponent / only.shift + 0.5 * only.shift;
        }
        // The log odds are convex and increasing in x: Newton from any point lands right of the
        // root at most once and then descends to it.
        let mut x = start;
        for iteration in 0..200 {
            let (odds, slope) = self.log_odds(x);
            let next = x - (odds - goal) / slope;
            // Only rounding leads right again: much noise spreads that of the odds over outputs.
            let done = (iteration > 0 && next >= x)
                || (next - x).abs() <= 4.0 * ROUNDOFF * (1.0 + next.abs());
            x = next;
            if done {
                break;
            }
        }
        x
    }

    /// Probability of an output at most `x`: (under P, under Q).
    pub(crate) fn below(&self, x: f64) -> (f64, f64) {
        let rest = normal_below(x / self.noise);
        (self.drawn_below(x) + self.rest_weight() * rest, rest)
    }

    /// Probability that records are drawn and the output is at most `x`.
    pub(crate) fn drawn_below(&self, x: f64) -> f64 {
        self.parts
            .iter()
            .map(|part| part.log_weight.exp() * normal_below((x - part.shift) / self.noise))
            .sum()
    }

    /// Probability of an output above `x`: (under P, under Q).
    pub(crate) fn above(&self, x: f64) -> (f64, f64) {
        let rest = normal_below(-x / self.noise);
        let drawn: f64 = self
            .parts
            .iter()
            .map(|part| part.log_weight.exp() * normal_below((part.shift - x) / self.noise))
            .sum();
        (drawn + self.rest_weight() * rest, rest)
    }

    fn rest_weight(&self) -> f64 {
        self.rest.map_or(0.0, f64::exp)
    }

    /// An interval of outputs outside which the first distribution of the divergence (P for
    /// remove, Q for add) has mass of order `tail`.
    pub(crate) fn range(&self, direction: Direction, tail: f64) -> (f64, f64) {
        let reach = |log_weight: f64| {
            // P(Z > z) ≤ e^(−z²/2)/2.
            let nats = log_weight - tail.ln();
            (nats > 0.0).then(|| self.noise * (2.0 * nats).sqrt())
        };
        let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
        let mut cover = |mean: f64, log_weight: f64| {
            if let Some(reach) = reach(log_weight) {
                low = low.min(mean - reach);
                high = high.max(mean + reach);
            }
        };
        match direction {
            Direction::Add => cover(0.0, 0.0),
            Direction::Remove => {
                if let Some(rest) = self.rest {
                    cover(0.0, rest);
                }
                for part in &self.parts {
                    cover(part.shift, part.log_weight);
                }
            }
        }
        (low, high)
    }

    /// A bound on the error of L at a computed output between `low` and `high`, and of the
    /// masses P and Q of a cell there, all relative to the ratio dP/dQ.
    pub(crate) fn loss_error(&self, low: f64, high: f64) -> f64 {
        let farthest = low.abs().max(high.abs());
        let most = self.parts.last().map_or(1.0, |part| part.shift);
        let logs: f64 = self.parts.first().map_or(0.0, |part| part.log_weight.abs())
            + self.parts.last().map_or(0.0, |part| part.log_weight.abs());
        let sizes =
            4.0 + logs + self.origin().abs() + most * (farthest + most) / (self.noise * self.noise);
        (8.0 + 2.0 * self.parts.len() as f64) * ROUNDOFF * sizes
    }
}

impl Pair {
    /// A bound on the relative error of tail probabilities at output `x`: the argument of the
    /// error function is rounded.
    pub(crate) fn tail_error(&self, x: f64) -> f64 {
        let most = self.parts.last().map_or(1.0, |part| part.shift);
        let reach = (x.abs() + most) / self.noise;
        8.0 * ROUNDOFF * (1.0 + reach * reach)
    }
}

/// ln(1 + e^x) without overflow.
fn softplus(x: f64) -> f64 {
    if x > 0.0 {
        x + (-x).exp().ln_1p()
    } else {
        x.exp().ln_1p()
    }
}
