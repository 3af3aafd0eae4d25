//! An optimiser's step in one pass over a parameter, in place.

use super::Values;
use crate::optim::OptimizerRule;
use burn::tensor::Tensor;
use tacita_kernels::optimiser::{self, Rule, Weights};

/// The rule at step `time` and the gradient's values, if there is a kernel for it and these tensors.
pub(crate) fn kernel(
    rule: OptimizerRule,
    time: i32,
    weights: &Tensor<1>,
    gradient: &Tensor<1>,
) -> Option<(Rule, Values)> {
    let (_, gradient) = Values::free(weights).zip(Values::free(gradient))?;
    let rule = match rule {
        OptimizerRule::Sgd => Rule::Plain,
        OptimizerRule::HeavyBall { momentum } => Rule::Momentum {
            momentum: momentum as f32,
            ahead: false,
        },
        OptimizerRule::Nesterov { momentum } => Rule::Momentum {
            momentum: momentum as f32,
            ahead: true,
        },
        OptimizerRule::Adam {
            beta_1,
            beta_2,
            epsilon,
        }
        | OptimizerRule::AdamW {
            beta_1,
            beta_2,
            epsilon,
        } => {
            let betas = [beta_1, beta_2];
            Rule::Adam {
                kept: betas.map(|beta| beta as f32),
                new: betas.map(|beta| (1.0 - beta) as f32),
                scales: betas.map(|beta| (1.0 - beta.powi(time)) as f32),
                epsilon: epsilon as f32,
            }
        }
        _ => return None,
    };
    Some((rule, gradient))
}

/// Moves `weights`, and `memory` with them, where there is a [`kernel`].
///
/// A rule that is `decoupled` decays weights beside the step.
pub(crate) fn step(
    (rule, gradient): (Rule, Values),
    decoupled: bool,
    memory: &mut Vec<Tensor<1>>,
    weights: Tensor<1>,
    [learning_rate, weight_decay]: [f64; 2],
) -> Tensor<1> {
    let (decay, kept) = match decoupled {
        true => (0.0, 1.0 - learning_rate * weight_decay),
        false => (weight_decay, 1.0),
    };
    let constants = Weights {
        rate: learning_rate as f32,
        decay: decay as f32,
        kept: kept as f32,
    };
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
