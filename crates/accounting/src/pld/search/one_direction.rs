//! One direction of one ledger: what is known of it, and compositions made as finely as asked for.

use super::approximate_loss::ComposedLoss;
use super::cells::CellWidths;
use super::detail::{Detail, approximate_loss};
use super::outlook::Outlook;
use super::resolution::{
    Care, FEWEST_POINTS, Resolution, SHARE_OF_WIDTH, level_ratio, transform_length,
};
use crate::effort::Effort;
use crate::pld::proof::{Choice, Curve, Direction, Rounds, Side, certified_curve};

/// Part of the width that losses above the window may take before the rounds are looked at more
/// closely; a window from a fair look leaves them [`SHARE_OF_WIDTH`].
const MISJUDGED_SHARE: f64 = 0.3;
/// Part of what is left of the work that one composition may take.
const ONE_COMPOSITION: f64 = 0.6;
/// Cumulants of all rounds that an outlook takes.
pub(super) const CUMULANTS_OF_OUTLOOK: f64 = 120.0;

/// One direction of one ledger.
pub(super) struct OneDirection<'a> {
    pub(super) effort: &'a Effort,
    pub(super) rounds: &'a Rounds,
    pub(super) direction: Direction,
    detail: Detail,
    loss: ComposedLoss,
    pub(super) outlook: Outlook,
    /// Mass of each round that may be cut off at either end.
    tail: f64,
    /// Longest stretch of losses of a round.
    pub(super) span: f64,
}

impl<'a> OneDirection<'a> {
    /// Looks at the rounds where δ is about this; none if that is more work than is left.
    pub(super) fn new(
        rounds: &'a Rounds,
        direction: Direction,
        delta: f64,
        detail: Detail,
        effort: &'a Effort,
    ) -> Option<Self> {
        // Tails that cost ε less than its width: ln δ falls by at least ε's slope, which is at
        // least about 1 where the width is relative and large where it is absolute.
        let tail = (1e-7 * delta / rounds.count()).max(1e-250);
        let loss = approximate_loss(rounds, direction, tail, detail, effort)?;
        effort.spend(CUMULANTS_OF_OUTLOOK * loss.work())?;
        let outlook = Outlook::at_delta(&loss, delta);
        let records = f64::from(rounds.records);
        effort.spend(rounds.kinds.len() as f64 * (60.0 + 40.0 * records))?;
        let span = (rounds.kinds.iter())
            .map(|kind| {
                let pair = kind.pair(Side::Upper, rounds.records);
                let (low, high) = pair.range(direction, tail);
                pair.excess(high) - pair.excess(low)
            })
            .fold(0.0, f64::max);
        Some(Self {
            effort,
            rounds,
            direction,
            detail,
            loss,
            outlook,
            tail,
            span,
        })
    }

    /// The same, looked at more closely.
    pub(super) fn closer(&self, delta: f64) -> Option<Self> {
        let Self {
            rounds,
            direction,
            effort,
            ..
        } = *self;
        Self::new(rounds, direction, delta, Detail::Close, effort)
    }

    /// What is expected about this ε, where δ is known; none if that is more work than is left.
    pub(super) fn outlook_at(&self, epsilon: f64, delta: f64) -> Option<Outlook> {
        (self.effort).spend(CUMULANTS_OF_OUTLOOK * self.loss.work())?;
        Some(Outlook::at_epsilon(&self.loss, epsilon).for_delta(delta))
    }

    /// One side of the bracket; none if that is more work than is left.
    pub(super) fn curve(&self, side: Side, at: Resolution) -> Option<Curve> {
        self.curve_within(side, at, self.effort)
    }

    /// The same with this work.
    pub(super) fn curve_within(
        &self,
        side: Side,
        at: Resolution,
        effort: &Effort,
    ) -> Option<Curve> {
        let Resolution { window, points, .. } = at;
        let careful = at.care > Care::Ordinary;
        let widths = CellWidths {
            effort,
            direction: self.direction,
            tilt: window.tilt,
            step: window.length / points as f64,
            tail: self.tail,
            rounds: self.rounds.count(),
            slope: at.slope,
            delta: at.delta,
            // Where rounding is the limit a single large loss may decide δ, and the weights that
            // choose the cells are those of sums of ordinary ones.
            tail_share: if careful { 2e-4 } else { 2e-2 },
        };
        let relative_width = at.level_width / at.epsilon.max(at.width);
        let choice = Choice {
            window,
            points,
            tail: self.tail,
            loss_tolerance: SHARE_OF_WIDTH * at.width / self.rounds.count(),
            level_ratio: level_ratio(side, relative_width, self.tail),
            exact_differences: careful,
            cells: &|pair| widths.choose(pair),
        };
        certified_curve(self.rounds, side, &choice, effort)
    }

    /// As [`Self::curve`], with fewer points if all of them take more work than one composition may.
    /// Changes the resolution to what it was made with.
    pub(super) fn curve_of_what_fits(&self, side: Side, at: &mut Resolution) -> Option<Curve> {
        loop {
            let most = ONE_COMPOSITION * self.effort.left();
            let made = (self.effort).with_part(most, |effort| self.curve_within(side, *at, effort));
            if made.is_some() {
                return made;
            }
            if at.points <= FEWEST_POINTS {
                return None;
            }
            at.points = transform_length(at.points as f64 / 8.0);
        }
    }

    /// So much of δ lies above the window that it was chosen without knowing some of the rounds:
    /// the upper end would be far off, or infinite, however fine the lattice.
    pub(super) fn misjudged(&self, above: &Curve, at: Resolution) -> bool {
        let width = above.missed() / (at.delta * at.slope);
        let fair = width <= MISJUDGED_SHARE * at.width;
        !fair && self.detail.misses_some_of(self.rounds)
    }
}
