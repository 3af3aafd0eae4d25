//! Steps of optimisers in one pass over a parameter.

use super::{cpu, gpu};
use burn::tensor::Tensor;
use tacita_kernels::optimiser::{Rule, Weights};

/// Moves `weights`, and `memory` with them; `false`, and nothing moved, where there is no kernel.
pub(crate) fn optimiser_step(
    rule: Rule,
    constants: Weights,
    memory: &mut Vec<Tensor<1>>,
    weights: &mut Tensor<1>,
    gradient: &Tensor<1>,
) -> bool {
    if let Some(moved) = gpu::optimiser_step(rule, constants, memory, weights, gradient) {
        *weights = moved;
        return true;
    }
    cpu::optimiser_step(rule, constants, memory, weights, gradient)
}
