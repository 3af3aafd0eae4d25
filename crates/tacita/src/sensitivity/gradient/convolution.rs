//! Norms and sums of the weight gradients of convolutions: outer products over output positions.

use super::method::Performance;
use super::norm::{SquaredNorm, sum_of_squares};
use super::outer;
use super::runs::runs;
use super::sum::sum_of_formed;
use super::workspace::gram;
use crate::compute::backend::{self, Convolution, GramCache, OuterSize};
use burn::tensor::Tensor;
use tacita_kernels::exact::{Grid, Sum};

impl Convolution {
    /// The per-sample gradients, formed from a workspace's worth of patches at a time.
    pub(crate) fn materialise(&self, performance: &Performance) -> Tensor<2> {
        if let Some(gradients) = backend::convolution_gradients(self) {
            return gradients;
        }
        let batch = self.size().batch;
        let chunk = self.samples_within(performance.workspace_bytes);
        let parts = runs(batch, chunk).map(|run| {
            let (left, right) = self.factors(run.first, run.count);
            outer::materialise(&left, &right).narrow(0, run.again, run.count - run.again)
        });
        let mut parts: Vec<_> = parts.collect();
        if parts.len() == 1 {
            return parts.swap_remove(0);
        }
        Tensor::cat(parts, 0)
    }

    /// The norm from inner products between positions.
    pub(crate) fn gram(&self, performance: &Performance) -> SquaredNorm {
        if let Some(measured) = backend::convolution_gram_norms(self) {
            let OuterSize {
                left,
                right,
                positions,
                ..
            } = self.size();
            return SquaredNorm::from_gram(measured, 2 * (left + right) + 8, positions);
        }
        // One factor is used once here, so no Gram matrix is worth remembering.
        self.over_samples(performance, |left, right| {
            gram(left, right, &mut GramCache::default())
        })
    }

    /// The norm of per-sample gradients that are formed and dropped.
    pub(crate) fn recompute(&self, performance: &Performance) -> SquaredNorm {
        if let Some(measured) = backend::convolution_norms(self) {
            return SquaredNorm::from_formed(measured, self.size().positions);
        }
        self.over_samples(performance, |left, right| {
            outer::recompute(left, right, performance.workspace_bytes)
        })
    }

    /// A norm of the factors of a few samples at a time.
    fn over_samples(
        &self,
        performance: &Performance,
        norm: impl Fn(&Tensor<4>, &Tensor<4>) -> SquaredNorm,
    ) -> SquaredNorm {
        let chunk = self.samples_within(performance.workspace_bytes);
        outer::over_samples(self.size().batch, chunk, |first, count| {
            let (left, right) = self.factors(first, count);
            norm(&left, &right)
        })
    }

    /// Kept per-sample gradients and their norm.
    pub(crate) fn keep(&self, performance: &Performance) -> (SquaredNorm, Tensor<2>) {
        let gradient = self.materialise(performance);
        (sum_of_squares(gradient.clone()), gradient)
    }

    /// Σᵢ cᵢ gᵢ on a grid.
    pub(crate) fn weighted_sum(
        &self,
        factors: &Tensor<1>,
        grid: Grid,
        performance: &Performance,
    ) -> Sum {
        if let Some(sum) = backend::convolution_sum(self, factors, grid) {
            return sum;
        }
        let size = self.size();
        let elements = size.blocks * size.left * size.right;
        sum_of_formed(factors, grid, elements, performance, |first, count| {
            self.part(first, count).materialise(performance)
        })
    }
}
