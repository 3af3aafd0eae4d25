//! An optimiser's step in one pass over a parameter, in place.

use super::Values;
use burn::tensor::Tensor;
use tacita_kernels::optimiser::{self, Rule, Weights};

/// Moves `weights`, and `memory` with them; `false` if the CPU does not hold both tensors.
pub(crate) fn optimiser_step(
    rule: Rule,
    constants: Weights,
    memory: &mut Vec<Tensor<1>>,
    weights: &mut Tensor<1>,
    gradient: &Tensor<1>,
) -> bool {
    let Some((_, gradient)) = Values::free(weights).zip(Values::free(gradient)) else {
        return false;
    };
    let [count] = weights.dims();
    // Moved out, so that nobody shares the values.
    let nothing = Tensor::empty([0], &weights.device());
    let mut moved = to_vec(std::mem::replace(weights, nothing));
    let mut old = std::mem::take(memory).into_iter();
    let mut vectors: Vec<Vec<f32>> = (0..rule.memory())
        .map(|_| old.next().map_or_else(|| vec![0.0; count], to_vec))
        .collect();
    optimiser::step(rule, constants, &mut moved, gradient.slice(), &mut vectors);
    let tensor = |values: Vec<f32>| Values::new(values, [count]).into();
    *memory = vectors.into_iter().map(tensor).collect();
    *weights = tensor(moved);
    true
}

/// The values, moved rather than copied where nobody else holds them.
fn to_vec(tensor: Tensor<1>) -> Vec<f32> {
    let data = tensor.into_data().convert::<f32>();
    data.try_into_vec().unwrap_or_default()
}
