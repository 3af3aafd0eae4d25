//! Room for rounding: a contribution is clipped a little below its threshold, and then rounded to a grid.

use crate::sensitivity::gradient::{GradientError, Grid};
use crate::sensitivity::rounding::ROUNDED_DOWN_F64;

/// The largest share of a threshold that rounding may take. A model so large that it takes more is refused
/// before anything starts.
pub(crate) const MOST_SHARE: f64 = 0.005;

/// The same for samples of several records, which are rounded as often as all of them together.
pub(crate) const MOST_SHARE_OF_UNITS: f64 = 0.05;

/// What the contributions of each group are clipped to, and the grid they are then rounded to.
pub(crate) struct Room {
    pub bounds: Vec<f64>,
    pub grids: Vec<Grid>,
}

/// Clips below each threshold by what rounding may add.
///
/// # Guarantee
/// A vector of length at most `bounds[l]`, moved by at most `roundings[l]` steps of `grids[l]`, is not longer
/// than `thresholds[l]`. Checked by `a_rounded_contribution_is_within_its_threshold`.
pub(crate) fn room(thresholds: &[f64], roundings: &[f64]) -> Result<Room, GradientError> {
    let grids: Option<Vec<Grid>> = thresholds.iter().map(|c| Grid::for_bound(*c)).collect();
    let Some(grids) = grids else {
        let threshold = thresholds
            .iter()
            .copied()
            .find(|c| Grid::for_bound(*c).is_none());
        return Err(GradientError::Threshold {
            threshold: threshold.unwrap_or(f64::NAN),
        });
    };
    let each = thresholds.iter().zip(&grids).zip(roundings);
    let bounds = each.map(|((threshold, grid), steps)| {
        (threshold - steps * grid.spacing()).max(0.0) * ROUNDED_DOWN_F64
    });
    Ok(Room {
        bounds: bounds.collect(),
        grids,
    })
}

/// The largest share of any threshold that so many steps can take: a threshold is more than half of the most steps.
pub(crate) fn largest_share(roundings: &[f64]) -> f64 {
    roundings
        .iter()
        .fold(0.0, |most: f64, steps| most.max(*steps))
        / f64::from(Grid::MOST_STEPS / 2)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_rounded_contribution_is_within_its_threshold(threshold in 1e-20f64..1e20, steps in 0.0f64..1e4) {
            let Room { bounds, grids } = room(&[threshold], &[steps]).unwrap();
            prop_assert!(bounds[0] + steps * grids[0].spacing() <= threshold);
            prop_assert!(bounds[0] >= threshold * (1.0 - largest_share(&[steps]) - 1e-14));
        }
    }

    #[test]
    fn a_threshold_that_f32_cannot_carry_is_refused() {
        for threshold in [1e-30, 1e31, f64::NAN, 0.0] {
            assert!(room(&[1.0, threshold], &[0.0, 0.0]).is_err());
        }
    }
}
