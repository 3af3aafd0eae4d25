//! An optimiser's step in one pass over a parameter, in place.

use super::Values;
use burn::tensor::Tensor;
use tacita_kernels::optimiser::{self, Rule, Weights};

/// The gradient's values, if the CPU holds both tensors.
pub(crate) fn values(weights: &Tensor<1>, gradient: &Tensor<1>) -> Option<Values> {
    let (_, gradient) = Values::free(weights).zip(Values::free(gradient))?;
    Some(gradient)
}

/// Moves `weights`, and `memory` with them.
pub(crate) fn step(
    rule: Rule,
    constants: Weights,
    memory: &mut Vec<Tensor<1>>,
    weights: Tensor<1>,
    gradient: &Values,
) -> Tensor<1> {
    let [count] = weights.dims();
    let mut old = std::mem::take(memory).into_iter();
    let mut vectors: Vec<Vec<f32>> = (0..rule.memory())
        .map(|_| old.next().map_or_else(|| vec![0.0; count], to_vec))
        .collect();
    let mut weights = to_vec(weights);
    let gradient = gradient.slice();
    optimiser::step(rule, constants, &mut weights, gradient, &mut vectors);
    let tensor = |values: Vec<f32>| Values::new(values, [count]).into();
    *memory = vectors.into_iter().map(tensor).collect();
    tensor(weights)
}

/// The values, moved rather than copied where nobody else holds them.
fn to_vec(tensor: Tensor<1>) -> Vec<f32> {
    let data = tensor.into_data().convert::<f32>();
    data.try_into_vec().unwrap_or_default()
}
