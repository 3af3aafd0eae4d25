//! Rules that have a kernel of their own, one pass over a parameter.

use super::OptimizerRule;
use crate::compute::backend::optimiser_step;
use burn::tensor::Tensor;
use tacita_kernels::optimiser::{Rule, Weights};

/// The kernel's form of a rule at step `time`.
fn kernel(rule: OptimizerRule, time: i32) -> Option<Rule> {
    Some(match rule {
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
    })
}

/// Moves `weights`, and `memory` with them; `false` if there is no kernel for the rule and the device.
///
/// A rule that is `decoupled` decays weights beside the step.
pub(super) fn step(
    (rule, time): (OptimizerRule, i32),
    decoupled: bool,
    memory: &mut Vec<Tensor<1>>,
    weights: &mut Tensor<1>,
    gradient: &Tensor<1>,
    [learning_rate, weight_decay]: [f64; 2],
) -> bool {
    let Some(rule) = kernel(rule, time) else {
        return false;
    };
    let (decay, kept) = match decoupled {
        true => (0.0, 1.0 - learning_rate * weight_decay),
        false => (weight_decay, 1.0),
    };
    let constants = Weights {
        rate: learning_rate as f32,
        decay: decay as f32,
        kept: kept as f32,
    };
    optimiser_step(rule, constants, memory, weights, gradient)
}
