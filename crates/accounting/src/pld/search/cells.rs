//! How wide the cells of a round are, and its scale under the tilt.

use super::approximate_loss::RoundLoss;
use crate::effort::Effort;
use crate::pld::proof::{Cells, Direction, Pair, Strides};

/// How the cells of every round of a composition are chosen.
#[derive(Debug, Clone, Copy)]
pub(super) struct CellWidths<'a> {
    /// Work that is left.
    pub(super) effort: &'a Effort,
    /// Which divergence is composed.
    pub(super) direction: Direction,
    /// Tilt of the composition.
    pub(super) tilt: f64,
    /// Distance of neighbouring lattice points.
    pub(super) step: f64,
    /// Mass a round may cut off at each end.
    pub(super) tail: f64,
    /// Rounds in all.
    pub(super) rounds: f64,
    /// How fast ln δ falls with ε where it will be read.
    pub(super) slope: f64,
    /// δ there.
    pub(super) delta: f64,
    /// Part of the variance a lattice adds that its wide cells may add.
    pub(super) tail_share: f64,
}

impl CellWidths<'_> {
    /// The cells of one round; none if choosing them is more work than is left.
    pub(super) fn choose(&self, pair: &Pair) -> Option<Cells> {
        let loss = RoundLoss::new(pair, self.direction, self.tail, self.effort)?;
        self.effort.spend(2.0 * loss.work())?;
        Some(Cells {
            log_scale: loss.cumulants(self.tilt).log_moment,
            strides: self.strides(pair, &loss),
        })
    }

    /// Where a round's losses hardly matter to δ, wider cells cost nothing.
    ///
    /// Cells of stride k cost k² times the variance; a tail of weight G gets k² ≤ share/G, and no more
    /// than a quarter of the length over which G falls by a factor of e.
    fn strides(&self, pair: &Pair, loss: &RoundLoss) -> Strides {
        // The kink of δ at ε must be smoothed by other rounds for wide cells to do no harm.
        let most = if self.rounds < 50.0 {
            1.0
        } else {
            0.3 / ((1.0 + self.slope) * self.step)
        };
        let mut levels = Vec::new();
        let mut before: Option<(f64, f64)> = None;
        for (loss, tail) in loss.weights_above(self.slope, self.delta) {
            let fall = before.map_or(0.0, |(beyond, less)| {
                0.25 * (beyond - loss).abs() / (tail / less).ln()
            });
            before = Some((loss, tail));
            let wanted = (self.tail_share / tail)
                .sqrt()
                .min(most)
                .min(fall / self.step);
            if wanted < 2.0 && levels.is_empty() {
                continue;
            }
            if wanted.is_nan() || wanted < 2.0 {
                break;
            }
            let stride = 1_i64 << wanted.min(1e6).log2() as u32;
            let excess = loss * self.direction.sign() - pair.origin();
            match levels.last_mut() {
                Some((from, same)) if *same == stride => *from = excess,
                _ => levels.push((excess, stride)),
            }
        }
        levels.reverse();
        Strides::new(levels)
    }
}
