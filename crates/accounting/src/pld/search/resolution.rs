//! How finely a composition is made.

use super::one_direction::OneDirection;
use super::outlook::Outlook;
use crate::pld::proof::{Side, Window};

/// Longest transform; more points would take seconds and hundreds of megabytes.
pub(super) const MOST_POINTS: usize = 1 << 22;
/// Shortest transform.
pub(super) const FEWEST_POINTS: usize = 1 << 10;
/// Longest transform before a measured width justifies more.
pub(super) const MOST_POINTS_UNSEEN: usize = 1 << 17;
/// Most coefficients computed for one pair of compositions: a few seconds of work.
pub(super) const MOST_WORK: f64 = 1.6e8;
/// Part of the width that tails, aliases and cuts may each take.
pub(super) const SHARE_OF_WIDTH: f64 = 0.01;
/// Part of the width that rounding may take before more care is taken.
pub(super) const ROUNDING_SHARE: f64 = 0.35;
/// Part of the width that blending of noise levels may take on the lower side.
pub(super) const LEVEL_SHARE: f64 = 0.2;
/// Longest distance of lattice points: ratios within a cell should not differ by orders.
const MOST_STEP: f64 = 0.25;
/// How often the losses of one round may wrap around the window.
const MOST_WRAPS: f64 = 16.0;

/// What is done about rounding, each level where the one before has proved not to be enough.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd)]
pub(super) enum Care {
    /// Nothing.
    Ordinary,
    /// The lowest coefficients are summed as differences.
    ExactDifferences,
    /// A stronger tilt, too, which needs a longer window.
    StrongTilt,
    /// Nearly the tilt at which errors count least.
    StrongestTilt,
}

impl Care {
    /// The next level; none after the last.
    pub(super) fn more(self) -> Option<Self> {
        match self {
            Self::Ordinary => Some(Self::ExactDifferences),
            Self::ExactDifferences => Some(Self::StrongTilt),
            Self::StrongTilt => Some(Self::StrongestTilt),
            Self::StrongestTilt => None,
        }
    }
}

/// How a composition is made.
#[derive(Debug, Clone, Copy)]
pub(super) struct Resolution {
    pub(super) window: Window,
    pub(super) points: usize,
    /// Width of ε aimed at.
    pub(super) width: f64,
    /// Width that blending of noise levels may take.
    pub(super) level_width: f64,
    /// Where it will be read: ε, δ, and how fast ln δ falls with ε.
    pub(super) epsilon: f64,
    pub(super) delta: f64,
    pub(super) slope: f64,
    /// What is done about rounding.
    pub(super) care: Care,
}

impl OneDirection<'_> {
    /// A window from this bottom, with points enough for this width of ε.
    pub(super) fn resolve(
        &self,
        outlook: &Outlook,
        bottom: f64,
        width: f64,
        care: Care,
    ) -> Resolution {
        let rounds = self.rounds.count();
        let loss = (SHARE_OF_WIDTH * outlook.slope * width).clamp(1e-10, 1e-2);
        let free = (1e13 * loss / (rounds + 1.0)).clamp(30.0, 1e7);
        let amplification = match care {
            Care::Ordinary | Care::ExactDifferences => free,
            Care::StrongTilt => (3.0 * free).sqrt(),
            Care::StrongestTilt => 3.0,
        };
        let shortest = self.span / MOST_WRAPS;
        let window = outlook.window(self.direction, bottom, loss, amplification, shortest);
        // The two lattices differ by h²/4 in variance per round, which moves ε by (1 + slope)/2
        // of it. Blending takes its share of the width, so it leaves less.
        let room = if self.rounds.kinds.len() > 100 {
            3.0
        } else {
            6.0
        };
        let step = (room * width / (rounds * (1.0 + outlook.slope)))
            .sqrt()
            .min(MOST_STEP);
        Resolution {
            window,
            points: transform_length(window.length / step),
            width,
            level_width: LEVEL_SHARE * width,
            epsilon: outlook.epsilon,
            delta: outlook.delta,
            slope: outlook.slope,
            care,
        }
    }
}

/// The smallest length of at least this many points whose transform is fast.
pub(super) fn transform_length(points: f64) -> usize {
    let wanted = points.clamp(FEWEST_POINTS as f64, MOST_POINTS as f64) as usize;
    let power = wanted.next_power_of_two();
    [power / 8 * 5, power / 4 * 3, power]
        .into_iter()
        .find(|&length| length >= wanted)
        .unwrap_or(power)
}

/// Ratio of noise levels that keeps the error of blending within this relative width of ε.
pub(super) fn level_ratio(side: Side, relative_width: f64, tail: f64) -> f64 {
    // The noise is off by about (ln ratio · reach)²/6, reach in deviations; ε by twice that. A
    // dominated blend is fitted at the farthest point of its lattices, a dominating one at 0, so
    // that it errs by what the outputs that matter are away.
    let reach_square = match side {
        Side::Upper => 30.0,
        Side::Lower => -2.0 * tail.ln(),
    };
    (6.0 * relative_width / reach_square).sqrt().exp()
}
