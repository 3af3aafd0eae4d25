//! An optimiser's step in one pass over a parameter, in place.

use super::Values;
use crate::optim::OptimizerRule;
use burn::tensor::Tensor;
use tacita_kernels::optimiser::{self, Rule, Weights};

/// The rule at step `time`, if there is a kernel for it.
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

/// Moves `weights`, and `memory` with them; gives them back untouched if this is another backend or
/// there is no kernel.
pub(crate) fn step(
    (rule, time): (OptimizerRule, i32),
    memory: &mut Vec<Tensor<1>>,
    weights: Tensor<1>,
    gradient: &Tensor<1>,
    [learning_rate, weight_decay]: [f64; 2],
) -> Result<Tensor<1>, Tensor<1>> {
    let Some((rule_here, gradient)) = kernel(rule, time).zip(Values::free(gradient)) else {
        return Err(weights);
    };
    if Values::free(&weights).is_none() {
        return Err(weights);
    }
    let decoupled = matches!(rule, OptimizerRule::AdamW { .. });
    let constants = Weights {
        rate: learning_rate as f32,
        decay: if decoupled { 0.0 } else { weight_decay as f32 },
        kept: if decoupled {
            (1.0 - learning_rate * weight_decay) as f32
        } else {
            1.0
        },
    };
    let count = gradient.slice().len();
    let mut old = std::mem::take(memory).into_iter();
    let mut vectors: Vec<Vec<f32>> = (0..rule_here.memory())
        .map(|_| old.next().map_or_else(|| vec![0.0; count], to_vec))
        .collect();
    let mut weights = to_vec(weights);
    optimiser::step(
        rule_here,
        constants,
        &mut weights,
        gradient.slice(),
        &mut vectors,
    );
    let tensor = |values: Vec<f32>| Values::new(values, [count]).into();
    *memory = vectors.into_iter().map(tensor).collect();
    Ok(tensor(weights))
}

/// The values, moved rather than copied where nobody else holds them.
fn to_vec(tensor: Tensor<1>) -> Vec<f32> {
    let data = tensor.into_data().convert::<f32>();
    data.try_into_vec().unwrap_or_default()
}
