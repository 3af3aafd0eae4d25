//! Clipped sums as plain whole numbers, to be added to those of other ranks.

use super::clipper::{ClippedSums, Clipper, SideQuery, SideSums};
use super::room::room;
use crate::sensitivity::gradient::{GradientError, Grid, Sum, WeightedSums};

/// Where each number of a round's sums belongs. Public: it depends on the model and the thresholds only, so that it is
/// the same on all ranks, also on one that drew no record.
pub(crate) struct StepLayout {
    /// Values of each parameter.
    sizes: Vec<usize>,
    /// The grid of each parameter's gradient.
    gradient: Vec<Grid>,
    /// What the side query sums, if there is one.
    side: Option<SideLayout>,
}

enum SideLayout {
    Directions(Vec<Grid>),
    Counts(usize),
}

impl StepLayout {
    /// The layout of a round at these thresholds, of parameters of these sizes.
    pub fn new(
        clipper: &Clipper,
        thresholds: &[f64],
        sizes: Vec<usize>,
    ) -> Result<Self, GradientError> {
        let shares = clipper.groups.shares();
        let mut groups = vec![0; sizes.len()];
        for slot in clipper.groups.slots().values() {
            groups[slot.parameter] = slot.group;
        }
        let grids = |bounds: &[f64]| -> Result<Vec<Grid>, GradientError> {
            let of_groups = room(bounds, &[])?.grids;
            Ok(groups.iter().map(|group| of_groups[*group]).collect())
        };
        let side = match clipper.side_query {
            Some(SideQuery::Directions) => Some(SideLayout::Directions(grids(shares)?)),
            Some(SideQuery::Counts) => Some(SideLayout::Counts(shares.len())),
            None => None,
        };
        Ok(Self {
            gradient: grids(thresholds)?,
            sizes,
            side,
        })
    }

    /// The steps of all sums on their grids, one after another. Nothing is rounded: sums lie on these grids, and counts
    /// are multiples of ½.
    pub fn steps(&self, sums: ClippedSums) -> Vec<i64> {
        let mut steps = Vec::with_capacity(2 * self.sizes.iter().sum::<usize>());
        self.push(&mut steps, sums.gradient, &self.gradient);
        match (&self.side, sums.side) {
            (Some(SideLayout::Directions(grids)), Some(SideSums::Directions(sums))) => {
                self.push(&mut steps, sums, grids);
            }
            (Some(SideLayout::Counts(_)), Some(SideSums::Counts(counts))) => {
                steps.extend(counts.iter().map(|count| (2.0 * count) as i64));
            }
            // One clipper makes both.
            _ => {}
        }
        steps
    }

    fn push(&self, steps: &mut Vec<i64>, sums: WeightedSums, grids: &[Grid]) {
        for ((sum, size), grid) in sums.into_iter().zip(&self.sizes).zip(grids) {
            match sum {
                Some(sum) => {
                    assert_eq!(sum.grid(), *grid, "grids of two sums");
                    steps.extend(sum.into_long_steps());
                }
                None => steps.resize(steps.len() + size, 0),
            }
        }
    }

    /// The sums of which these are the steps.
    pub fn sums(&self, steps: Vec<i64>) -> ClippedSums {
        let mut steps = steps.into_iter();
        let mut vectors = |grids: &[Grid]| -> WeightedSums {
            let each = self.sizes.iter().zip(grids);
            each.map(|(size, grid)| {
                let steps = steps.by_ref().take(*size).collect();
                Some(Sum::from_long_steps(*grid, steps))
            })
            .collect()
        };
        let gradient = vectors(&self.gradient);
        let side = match &self.side {
            Some(SideLayout::Directions(grids)) => Some(SideSums::Directions(vectors(grids))),
            Some(SideLayout::Counts(groups)) => {
                let counts = steps.by_ref().take(*groups);
                Some(SideSums::Counts(
                    counts.map(|twice| twice as f64 / 2.0).collect(),
                ))
            }
            None => None,
        };
        ClippedSums { gradient, side }
    }
}
