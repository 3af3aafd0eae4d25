//! A composition in the making: rounds, or blends of noise levels, included one after the other.

use super::blend::{Levels, farthest_point, weight_down, weight_up};
use super::compose::Composition;
use super::lattice::{Grid, Lattice};
use super::lower::be_dominated;
use super::moments::LowFrequencies;
use super::pair::Pair;
use super::profile::Profile;
use super::spectrum::Spectrum;
use super::steps::{Side, Step};
use super::transform::{Transform, work_of_points};
use super::upper::dominate;
use super::window::Window;

/// Noise levels within this ratio share a lattice.
const RATIO_ON_ONE_LATTICE: f64 = 1.1;

/// Units of work to find the weights of a blend.
const WORK_OF_BLEND: f64 = 450.0;

/// A composition in the making.
pub(super) struct Making<'a> {
    pub side: Side,
    /// The lowest frequencies are worth more work.
    pub fine: bool,
    pub grid: &'a Grid<'a>,
    pub window: &'a Window,
    pub transform: &'a mut Transform,
    pub composition: &'a mut Composition,
}

impl Making<'_> {
    fn lattice(&self, pair: &Pair, offset: Option<f64>) -> Option<Lattice> {
        let Grid {
            direction,
            tail,
            effort,
            ..
        } = *self.grid;
        let profile = Profile::new(pair, direction, tail, effort)?;
        let lattice = match self.side {
            Side::Upper => dominate(pair, self.grid, &profile),
            Side::Lower => be_dominated(pair, self.grid, &profile, offset),
        }?;
        // Long lattices reach far into the tails, where exponentials underflow, which is slow.
        let slow = work_of_points(self.transform.length) / self.transform.length as f64 - 1.0;
        effort.spend(30.0 * slow * lattice.points.len() as f64)?;
        Some(lattice)
    }

    fn transformed(&mut self, lattice: &Lattice, centre: i64) -> Option<Spectrum> {
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
        Some(Spectrum::new(
            lattice,
            centre,
            self.window,
            self.transform,
            frequencies,
            self.fine,
        ))
    }

    /// Composes equal rounds; none if that is more work than is left.
    pub fn include(&mut self, pair: &Pair, times: u64) -> Option<()> {
        let lattice = self.lattice(pair, None)?;
        let centre = lattice.heaviest();
        let spectrum = self.transformed(&lattice, centre)?;
        (self.composition).include(&spectrum, times, self.grid.effort)
    }

    /// Composes rounds of one rate, sorted by noise, each as a blend of two levels; none if that is
    /// more work than is left.
    pub fn blend(&mut self, steps: &[Step], levels: &Levels) -> Option<()> {
        let noises = levels.noises();
        let ratio = noises[1] / noises[0];
        let group = (RATIO_ON_ONE_LATTICE.ln() / ratio.ln()).clamp(1.0, 1e6) as usize;
        let (mut left, mut start) = (steps, 0);
        while start + 1 < noises.len() {
            let end = (start + group).min(noises.len() - 1);
            let count = if end + 1 == noises.len() {
                left.len()
            } else {
                left.partition_point(|step| step.noise(self.side) <= noises[end])
            };
            let (here, beyond) = left.split_at(count);
            if !here.is_empty() {
                self.blend_on_one_lattice(here, &noises[start..=end])?;
            }
            (left, start) = (beyond, end);
        }
        Some(())
    }

    /// The same for levels near each other, which share one lattice: that of the middle one.
    ///
    /// The lower lattice is shifted to fit its first interval, and a noise far from the one it
    /// fits must merge more outputs.
    fn blend_on_one_lattice(&mut self, steps: &[Step], noises: &[f64]) -> Option<()> {
        let pair = |noise: f64| steps[0].pair_of_noise(noise, 1);
        let middle = pair(noises[noises.len() / 2]);
        let fitted = self.lattice(&middle, None)?;
        let centre = fitted.heaviest();
        let offset = Some(fitted.origin - middle.origin());
        let level = |making: &mut Self, noise: f64| {
            let lattice = making.lattice(&pair(noise), offset)?;
            let farthest = farthest_point(&lattice, noise);
            Some((making.transformed(&lattice, centre)?, farthest))
        };
        let mut low = level(self, noises[0])?;
        let mut left = steps;
        for bounds in noises.windows(2) {
            let high = level(self, bounds[1])?;
            let last = bounds[1] == noises[noises.len() - 1];
            let count = if last {
                left.len()
            } else {
                left.partition_point(|step| step.noise(self.side) <= bounds[1])
            };
            let (here, beyond) = left.split_at(count);
            (self.grid.effort).spend(WORK_OF_BLEND * here.len() as f64)?;
            let mut blends = Vec::with_capacity(here.len());
            for step in here {
                let noise = step.noise(self.side).clamp(bounds[0], bounds[1]);
                let weight = match self.side {
                    Side::Upper => weight_up(bounds[0], bounds[1], noise),
                    Side::Lower => weight_down(bounds[0], bounds[1], noise, low.1.max(high.1)),
                };
                let (scalars, share) = low.0.scalars.blend(&high.0.scalars, weight);
                blends.push((share, scalars, step.times));
            }
            (self.composition).include_blends(&low.0, &high.0, &blends, self.grid.effort)?;
            left = beyond;
            low = high;
        }
        Some(())
    }
}
