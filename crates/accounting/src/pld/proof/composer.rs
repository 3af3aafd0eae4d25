//! One end of the bracket: all rounds of a ledger put on a lattice, composed and read.

use super::composition::Composition;
use super::curve::Curve;
use super::dominated::dominated_lattice;
use super::dominating::dominating_lattice;
use super::lattice::{Cells, Grid, Lattice};
use super::low_frequencies::LowFrequencies;
use super::noise_levels::Levels;
use super::pair::Pair;
use super::rounds::{RoundKind, Rounds, Side};
use super::spectrum::Spectrum;
use super::transform::{Transform, work_of_points};
use super::window::Window;
use crate::effort::Effort;

/// How one end of a bracket is computed.
///
/// Any choice gives a bound, or none at all; a poor one gives a wide bracket, never a wrong one. So it
/// may come from code that proves nothing.
pub(crate) struct Choice<'a> {
    /// Which losses are held, and under which tilt.
    pub(crate) window: Window,
    /// Lattice points of the window, an even number.
    pub(crate) points: usize,
    /// Mass a round may cut off at each end.
    pub(crate) tail: f64,
    /// Error of a loss per round that does not matter.
    pub(crate) loss_tolerance: f64,
    /// Largest ratio of neighbouring noise levels between which others are blended.
    pub(crate) level_ratio: f64,
    /// The lowest frequencies are worth more work.
    pub(crate) exact_differences: bool,
    /// Chooses the cells of a round; none if that is more work than is left.
    pub(crate) cells: &'a dyn Fn(&Pair) -> Option<Cells>,
}

/// δ as a function of ε, certainly not below the truth or not above it, for one direction; none if that
/// is more work than is left.
///
/// # Guarantee
/// PROOF.md. Every round of the ledger is replaced by one that dominates it (upper side) or that it
/// dominates (lower side), and the composition of these is read with all errors against us.
pub(crate) fn certified_curve(
    rounds: &Rounds,
    side: Side,
    choice: &Choice,
    effort: &Effort,
) -> Option<Curve> {
    let Choice { window, points, .. } = *choice;
    if !window.is_sound() || points == 0 || points % 2 == 1 {
        return None;
    }
    // Transforms, products and sums over all points; the kinds of rounds are copied and sorted.
    effort.spend(40.0 * work_of_points(points) + rounds.work())?;
    let mut transform = Transform::new(points);
    let mut composition = Composition::new(window, &mut transform);
    let grid = Grid {
        effort,
        direction: window.direction,
        tilt: window.tilt,
        step: window.length / points as f64,
        tail: choice.tail,
        loss_tolerance: choice.loss_tolerance,
    };
    let mut composer = Composer {
        side,
        choice,
        grid: &grid,
        transform: &mut transform,
        composition: &mut composition,
    };
    let limited = rounds.limited(side).within_cells(grid.step, side);
    for alike in limited.by_rate() {
        composer.include_alike(alike, rounds.records)?;
    }
    let curve = Curve::new(side, composition.finish(&mut transform), window);
    transform.keep();
    Some(curve)
}

/// A composition that rounds are being added to.
pub(super) struct Composer<'a> {
    pub(super) side: Side,
    choice: &'a Choice<'a>,
    pub(super) grid: &'a Grid<'a>,
    transform: &'a mut Transform,
    pub(super) composition: &'a mut Composition,
}

impl Composer<'_> {
    /// Adds rounds of one rate, sorted by noise; none if that is more work than is left.
    fn include_alike(&mut self, alike: &[RoundKind], records: u32) -> Option<()> {
        // Blends are proved for single records only.
        let single = records == 1 && alike[0].rate.is_some();
        if let Some(levels) = Levels::cover(alike, self.choice.level_ratio).filter(|_| single) {
            return self.include_blends(alike, &levels);
        }
        for kind in alike {
            let pair = kind.pair(self.side, records);
            self.grid.effort.spend(3.0 * pair.work())?;
            self.include(&pair, kind.times)?;
        }
        Some(())
    }

    /// Adds equal rounds; none if that is more work than is left.
    fn include(&mut self, pair: &Pair, times: u64) -> Option<()> {
        let lattice = self.lattice(pair, None)?;
        let centre = lattice.heaviest();
        let spectrum = self.transformed(&lattice, centre)?;
        (self.composition).include(&spectrum, times, self.grid.effort)
    }

    /// The lattice of one round, for this side; with a point at this offset from the pair's origin, if
    /// it is given and the side is the lower one.
    pub(super) fn lattice(&self, pair: &Pair, offset: Option<f64>) -> Option<Lattice> {
        let cells = (self.choice.cells)(pair)?;
        let lattice = match self.side {
            Side::Upper => dominating_lattice(pair, self.grid, cells),
            Side::Lower => dominated_lattice(pair, self.grid, cells, offset),
        }?;
        // Long lattices reach far into the tails, where exponentials underflow, which is slow.
        let slow = work_of_points(self.transform.length) / self.transform.length as f64 - 1.0;
        (self.grid.effort).spend(30.0 * slow * lattice.points.len() as f64)?;
        Some(lattice)
    }

    /// The spectrum of a lattice, at the frequencies that still matter.
    pub(super) fn transformed(&mut self, lattice: &Lattice, centre: i64) -> Option<Spectrum> {
        let frequencies = self.composition.active();
        // Low frequencies alone are transformed from twelve moments of blocks of points.
        let length = self.transform.length;
        let transform = match LowFrequencies::blocks(length, frequencies) {
            Some(blocks) => 180.0 * blocks as f64 + 40.0 * frequencies as f64,
            None => 7.0 * work_of_points(length),
        };
        (self.grid.effort).spend(18.0 * lattice.points.len() as f64 + transform)?;
        self.composition
            .transformed(lattice.points.len() + self.transform.length);
        Spectrum::new(
            lattice,
            centre,
            &self.choice.window,
            self.transform,
            frequencies,
            self.choice.exact_differences,
        )
    }
}
