//! One round's privacy loss on a lattice, tilted.

use super::pair::{Direction, Pair};
use super::profile::Profile;
use crate::effort::Effort;
use crate::special::ROUNDOFF;

/// How every round of a composition is put on the lattice.
#[derive(Debug, Clone, Copy)]
pub(super) struct Grid<'a> {
    /// Work that is left.
    pub(super) effort: &'a Effort,
    /// Which divergence is composed.
    pub(super) direction: Direction,
    /// Masses are multiplied by e^(tilt · loss).
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
    /// Error of a loss per round that does not matter.
    pub(super) loss_tolerance: f64,
}

/// Mass at a lattice point.
#[derive(Debug, Clone, Copy)]
pub(super) struct Point {
    /// Which point.
    pub(super) index: i64,
    /// Tilted mass: Q-mass · R^power · e^(−log_scale).
    pub(super) mass: f64,
}

/// Adds mass to the last point, or to a new one after it.
pub(super) fn put(points: &mut Vec<Point>, index: i64, mass: f64) {
    match points.last_mut() {
        Some(last) if last.index == index => last.mass += mass,
        _ => points.push(Point { index, mass }),
    }
}

/// A measure on points `origin + index · step` of L = ln dP/dQ.
#[derive(Debug, Clone)]
pub(super) struct Lattice {
    /// Position of lattice index 0.
    pub(super) origin: f64,
    /// Points that have mass, by increasing index; wide cells leave most without.
    pub(super) points: Vec<Point>,
    /// Common factor taken out of the masses, so that they sum to about 1.
    pub(super) log_scale: f64,
    /// Mass of infinite privacy loss.
    pub(super) infinite: f64,
    /// Every loss may be off by this much.
    pub(super) loss_error: f64,
    /// Every mass may be off by this share of itself.
    pub(super) mass_error: f64,
    /// Outputs below the first and above the last of these were merged or cut off.
    pub(super) cuts: (f64, f64),
}

impl Grid<'_> {
    /// Bound on the relative error of a tilted mass between two outputs (PROOF.md, §5): some
    /// hundred roundings, and the rounding of the exponent of density and tilt.
    pub(super) fn mass_error(&self, pair: &Pair, low: f64, high: f64, log_scale: f64) -> f64 {
        let reach = low.abs().max(high.abs()) / pair.noise();
        let loss = pair.excess(low).abs().max(pair.excess(high).abs()) + pair.origin().abs();
        let exponents =
            0.5 * reach * reach + self.direction.power(self.tilt).abs() * loss + log_scale.abs();
        1e-13 + 16.0 * ROUNDOFF * exponents
    }
}

/// How many lattice points a cell may span, by position: where a round's losses hardly matter to
/// δ, wider cells cost nothing.
///
/// Cells of stride k cost k² times the variance; a tail of weight G gets k² ≤ share/G, and no more
/// than a quarter of the length over which G falls by a factor of e.
#[derive(Debug, Clone)]
pub(super) struct Strides {
    /// (excess from which it holds, stride), by increasing excess.
    levels: Vec<(f64, i64)>,
    current: usize,
}

impl Strides {
    /// Strides for one round.
    pub(super) fn new(pair: &Pair, profile: &Profile, grid: &Grid) -> Self {
        // The kink of δ at ε must be smoothed by other rounds for wide cells to do no harm.
        let most = if grid.rounds < 50.0 {
            1.0
        } else {
            0.3 / ((1.0 + grid.slope) * grid.step)
        };
        let mut levels = Vec::new();
        let mut before: Option<(f64, f64)> = None;
        for (loss, tail) in profile.weights_above(grid.slope, grid.delta) {
            let fall = before.map_or(0.0, |(beyond, less)| {
                0.25 * (beyond - loss).abs() / (tail / less).ln()
            });
            before = Some((loss, tail));
            let wanted = (grid.tail_share / tail)
                .sqrt()
                .min(most)
                .min(fall / grid.step);
            if wanted < 2.0 && levels.is_empty() {
                continue;
            }
            if wanted.is_nan() || wanted < 2.0 {
                break;
            }
            let stride = 1_i64 << wanted.min(1e6).log2() as u32;
            let excess = loss * grid.direction.sign() - pair.origin();
            match levels.last_mut() {
                Some((from, same)) if *same == stride => *from = excess,
                _ => levels.push((excess, stride)),
            }
        }
        levels.push((f64::NEG_INFINITY, 1));
        levels.reverse();
        Self { levels, current: 0 }
    }

    /// The stride at this excess; asked for with increasing excess.
    pub(super) fn at(&mut self, excess: f64) -> i64 {
        while (self.levels.get(self.current + 1)).is_some_and(|level| level.0 <= excess) {
            self.current += 1;
        }
        self.levels[self.current].1
    }
}
