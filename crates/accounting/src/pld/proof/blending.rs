//! Rounds of many noise levels are added to a composition as blends of two of a few (PROOF.md, §6).

use super::composer::Composer;
use super::noise_levels::{Levels, farthest_point, weight_down, weight_up};
use super::rounds::{RoundKind, Side};

/// Noise levels within this ratio share a lattice.
const RATIO_ON_ONE_LATTICE: f64 = 1.1;

/// Units of work to find the weights of a blend.
const WORK_OF_BLEND: f64 = 450.0;

impl Composer<'_> {
    /// Adds rounds of one rate, sorted by noise, each as a blend of two levels; none if that is
    /// more work than is left.
    pub(super) fn include_blends(&mut self, kinds: &[RoundKind], levels: &Levels) -> Option<()> {
        let noises = levels.noises();
        let ratio = noises[1] / noises[0];
        let group = (RATIO_ON_ONE_LATTICE.ln() / ratio.ln()).clamp(1.0, 1e6) as usize;
        let (mut left, mut start) = (kinds, 0);
        while start + 1 < noises.len() {
            let end = (start + group).min(noises.len() - 1);
            let count = if end + 1 == noises.len() {
                left.len()
            } else {
                left.partition_point(|kind| kind.noise(self.side) <= noises[end])
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
    fn blend_on_one_lattice(&mut self, kinds: &[RoundKind], noises: &[f64]) -> Option<()> {
        let pair = |noise: f64| kinds[0].pair_of_noise(noise, 1);
        let middle = pair(noises[noises.len() / 2]);
        let fitted = self.lattice(&middle, None)?;
        let centre = fitted.heaviest();
        let offset = Some(fitted.origin - middle.origin());
        let level = |composer: &mut Self, noise: f64| {
            let lattice = composer.lattice(&pair(noise), offset)?;
            let farthest = farthest_point(&lattice, noise);
            Some((composer.transformed(&lattice, centre)?, farthest))
        };
        let mut low = level(self, noises[0])?;
        let mut left = kinds;
        for bounds in noises.windows(2) {
            let high = level(self, bounds[1])?;
            let last = bounds[1] == noises[noises.len() - 1];
            let count = if last {
                left.len()
            } else {
                left.partition_point(|kind| kind.noise(self.side) <= bounds[1])
            };
            let (here, beyond) = left.split_at(count);
            (self.grid.effort).spend(WORK_OF_BLEND * here.len() as f64)?;
            let mut blends = Vec::with_capacity(here.len());
            for kind in here {
                let noise = kind.noise(self.side).clamp(bounds[0], bounds[1]);
                let weight = match self.side {
                    Side::Upper => weight_up(bounds[0], bounds[1], noise),
                    Side::Lower => weight_down(bounds[0], bounds[1], noise, low.1.max(high.1)),
                };
                let (scalars, share) = low.0.scalars.blend(&high.0.scalars, weight);
                blends.push((share, scalars, kind.times));
            }
            (self.composition).include_blends(&low.0, &high.0, &blends, self.grid.effort)?;
            left = beyond;
            low = high;
        }
        Some(())
    }
}
