//! How a released mean moves the model: post-processing.

use serde::{Deserialize, Serialize};
use tacita_kernels::optimiser::{Rule, Weights, step};

/// An optimiser in its textbook form, the released mean being the gradient.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "rule", deny_unknown_fields)]
pub enum OptimiserRule {
    /// w ← w − ηg.
    #[default]
    Sgd,
    /// m ← βm + g; w ← w − ηm.
    Momentum {
        /// β.
        momentum: f32,
    },
    /// m ← βm + g; w ← w − η(g + βm).
    Nesterov {
        /// β.
        momentum: f32,
    },
    /// Kingma & Ba 2015, with β₁ = 0.9, β₂ = 0.999.
    Adam {
        /// The stability constant ε.
        #[serde(default = "stability")]
        epsilon: f32,
    },
}

fn stability() -> f32 {
    1e-8
}

/// The server's optimiser and its learning rate.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Descent {
    /// The rule.
    #[serde(default)]
    pub optimiser: OptimiserRule,
    /// η₀.
    pub learning_rate: f64,
    /// ρ: η of round t is η₀ ρ^(−t/T) for t = 1..T.
    #[serde(default = "one")]
    pub learning_rate_decay: f64,
}

fn one() -> f64 {
    1.0
}

impl Descent {
    /// Plain descent at a constant rate.
    pub fn at(learning_rate: f64) -> Self {
        Self {
            optimiser: OptimiserRule::Sgd,
            learning_rate,
            learning_rate_decay: 1.0,
        }
    }

    /// The first number that means nothing, if any.
    pub(crate) fn unsound(&self) -> Option<(&'static str, f64)> {
        let positive = |value: f64| value > 0.0 && value.is_finite();
        let mut numbers = vec![
            ("learning rate", self.learning_rate),
            ("decay of the learning rate", self.learning_rate_decay),
        ];
        match self.optimiser {
            OptimiserRule::Sgd => {}
            OptimiserRule::Momentum { momentum } | OptimiserRule::Nesterov { momentum } => {
                if !(0.0..1.0).contains(&momentum) {
                    return Some(("momentum", f64::from(momentum)));
                }
            }
            OptimiserRule::Adam { epsilon } => {
                numbers.push(("epsilon of Adam", f64::from(epsilon)))
            }
        }
        numbers.into_iter().find(|(_, value)| !positive(*value))
    }
}

/// The model as it stands, with what the optimiser remembers.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct State {
    pub model: Vec<f32>,
    pub memory: Vec<Vec<f32>>,
    /// Updates made.
    pub time: i32,
}

impl State {
    pub fn new(model: Vec<f32>, rule: OptimiserRule) -> Self {
        let memory = vec![vec![0.0; model.len()]; kernel(rule, 1).memory()];
        Self {
            model,
            memory,
            time: 0,
        }
    }

    /// Moves the model by what a round released.
    pub fn descend(&mut self, descent: &Descent, round: u64, rounds: u64, mean: &[f32]) {
        self.time += 1;
        let done = (round + 1) as f64 / rounds as f64;
        let rate = descent.learning_rate * descent.learning_rate_decay.powf(-done);
        let constants = Weights {
            rate: rate as f32,
            decay: 0.0,
            kept: 1.0,
        };
        let rule = kernel(descent.optimiser, self.time);
        step(rule, constants, &mut self.model, mean, &mut self.memory);
    }
}

fn kernel(rule: OptimiserRule, time: i32) -> Rule {
    const BETAS: [f32; 2] = [0.9, 0.999];
    match rule {
        OptimiserRule::Sgd => Rule::Plain,
        OptimiserRule::Momentum { momentum } => Rule::Momentum {
            momentum,
            ahead: false,
        },
        OptimiserRule::Nesterov { momentum } => Rule::Momentum {
            momentum,
            ahead: true,
        },
        OptimiserRule::Adam { epsilon } => Rule::Adam {
            kept: BETAS,
            new: BETAS.map(|beta| 1.0 - beta),
            scales: BETAS.map(|beta| (1.0 - f64::from(beta).powi(time)) as f32),
            epsilon,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two rounds with means 2 and −1 at a rate of 0.1 from 1, by hand.
    #[test]
    fn rules_are_their_textbook_forms() {
        let seen = |optimiser| {
            let descent = Descent {
                optimiser,
                ..Descent::at(0.1)
            };
            let mut state = State::new(vec![1.0], optimiser);
            [2.0, -1.0].map(|mean| {
                state.descend(&descent, 0, 2, &[mean]);
                state.model[0]
            })
        };
        let close = |seen: [f32; 2], wanted: [f32; 2]| {
            assert!((seen[0] - wanted[0]).abs() < 1e-5 && (seen[1] - wanted[1]).abs() < 1e-5);
        };
        close(seen(OptimiserRule::Sgd), [0.8, 0.9]);
        close(seen(OptimiserRule::Momentum { momentum: 0.5 }), [0.8, 0.8]);
        close(seen(OptimiserRule::Nesterov { momentum: 0.5 }), [0.7, 0.8]);
        let second = 0.9 - 0.1 * (0.08 / 0.19) / (0.004996f32 / 0.001999).sqrt();
        close(seen(OptimiserRule::Adam { epsilon: 1e-8 }), [0.9, second]);
    }

    #[test]
    fn rates_decay_to_one_over_the_ratio() {
        let descent = Descent {
            learning_rate_decay: 4.0,
            ..Descent::at(1.0)
        };
        let mut state = State::new(vec![0.0], OptimiserRule::Sgd);
        state.descend(&descent, 1, 2, &[1.0]);
        assert_eq!(state.model, [-0.25]);
        assert!(Descent::at(f64::NAN).unsound().is_some());
        assert!(descent.unsound().is_none());
    }
}
