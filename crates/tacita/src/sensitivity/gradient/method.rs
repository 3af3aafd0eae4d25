//! Which exact way to a norm is taken. Speed and memory only: results are equal up to rounding.

use crate::compute::backend::{OuterSize, is_gpu};
use burn::tensor::Device;

/// How the norm of a sum of outer products is computed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NormMethod {
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
    /// The way norms are computed; if none is given, the cheapest for each parameter by arithmetic and
    /// memory.
    pub norm_method: Option<NormMethod>,
    /// Bytes that kept per-sample gradients may take beyond the activations they replace.
    pub kept_bytes: usize,
    /// Bytes that one temporary (unfolded patches, Gram matrices) may take.
    pub workspace_bytes: usize,
}

impl Default for Performance {
    fn default() -> Self {
        Self {
            norm_method: None,
            kept_bytes: 64 << 20,
            workspace_bytes: 32 << 20,
        }
    }
}

/// A GPU has memory of its own, and small pieces of work leave it idle.
const GPU: usize = 64;

impl Performance {
    /// The same for a device: a GPU gets more room.
    pub(crate) fn on(self, device: &Device) -> Self {
        if !is_gpu(device) {
            return self;
        }
        Self {
            norm_method: self.norm_method,
            kept_bytes: self.kept_bytes.saturating_mul(GPU),
            workspace_bytes: self.workspace_bytes.saturating_mul(GPU),
        }
    }
}

impl NormMethod {
    /// The cheapest way for a shape; `kept_left` is what remains of the bytes for kept gradients.
    pub(crate) fn cheapest(size: OuterSize, kept_left: usize, operand_error: f64) -> Self {
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
            Self::Kept
        } else if gram <= recomputed {
            Self::Gram
        } else {
            Self::Recomputed
        }
    }

    /// The cheapest way where kernels form gradients without writing them.
    ///
    /// Keeping gradients writes, squares and reads each entry in memory that was not there before: the
    /// price of some hundred multiply-adds. So they are kept only where they are small beside the factors
    /// they replace; otherwise their norms come from whichever of both ways has less arithmetic.
    pub(crate) fn cheapest_with_kernels(size: OuterSize) -> Self {
        let (t, d, p) = (size.positions as f64, size.left as f64, size.right as f64);
        let (formed, gram) = (t * d * p, 0.75 * t * t * (d + p));
        if 2 * size.gradient_bytes() <= size.factor_bytes() {
            Self::Kept
        } else if gram <= formed {
            Self::Gram
        } else {
            Self::Recomputed
        }
    }
}
