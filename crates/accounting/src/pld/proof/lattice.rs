//! One round's privacy loss on a lattice, tilted.

use super::pair::{Direction, Pair};
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
    /// Residual of a lattice point that need not be improved; what it is, is carried.
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

/// How the cells of one round are chosen. Any choice gives a bound; a good one gives a narrow bracket.
#[derive(Debug, Clone)]
pub(crate) struct Cells {
    /// ln of about the total mass under the tilt, taken out of all masses.
    pub(crate) log_scale: f64,
    /// How many lattice points a cell spans.
    pub(crate) strides: Strides,
}

/// How many lattice points a cell spans, by its place: one at first.
#[derive(Debug, Clone)]
pub(crate) struct Strides {
    /// (excess from which it holds, stride), by increasing excess.
    levels: Vec<(f64, i64)>,
    /// Levels passed so far.
    passed: usize,
}

impl Strides {
    /// The strides from each excess on, by increasing excess.
    pub(crate) fn new(levels: Vec<(f64, i64)>) -> Self {
        Self { levels, passed: 0 }
    }

    /// The stride at this excess; asked for with increasing excess.
    pub(super) fn at(&mut self, excess: f64) -> i64 {
        while (self.levels.get(self.passed)).is_some_and(|level| level.0 <= excess) {
            self.passed += 1;
        }
        let level = self.passed.checked_sub(1).map(|last| self.levels[last]);
        level.map_or(1, |(_, stride)| stride.max(1))
    }
}
