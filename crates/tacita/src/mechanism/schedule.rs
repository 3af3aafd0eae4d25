//! How noise is spread over the steps: public functions of the step number.
//!
//! A schedule gives noise multipliers *relative* to one scale; the scale is found for the schedule as
//! a whole, so that its certified ε is the budget.

use crate::sensitivity::clipping::Threshold;
use serde::{Deserialize, Serialize};

/// The noise multiplier of each step, relative to one scale.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "schedule", deny_unknown_fields)]
pub enum NoiseSchedule {
    /// The same in every step.
    #[default]
    Constant,
    /// ρ^(−t/T) for t = 1..T, so that μₜ = μ₀ρ^(t/T) grows (Du et al. 2021, eq. 9). With a decaying
    /// threshold this is their dynamic DP-SGD (Algorithms 2 and 4).
    GrowingMu {
        /// ρ: how many times less noise the last step has.
        ratio: f64,
    },
    /// Any relative noise multipliers, one for each step (Algorithm 3).
    Table {
        /// The multipliers.
        relative: Vec<f64>,
    },
    /// Noise std ∝ √Cₜ, that is noise multiplier ∝ 1/√Cₜ: the least noise in all for thresholds known
    /// in advance (Du et al. 2021, A.7).
    Optimal,
    /// Noise std ∝ √Cₜ / Qₜ^¼ where Qₜ is the curvature of the loss in step t (A.8, eq. 61; section 5
    /// of the paper prints the exponent with the wrong sign).
    OptimalForCurvature {
        /// Qₜ of each step, from public knowledge.
        curvature: Vec<f64>,
    },
    /// Less noise with every epoch (Yu et al. 2019, arXiv:1904.02200, section VI).
    Decay(NoiseDecay),
}

/// How noise decays with the number e of whole epochs made.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "form", deny_unknown_fields)]
pub enum NoiseDecay {
    /// 1 / (1 + k e).
    TimeBased {
        /// k.
        rate: f64,
    },
    /// exp(−k e).
    Exponential {
        /// k.
        rate: f64,
    },
    /// factor^⌊e / period⌋.
    Step {
        /// What noise is multiplied by.
        factor: f64,
        /// Epochs between two drops.
        period: u64,
    },
    /// (1 − end) (1 − e / period)^power + end, and `end` from epoch `period` on.
    Polynomial {
        /// The power.
        power: f64,
        /// Relative noise at the end.
        end: f64,
        /// Epochs until then.
        period: u64,
    },
}

impl NoiseDecay {
    /// The relative noise multiplier after so many whole epochs.
    pub fn at(&self, epoch: u64) -> f64 {
        let e = epoch as f64;
        match *self {
            Self::TimeBased { rate } => 1.0 / (1.0 + rate * e),
            Self::Exponential { rate } => (-rate * e).exp(),
            Self::Step { factor, period } => factor.powf((epoch / period.max(1)) as f64),
            Self::Polynomial { power, end, period } => {
                let left = 1.0 - (e / period.max(1) as f64).min(1.0);
                (1.0 - end) * left.powf(power) + end
            }
        }
    }
}

/// What a schedule may depend on: nothing but the plan.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PublicRun<'a> {
    pub steps: u64,
    pub rate: f64,
    pub threshold: &'a Threshold,
}

impl NoiseSchedule {
    /// The relative noise multiplier of each step as runs of equal ones.
    pub(crate) fn runs(&self, run: PublicRun<'_>) -> Vec<(f64, u64)> {
        let threshold = |step| run.threshold.scheduled(step, run.steps);
        let relative = |step: u64| match self {
            Self::Constant => 1.0,
            Self::GrowingMu { ratio } => ratio.powf(-((step + 1) as f64) / run.steps as f64),
            Self::Table { relative } => relative[step as usize],
            Self::Optimal => 1.0 / threshold(step).sqrt(),
            Self::OptimalForCurvature { curvature } => {
                1.0 / (threshold(step).sqrt() * curvature[step as usize].powf(0.25))
            }
            Self::Decay(decay) => decay.at((step as f64 * run.rate) as u64),
        };
        if *self == Self::Constant {
            return vec![(1.0, run.steps)];
        }
        let mut runs: Vec<(f64, u64)> = Vec::new();
        for step in 0..run.steps {
            let value = relative(step);
            match runs.last_mut() {
                Some((last, times)) if *last == value => *times += 1,
                _ => runs.push((value, 1)),
            }
        }
        runs
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn relative(schedule: &NoiseSchedule, steps: u64, threshold: &Threshold) -> Vec<f64> {
        let run = PublicRun {
            steps,
            rate: 0.5,
            threshold,
        };
        let runs = schedule.runs(run);
        let repeat = |(value, times): (f64, u64)| std::iter::repeat_n(value, times as usize);
        runs.into_iter().flat_map(repeat).collect()
    }

    #[test]
    fn growing_mu_ends_at_one_over_the_ratio() {
        let schedule = NoiseSchedule::GrowingMu { ratio: 4.0 };
        let seen = relative(&schedule, 4, &Threshold::from(1.0));
        assert_eq!(seen[1], 0.5);
        assert_eq!(seen[3], 0.25);
        let flat = NoiseSchedule::GrowingMu { ratio: 1.0 };
        assert_eq!(relative(&flat, 3, &Threshold::from(1.0)), [1.0; 3]);
    }

    /// A.7: among all schedules of the same CLT privacy Σ (Cₜ/σₜ)², the optimal one has the least
    /// Σ σₜ², compared with neighbours in every coordinate.
    #[test]
    fn optimal_allocation_has_the_least_noise_for_its_privacy() {
        let threshold = Threshold::Decay {
            initial: 2.0,
            ratio: 5.0,
        };
        let curvature: Vec<f64> = (0..6).map(|t| 1.0 + t as f64).collect();
        let cases = [
            (NoiseSchedule::Optimal, vec![1.0; 6]),
            (
                NoiseSchedule::OptimalForCurvature {
                    curvature: curvature.clone(),
                },
                curvature,
            ),
        ];
        for (schedule, curvature) in cases {
            let best = relative(&schedule, 6, &threshold);
            // (59): Σ Q σ² · Σ C²/σ², with σ = multiplier · C.
            let cost = |multipliers: &[f64]| {
                let noise: f64 = (0..6)
                    .map(|t| {
                        curvature[t] * (multipliers[t] * threshold.scheduled(t as u64, 6)).powi(2)
                    })
                    .sum();
                noise * multipliers.iter().map(|z| z.powi(-2)).sum::<f64>()
            };
            for t in 0..6 {
                for factor in [0.9, 1.1] {
                    let mut other = best.clone();
                    other[t] *= factor;
                    assert!(cost(&other) > cost(&best) * (1.0 + 1e-6));
                }
            }
        }
    }

    #[test]
    fn decays_are_the_published_forms() {
        assert_eq!(NoiseDecay::TimeBased { rate: 0.5 }.at(2), 0.5);
        assert_eq!(NoiseDecay::Exponential { rate: 0.5 }.at(2), (-1.0f64).exp());
        let step = NoiseDecay::Step {
            factor: 0.5,
            period: 3,
        };
        assert_eq!((step.at(2), step.at(3), step.at(6)), (1.0, 0.5, 0.25));
        let polynomial = NoiseDecay::Polynomial {
            power: 2.0,
            end: 0.2,
            period: 10,
        };
        assert_eq!(polynomial.at(0), 1.0);
        assert!((polynomial.at(5) - (0.8 * 0.25 + 0.2)).abs() < 1e-15);
        assert_eq!(polynomial.at(20), 0.2);
        // Epochs, not steps: at rate 1/2 two steps make one.
        let decay = NoiseSchedule::Decay(NoiseDecay::TimeBased { rate: 1.0 });
        assert_eq!(
            relative(&decay, 4, &Threshold::from(1.0)),
            [1.0, 1.0, 0.5, 0.5]
        );
    }
}
