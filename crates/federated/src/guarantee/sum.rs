//! The sum of a cohort: whole numbers, so that it depends neither on order nor on who adds it up.

use super::bound::Bound;
use tacita_kernels::exact::Sum;

/// A sum of admitted vectors, in steps of the grid of their bound.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct CohortSum {
    bound: Bound,
    steps: Vec<i64>,
}

impl CohortSum {
    /// The sum of nobody.
    pub fn new(bound: Bound, length: usize) -> Self {
        Self {
            bound,
            steps: vec![0; length],
        }
    }

    /// A sum that was made under secure aggregation, its noise included: modulo 2^64.
    pub fn decoded(bound: Bound, steps: Vec<i64>) -> Self {
        Self { bound, steps }
    }

    /// Adds the vector of so many clients; false, and nothing is added, if it has another length or the bound does not
    /// admit it.
    ///
    /// # Guarantee
    /// The sum moves by at most the threshold for each of them in norm, exactly. Checked by
    /// `removing_a_client_moves_the_sum_by_at_most_the_threshold`.
    #[must_use]
    pub fn add(&mut self, clients: u64, vector: &[i32]) -> bool {
        if vector.len() != self.steps.len() || !self.bound.admits_sum_of(clients, vector) {
            return false;
        }
        for (sum, step) in self.steps.iter_mut().zip(vector) {
            // 2^42 clients would be needed to overflow; a modulus would be as private.
            *sum = sum.wrapping_add(i64::from(*step));
        }
        true
    }

    /// The values, to which noise is yet to be added.
    pub fn into_sum(self) -> Sum {
        Sum::from_long_steps(self.bound.grid(), self.steps)
    }

    /// The values of a sum whose noise is in it, each times a public factor.
    pub fn into_values(self, factor: f64) -> Vec<f32> {
        let step = self.bound.grid().spacing() * factor;
        self.steps
            .iter()
            .map(|steps| (*steps as f64 * step) as f32)
            .collect()
    }
}
