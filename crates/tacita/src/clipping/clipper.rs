//! Clipped sums of one batch: norms, factors, weighted sums.

use super::rule::direction_factors;
use super::{ClipRule, Groups};
use crate::gradient::{Performance, WeightedSums};
use crate::pass::{self, Pass, PassError};
use burn::module::Module;
use burn::tensor::{Tensor, TensorData};

/// Turns batches into sums whose sensitivity is known.
#[derive(Debug)]
pub(crate) struct Clipper {
    pub groups: Groups,
    pub rule: ClipRule,
    /// Whether the second query, the directions of clipped gradients, is asked too.
    pub directions: bool,
    pub performance: Performance,
}

impl Clipper {
    /// The sums of no records at all.
    pub fn zeros(&self) -> Vec<WeightedSums> {
        vec![vec![None; self.groups.slots().len()]; if self.directions { 2 } else { 1 }]
    }

    /// The clipped sums of every query over `count` samples.
    ///
    /// A sample with a non-finite loss or gradient is left out, and nothing else changes.
    pub fn sums<M: Module>(
        &self,
        model: &M,
        count: usize,
        thresholds: &[f64],
        losses: impl FnOnce(&M) -> Tensor<1>,
    ) -> Result<Vec<WeightedSums>, PassError> {
        let Pass {
            mut gradients,
            losses,
            ..
        } = pass::run(model, &self.groups, count, self.performance, losses)?;
        let mut norms = gradients.norms();
        if let Some(kept) = finite_samples(&losses, &norms.upper()) {
            if kept.is_empty() {
                return Ok(self.zeros());
            }
            norms = norms.select(gradients.select(&kept));
        }
        let mut factors = vec![self.rule.factors(&norms, thresholds)];
        if self.directions {
            factors.push(direction_factors(&norms, thresholds, self.groups.shares()));
        }
        Ok(gradients.weighted_sums(&factors))
    }
}

/// The samples whose loss and norms are finite; none if all are.
fn finite_samples(losses: &Tensor<1>, upper: &Tensor<2>) -> Option<Vec<usize>> {
    let finite =
        |values: TensorData| -> Vec<bool> { values.iter::<f32>().map(f32::is_finite).collect() };
    let groups = upper.dims()[1];
    let losses = finite(losses.to_data());
    let norms = finite(upper.to_data());
    let usable = |sample: &usize| {
        losses[*sample]
            && norms[sample * groups..(sample + 1) * groups]
                .iter()
                .all(|f| *f)
    };
    let kept: Vec<usize> = (0..losses.len()).filter(usable).collect();
    (kept.len() < losses.len()).then_some(kept)
}
