//! The points at which Burn's graph yields output gradients.

use super::{cpu, gpu};
use burn::tensor::Tensor;

/// `y` as it is, with `leaf` receiving its gradient, without a pass over the output. The leaf's values are
/// not looked at. None where the graph has no node of our own.
pub(crate) fn probe<const D: usize>(y: &Tensor<D>, leaf: &Tensor<D>) -> Option<Tensor<D>> {
    gpu::probe(y, leaf).or_else(|| cpu::probe(y, leaf))
}
