//! How long a client's vector of whole numbers may be.

use super::PlanError;
use tacita_kernels::exact::Grid;

/// The bound of one round: vectors of whole steps of a public grid, whose length is measured in whole numbers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bound {
    grid: Grid,
    /// R: the longest vector, in steps.
    most: u64,
}

impl Bound {
    /// Vectors whose entries fit 32 bits together, and the square of whose length fits 64: 1,023 · 2²¹ < 2³¹.
    pub const MOST_TOGETHER: u64 = 1_023;

    /// Entries of a vector at most: ½√d steps of 2²⁰ are less than half a percent.
    pub const MOST_ENTRIES: usize = 109_000_000;

    /// The bound for a threshold C: the grid of spacing g with C/2²¹ ≤ g < C/2²⁰, and R = ⌊C/g⌋ steps.
    ///
    /// # Guarantee
    /// A vector that is admitted has norm at most g · R ≤ C. The spacing is a power of two, so C/g is exact in f64.
    pub fn of(threshold: f64) -> Result<Self, PlanError> {
        let grid = Grid::for_bound(threshold).ok_or(PlanError::Value {
            what: "threshold",
            range: "between 1e-20 and 1e20",
            value: threshold,
        })?;
        Ok(Self {
            grid,
            most: (threshold / grid.spacing()).floor() as u64,
        })
    }

    /// The grid on which sums are made.
    pub fn grid(&self) -> Grid {
        self.grid
    }

    /// R, in steps.
    pub fn most_steps(&self) -> u64 {
        self.most
    }

    /// Whether Σ mⱼ² ≤ R², in whole numbers.
    pub fn admits(&self, steps: &[i32]) -> bool {
        self.admits_sum_of(1, steps)
    }

    /// Whether Σ mⱼ² ≤ (kR)², in whole numbers: whether it may be the sum of k vectors that are admitted. Not for more
    /// than [`Bound::MOST_TOGETHER`] of them.
    pub fn admits_sum_of(&self, vectors: u64, steps: &[i32]) -> bool {
        let square = |step: &i32| u64::from(step.unsigned_abs()).pow(2);
        // What does not fit is far beyond the bound.
        let length = steps.iter().map(square).fold(0, u64::saturating_add);
        vectors <= Self::MOST_TOGETHER && length <= (vectors * self.most).pow(2)
    }

    /// What a vector of so many entries is clipped to before it is rounded, in steps: R less the half step by which
    /// each entry may move.
    pub(super) fn room(&self, entries: usize) -> f64 {
        (self.most as f64 - 0.5 * (entries as f64).sqrt()).max(0.0)
    }

    /// Refuses vectors of which rounding would take more than half a percent.
    pub(super) fn check_length(entries: usize) -> Result<(), PlanError> {
        if !(1..=Self::MOST_ENTRIES).contains(&entries) {
            return Err(PlanError::Value {
                what: "number of parameters",
                range: "between 1 and 109 million, so that rounding takes at most 0.5 % of the threshold",
                value: entries as f64,
            });
        }
        Ok(())
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn an_admitted_vector_is_within_the_threshold(
            threshold in 1e-6f64..1e6,
            steps in prop::collection::vec(-2_200_000i32..2_200_000, 1..4),
        ) {
            let bound = Bound::of(threshold).unwrap();
            prop_assert!(bound.most_steps() >= 1 << 20);
            // 128-bit arithmetic: (Σ m²) g² ≤ C² with C = c g, exactly.
            let squares: u128 = steps.iter().map(|m| u128::from(m.unsigned_abs()).pow(2)).sum();
            let c = threshold / bound.grid().spacing();
            prop_assert!(!bound.admits(&steps) || squares as f64 <= c * c);
            prop_assert_eq!(bound.admits(&steps), squares <= u128::from(bound.most_steps()).pow(2));
        }
    }

    #[test]
    fn hostile_entries_do_not_overflow() {
        let bound = Bound::of(1.0).unwrap();
        assert!(!bound.admits(&vec![i32::MIN; 1 << 16]));
        assert!(bound.admits(&[1 << 21]));
        assert!(!bound.admits(&[(1 << 21) + 1]));
        let most = Bound::MOST_TOGETHER;
        assert!(bound.admits_sum_of(most, &[(most as i32) << 21]));
        assert!(!bound.admits_sum_of(most - 1, &[(most as i32) << 21]));
        assert!(!bound.admits_sum_of(most + 1, &[0]));
    }

    #[test]
    fn models_that_rounding_would_harm_are_refused() {
        assert!(Bound::check_length(100_000_000).is_ok());
        let share = 0.5 * (Bound::MOST_ENTRIES as f64).sqrt() / f64::from(Grid::MOST_STEPS / 2);
        assert!(share < 0.005);
        assert!(Bound::check_length(120_000_000).is_err());
        assert!(Bound::check_length(0).is_err());
    }
}
