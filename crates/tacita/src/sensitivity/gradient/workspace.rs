//! What the norms of one pass share.

use super::method::{NormMethod, Performance};
use super::norm::SquaredNorm;
use super::outer;
use crate::compute::backend::{GramCache, OuterSize, gram_norms, has_outer_kernels};
use crate::sensitivity::rounding::operand_error;
use burn::tensor::{Device, Tensor};

/// Room for kept gradients, and Gram matrices that several parameters need.
pub(crate) struct Workspace {
    /// Bytes that kept gradients may still take.
    pub kept_left: usize,
    /// See [`operand_error`].
    pub operand_error: f64,
    /// Samples for which it is decided what is kept.
    usual_batch: usize,
    grams: GramCache,
}

impl Workspace {
    pub fn new(performance: &Performance, device: &Device, usual_batch: usize) -> Self {
        Self {
            kept_left: performance.kept_bytes,
            operand_error: operand_error(device),
            usual_batch,
            grams: GramCache::default(),
        }
    }

    /// How the norm of a sum of outer products is computed.
    pub fn outer_method(
        &self,
        performance: &Performance,
        left: &Tensor<4>,
        size: OuterSize,
    ) -> NormMethod {
        match performance.norm_method {
            None if has_outer_kernels(left) => NormMethod::cheapest_with_kernels(size),
            _ => self.method(performance, size),
        }
    }

    /// The method asked for or the cheapest for a shape, whatever the samples that are there.
    pub fn method(&self, performance: &Performance, size: OuterSize) -> NormMethod {
        let cheapest =
            || NormMethod::cheapest(self.usual(size), self.kept_left, self.operand_error);
        performance.norm_method.unwrap_or_else(cheapest)
    }

    fn usual(&self, size: OuterSize) -> OuterSize {
        OuterSize {
            batch: self.usual_batch,
            ..size
        }
    }

    /// Takes note that gradients take the place of their factors.
    pub fn keep(&mut self, size: OuterSize) {
        let size = self.usual(size);
        let more = size.gradient_bytes().saturating_sub(size.factor_bytes());
        self.kept_left = self.kept_left.saturating_sub(more);
    }

    /// ⟨AAᵀ, BBᵀ⟩.
    pub fn gram(&mut self, left: &Tensor<4>, right: &Tensor<4>) -> SquaredNorm {
        gram(left, right, &mut self.grams)
    }
}

/// ⟨AAᵀ, BBᵀ⟩, by kernels where there are some.
pub(super) fn gram(left: &Tensor<4>, right: &Tensor<4>, known: &mut GramCache) -> SquaredNorm {
    match gram_norms(left, right, known) {
        Some(measured) => {
            let OuterSize {
                positions,
                left: d,
                right: p,
                ..
            } = outer::size(left, right);
            SquaredNorm::from_gram(measured, d + p + 2 * positions + 4, positions)
        }
        None => outer::gram(left, right),
    }
}
