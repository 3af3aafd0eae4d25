//! What the norms of one pass share.

use super::norm::{SquaredNorm, operand_error};
use super::outer;
use super::strategy::{Performance, Size, Strategy};
use burn::tensor::{Device, Tensor};

/// Room for kept gradients, and Gram matrices that several parameters need.
pub(crate) struct Workspace {
    /// Bytes that kept gradients may still take.
    pub kept_left: usize,
    /// See [`operand_error`].
    pub operand_error: f64,
    /// Samples for which it is decided what is kept.
    usual_batch: usize,
    #[cfg(feature = "cpu")]
    grams: crate::cpu::outer::GramCache,
}

impl Workspace {
    pub fn new(performance: &Performance, device: &Device, usual_batch: usize) -> Self {
        Self {
            kept_left: performance.kept_bytes,
            operand_error: operand_error(device),
            usual_batch,
            #[cfg(feature = "cpu")]
            grams: Default::default(),
        }
    }

    /// How the norm of a sum of outer products is computed.
    pub fn strategy(&self, performance: &Performance, left: &Tensor<4>, size: Size) -> Strategy {
        #[cfg(feature = "cpu")]
        if performance.strategy == Strategy::Automatic
            && let Some(strategy) = crate::cpu::outer::strategy(left, size)
        {
            return strategy;
        }
        let _ = left;
        self.choose(performance, size)
    }

    /// The cheapest way for a shape, whatever the samples that are there.
    pub fn choose(&self, performance: &Performance, size: Size) -> Strategy {
        performance.choose(self.usual(size), self.kept_left, self.operand_error)
    }

    fn usual(&self, size: Size) -> Size {
        Size {
            batch: self.usual_batch,
            ..size
        }
    }

    /// Takes note that gradients take the place of their factors.
    pub fn keep(&mut self, size: Size) {
        let size = self.usual(size);
        let more = size.gradient_bytes().saturating_sub(size.factor_bytes());
        self.kept_left = self.kept_left.saturating_sub(more);
    }

    /// ⟨AAᵀ, BBᵀ⟩.
    pub fn gram(&mut self, left: &Tensor<4>, right: &Tensor<4>) -> SquaredNorm {
        #[cfg(feature = "cpu")]
        if let Some(norm) = crate::cpu::outer::gram(left, right, &mut self.grams) {
            return norm;
        }
        outer::gram(left, right)
    }
}
