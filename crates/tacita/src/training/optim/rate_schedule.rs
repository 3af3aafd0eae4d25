//! The course of a learning rate apart from the rate itself.

use super::OptimizerRule;
use super::learning_rate::{LearningRate, ONLINE_RATE};

/// A rate must stay above 0, so an end of 0 is a thousandth.
const LEAST_END: f64 = 1e-3;

/// How a learning rate moves over a run, relative to the rate of the first step.
///
/// ```
/// use tacita::optim::{LearningRate, OptimizerRule, RateSchedule};
///
/// let schedule: RateSchedule = "linear:0.1".parse()?;
/// let rate = schedule.starting_at(2.0, OptimizerRule::Sgd);
/// assert_eq!(rate, LearningRate::Linear { initial: 2.0, last: 0.2 });
/// # Ok::<(), tacita::PolicyNameError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub enum RateSchedule {
    /// The same in every step.
    #[default]
    Constant,
    /// To a share of the rate in a straight line.
    Linear {
        /// The share.
        end: f64,
    },
    /// To a share of the rate along half a cosine.
    Cosine {
        /// The share.
        end: f64,
    },
    /// ρ^(−t/T), t = 1..T.
    Exponential {
        /// ρ: how many times smaller the last rate is.
        ratio: f64,
    },
    /// Learned online from released gradients.
    Online,
}

impl RateSchedule {
    /// The learning rate that starts at `initial`; one that is learned must know the optimiser's momentum.
    pub fn starting_at(self, initial: f64, optimizer: OptimizerRule) -> LearningRate {
        match self {
            Self::Constant => initial.into(),
            Self::Linear { end } => LearningRate::Linear {
                initial,
                last: initial * end.max(LEAST_END),
            },
            Self::Cosine { end } => LearningRate::Cosine {
                initial,
                last: initial * end.max(LEAST_END),
            },
            Self::Exponential { ratio } => LearningRate::Exponential { initial, ratio },
            Self::Online => LearningRate::Online {
                initial,
                rate: ONLINE_RATE,
                momentum: optimizer.momentum(),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_learned_rate_knows_the_momentum() {
        let rate = RateSchedule::Online.starting_at(1.0, OptimizerRule::nesterov(0.5));
        let wanted = LearningRate::Online {
            initial: 1.0,
            rate: 2.5e-3,
            momentum: 0.5,
        };
        assert_eq!(rate, wanted);
    }

    #[test]
    fn a_rate_that_falls_to_nothing_stays_above_it() {
        let rate = RateSchedule::Linear { end: 0.0 }.starting_at(2.0, OptimizerRule::Sgd);
        let wanted = LearningRate::Linear {
            initial: 2.0,
            last: 2e-3,
        };
        assert_eq!(rate, wanted);
    }
}
