//! Which exact way to a norm is taken. Speed and memory only: results are equal up to rounding.

use crate::card::is_card;
use burn::tensor::Device;

/// How the norm of a sum of outer products is computed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Strategy {
    /// The cheapest by arithmetic and memory.
    #[default]
    Automatic,
    /// ⟨AAᵀ, BBᵀ⟩: never forms a per-sample gradient.
    Gram,
    /// Forms per-sample gradients and keeps them for the weighted sum.
    Kept,
    /// Forms per-sample gradients a few samples at a time, only for the norm.
    Recomputed,
}

/// Performance knobs. None of them changes what is computed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Performance {
    /// The way norms are computed.
    pub strategy: Strategy,
    /// Bytes that kept per-sample gradients may take beyond the activations they replace.
    pub kept_bytes: usize,
    /// Bytes that one temporary (unfolded patches, Gram matrices) may take.
    pub workspace_bytes: usize,
}

impl Default for Performance {
    fn default() -> Self {
        Self {
            strategy: Strategy::Automatic,
            kept_bytes: 64 << 20,
            workspace_bytes: 32 << 20,
        }
    }
}

/// A card has memory of its own, and small pieces of work leave it idle.
const CARD: usize = 64;

impl Performance {
    /// The same for a device: a card gets more room.
    pub(crate) fn on(self, device: &Device) -> Self {
        if !is_card(device) {
            return self;
        }
        Self {
            strategy: self.strategy,
            kept_bytes: self.kept_bytes.saturating_mul(CARD),
            workspace_bytes: self.workspace_bytes.saturating_mul(CARD),
        }
    }
}

/// The shape of a sum of `positions` outer products of a `left`- and a `right`-vector, in each of
/// `blocks` blocks of each of `batch` samples.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Size {
    pub batch: usize,
    pub blocks: usize,
    pub positions: usize,
    pub left: usize,
    pub right: usize,
}

impl Size {
    /// Bytes of all per-sample gradients.
    pub fn gradient_bytes(&self) -> usize {
        4 * self.batch * self.blocks * self.left * self.right
    }

    /// Bytes of the factors that kept gradients make superfluous.
    pub fn factor_bytes(&self) -> usize {
        4 * self.batch * self.blocks * self.positions * (self.left + self.right)
    }

    /// How many samples' worth of `bytes_per_sample` fit the workspace.
    pub fn samples_within(&self, bytes: usize, bytes_per_sample: usize) -> usize {
        (bytes / bytes_per_sample.max(1)).clamp(1, self.batch.max(1))
    }
}

impl Performance {
    /// The cheapest strategy for a shape; `kept_left` is what remains of the kept budget.
    pub(crate) fn choose(&self, size: Size, kept_left: usize, operand_error: f64) -> Strategy {
        if self.strategy != Strategy::Automatic {
            return self.strategy;
        }
        let (t, d, p) = (size.positions as f64, size.left as f64, size.right as f64);
        // Multiply-adds per sample and block. A kept gradient is written, squared and read again:
        // memory traffic that costs about as much as sixteen multiply-adds an entry.
        let product = t * d * p;
        let kept = product + 16.0 * d * p;
        let gram = match operand_error {
            0.0 => t * t * (d + p) + product,
            // The terms of a Gram matrix cancel, so rounded operands would leave a wide bound.
            _ => f64::INFINITY,
        };
        let recomputed = 2.0 * product + 4.0 * d * p;
        let room = size.factor_bytes() + kept_left;
        if size.gradient_bytes() <= room && kept <= gram {
            Strategy::Kept
        } else if gram <= recomputed {
            Strategy::Gram
        } else {
            Strategy::Recomputed
        }
    }
}
