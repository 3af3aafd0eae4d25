//! The learning rate over a run: a public function of the step, or learned from released gradients.

use crate::compute::flat::{from_vec, to_vec};
use crate::sensitivity::clipping::{products, sign};
use burn::tensor::{Device, Tensor};
use serde::{Deserialize, Serialize};

/// How the learning rate moves from step to step.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "schedule", deny_unknown_fields)]
pub enum LearningRate {
    /// The same in every step.
    Constant {
        /// The rate.
        value: f64,
    },
    /// From `initial` to `last` in a straight line.
    Linear {
        /// Rate of the first step.
        initial: f64,
        /// Rate of the last step.
        last: f64,
    },
    /// From `initial` to `last` along half a cosine.
    Cosine {
        /// Rate of the first step.
        initial: f64,
        /// Rate of the last step.
        last: f64,
    },
    /// initial · ρ^(−t/T), t = 1..T. With automatic clipping and plain SGD, what a decaying threshold
    /// would do.
    Exponential {
        /// Rate at the start.
        initial: f64,
        /// ρ: how many times smaller the last rate is.
        ratio: f64,
    },
    /// Learned online: ρ exp(ρ_r sign(g̃ₜᵀ m̃ₜ₋₁)) (Galli et al. 2024, eq. 21), where m̃ is the released
    /// gradient, or with momentum β the released m̃ₜ = β m̃ₜ₋₁ + g̃ₜ that moved the parameters.
    Online {
        /// Rate of the first step.
        initial: f64,
        /// ρ_r: the learning rate of the learning rate.
        rate: f64,
        /// β of the optimiser; 0 without momentum.
        momentum: f64,
    },
}

/// The learning rate of a learned learning rate, as its authors have it.
pub(super) const ONLINE_RATE: f64 = 2.5e-3;

impl From<f64> for LearningRate {
    fn from(value: f64) -> Self {
        Self::Constant { value }
    }
}

impl LearningRate {
    /// Learned online from `initial`, with the authors' rate of 0.0025.
    pub fn online(initial: f64) -> Self {
        Self::Online {
            initial,
            rate: ONLINE_RATE,
            momentum: 0.0,
        }
    }

    /// The first number that is not finite and above 0 (momentum: not in [0, 1)), if any.
    pub(crate) fn unsound(&self) -> Option<f64> {
        let positive = |value: &f64| *value > 0.0 && value.is_finite();
        let numbers = match *self {
            Self::Constant { value } => vec![value],
            Self::Linear { initial, last } | Self::Cosine { initial, last } => vec![initial, last],
            Self::Exponential { initial, ratio } => vec![initial, ratio],
            Self::Online {
                initial,
                rate,
                momentum,
            } => {
                if !(0.0..1.0).contains(&momentum) {
                    return Some(momentum);
                }
                vec![initial, rate]
            }
        };
        numbers.into_iter().find(|value| !positive(value))
    }

    /// The rate of a step, counted from 0; of a learned rate the one it starts from.
    pub fn scheduled(&self, step: u64, steps: u64) -> f64 {
        let done = step as f64 / steps.saturating_sub(1).max(1) as f64;
        match *self {
            Self::Constant { value } => value,
            Self::Linear { initial, last } => initial + (last - initial) * done,
            Self::Cosine { initial, last } => {
                last + (initial - last) * 0.5 * (1.0 + (std::f64::consts::PI * done).cos())
            }
            Self::Exponential { initial, ratio } => {
                initial * ratio.powf(-((step + 1) as f64) / steps as f64)
            }
            Self::Online { initial, .. } => initial,
        }
    }
}

/// What a learned rate has learned: public, and part of a checkpoint.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LearningRateState {
    /// The rate of the next step.
    pub rate: f64,
    /// The released gradient or momentum of the last step, by parameter.
    pub momentum: Option<Vec<Vec<f32>>>,
}

/// Follows a learning rate through a run.
pub(crate) struct RateTracker {
    policy: LearningRate,
    steps: u64,
    learned: f64,
    moved_by: Option<Vec<Tensor<1>>>,
}

/// A learned rate stays within these.
const RANGE: (f64, f64) = (1e-12, 1e12);

impl RateTracker {
    pub fn new(policy: LearningRate, steps: u64) -> Self {
        Self {
            policy,
            steps,
            learned: policy.scheduled(0, steps),
            moved_by: None,
        }
    }

    /// The rate of a step, frozen while the step is made.
    pub fn rate(&self, step: u64) -> f64 {
        match self.policy {
            LearningRate::Online { .. } => self.learned,
            scheduled => scheduled.scheduled(step, self.steps),
        }
    }

    /// Learns from the gradient that the step released.
    pub fn learn(&mut self, gradient: &[Tensor<1>]) {
        let LearningRate::Online { rate, momentum, .. } = self.policy else {
            return;
        };
        let moved_by = match self.moved_by.take() {
            // Before the first step nothing was released, which moves nothing.
            None => gradient.to_vec(),
            Some(before) => {
                let inner = products(gradient, &before).inner;
                let next = self.learned * (rate * sign(inner)).exp();
                self.learned = next.clamp(RANGE.0, RANGE.1);
                if momentum == 0.0 {
                    gradient.to_vec()
                } else {
                    let add = |(old, new): (Tensor<1>, &Tensor<1>)| {
                        old.to_device(&new.device()) * momentum + new.clone()
                    };
                    before.into_iter().zip(gradient).map(add).collect()
                }
            }
        };
        self.moved_by = Some(moved_by);
    }

    pub fn state(&self) -> LearningRateState {
        LearningRateState {
            rate: self.learned,
            momentum: (self.moved_by.as_ref()).map(|moved| moved.iter().map(to_vec).collect()),
        }
    }

    pub fn restore(&mut self, state: &LearningRateState, device: &Device) {
        let tensor = |values: &Vec<f32>| from_vec(values, device);
        self.learned = state.rate;
        self.moved_by = (state.momentum.as_ref()).map(|moved| moved.iter().map(tensor).collect());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn vector(values: [f32; 2]) -> Vec<Tensor<1>> {
        vec![Tensor::from_floats(
            values,
            &crate::training::testkit::device(),
        )]
    }

    #[test]
    fn schedules_start_and_end_where_they_say() {
        let policies = [
            LearningRate::Linear {
                initial: 2.0,
                last: 0.5,
            },
            LearningRate::Cosine {
                initial: 2.0,
                last: 0.5,
            },
        ];
        for policy in policies {
            assert!((policy.scheduled(0, 100) - 2.0).abs() < 1e-12);
            assert!((policy.scheduled(99, 100) - 0.5).abs() < 1e-12);
        }
        let halved = LearningRate::Exponential {
            initial: 1.0,
            ratio: 2.0,
        };
        assert_eq!(halved.scheduled(9, 10), 0.5);
    }

    /// Equation 21 by hand: the first step has no predecessor, agreement raises the rate, conflict
    /// lowers it, orthogonality leaves it.
    #[test]
    fn online_rate_follows_the_sign_of_successive_gradients() {
        let mut tracker = RateTracker::new(LearningRate::online(1.0), 100);
        let mut expected = 1.0;
        for (gradient, moves) in [
            ([1.0, 0.0], 0.0),
            ([1.0, 1.0], 1.0),
            ([-1.0, 0.0], -1.0),
            ([0.0, 1.0], 0.0),
        ] {
            tracker.learn(&vector(gradient));
            expected *= (2.5e-3f64 * moves).exp();
            assert_eq!(tracker.rate(5), expected);
        }
    }

    #[test]
    fn with_momentum_the_released_momentum_is_compared() {
        let policy = LearningRate::Online {
            initial: 1.0,
            rate: 0.1,
            momentum: 0.9,
        };
        let mut tracker = RateTracker::new(policy, 100);
        tracker.learn(&vector([10.0, 0.0]));
        tracker.learn(&vector([-1.0, 0.0])); // against it: down; momentum is now (8, 0)
        tracker.learn(&vector([1.0, 0.0])); // with the momentum, though against the last gradient
        assert!((tracker.rate(3) - 1.0).abs() < 1e-12);
    }
}
