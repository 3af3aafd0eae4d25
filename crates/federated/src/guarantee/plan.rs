//! What a federation will release, decided and certified before its first round.

use super::adversary::Figure;
use super::bound::Bound;
use super::clip::Clip;
use super::committee::{LEAST_SHARE, NoiseBy};
use serde::{Deserialize, Serialize};
use tacita_accounting::calibrate::{self, Shape};
use tacita_accounting::{AccountError, Accountant, Ledger, LedgerError, Pld, Reading, Sampling};
use tacita_mechanism::noise::{TAIL_SHARE, missing_tail_delta};
use thiserror::Error;

/// Where the scale of the noise comes from.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Scale {
    /// The least noise whose certified ε against those who see the models is at most this.
    Epsilon(f64),
    /// The noise multiplier of a constant schedule; 1/μ₀ of growing μ.
    NoiseMultiplier(f64),
}

/// A federation to be certified. Nothing in it may depend on the clients' records.
///
/// ```
/// use tacita_federated::{Plan, Scale};
///
/// // 10,000 clients, of which 100 take part in a round on average; 200 rounds.
/// let plan = Plan::new(10_000, 100.0, 200, Scale::Epsilon(2.0), 1e-6).certify()?;
/// assert!(plan.figures()[0].epsilon.is_some_and(|epsilon| epsilon <= 2.0));
/// # Ok::<(), tacita_federated::PlanError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Plan {
    /// Enrolled clients as everyone may know them. The rate comes from this number, not from a count; if the real number
    /// differs, the guarantee holds all the same.
    pub clients: u64,
    /// Clients per round on average: what sums are divided by.
    pub expected_cohort: f64,
    /// Rounds in all.
    pub rounds: u64,
    /// The budget, or the noise.
    pub scale: Scale,
    /// δ.
    pub delta: f64,
    /// How a client's update is clipped.
    #[serde(default = "auto")]
    pub clip: Clip,
    /// C₀: the threshold before it decays.
    #[serde(default = "one")]
    pub threshold: f64,
    /// ρ_c: Cₜ = C₀ ρ_c^(−t/T) for t = 1..T (Du et al. 2021, eq. 12).
    #[serde(default = "one")]
    pub threshold_decay: f64,
    /// ρ_μ: the noise multiplier of round t is that of the scale times ρ_μ^(−t/T) (eq. 9).
    #[serde(default = "one")]
    pub growing_mu: f64,
    /// Who makes the noise.
    #[serde(default)]
    pub noise: NoiseBy,
}

fn auto() -> Clip {
    Clip::AUTO
}

fn one() -> f64 {
    1.0
}

/// Why a plan was refused. Nothing was released.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum PlanError {
    /// A number outside its range.
    #[error("{what} must be {range}, got {value}; nothing was released")]
    Value {
        /// Which number.
        what: &'static str,
        /// Its range.
        range: &'static str,
        /// The value seen.
        value: f64,
    },
    /// A threshold that decays where it only rescales the learning rate.
    #[error(
        "a threshold that decays with automatic clipping only lowers the learning rate; let the learning rate decay, or \
         use Abadi's rule; nothing was released"
    )]
    Meaningless,
    /// A committee without anybody whose noise is certain.
    #[error(
        "a committee of {members} of which {absent} may stay away and {colluding} may collude has nobody left to make \
         noise; they must be fewer than the members; nothing was released"
    )]
    Committee {
        /// Members.
        members: u64,
        /// Members who may stay away.
        absent: u64,
        /// Members who may collude.
        colluding: u64,
    },
    /// So little noise that whole steps of the grid are too coarse for it.
    #[error(
        "the share of a member of the committee has a standard deviation of {steps:.1} steps of the grid, and at least \
         {LEAST_SHARE} are needed; use more noise or fewer members; nothing was released"
    )]
    ShareTooSmall {
        /// Steps of the grid.
        steps: f64,
    },
    /// A δ smaller than what the noise generator cannot reach.
    #[error(
        "the tail of the normal distribution that the noise generator cannot reach costs more than a millionth of δ = \
         {delta:e}; raise δ, or lower ε; nothing was released"
    )]
    Tail {
        /// δ.
        delta: f64,
    },
    /// The accountant has no certificate for it.
    #[error("{0}; nothing was released")]
    Account(#[from] AccountError),
}

impl From<LedgerError> for PlanError {
    fn from(error: LedgerError) -> Self {
        Self::Account(error.into())
    }
}

fn positive(what: &'static str, value: f64) -> Result<(), PlanError> {
    match value > 0.0 && value.is_finite() {
        true => Ok(()),
        false => Err(PlanError::Value {
            what,
            range: "a finite number above 0",
            value,
        }),
    }
}

impl Plan {
    /// A plan with automatic clipping, the same noise in every round, made by the server.
    pub fn new(clients: u64, expected_cohort: f64, rounds: u64, scale: Scale, delta: f64) -> Self {
        Self {
            clients,
            expected_cohort,
            rounds,
            scale,
            delta,
            clip: Clip::AUTO,
            threshold: 1.0,
            threshold_decay: 1.0,
            growing_mu: 1.0,
            noise: NoiseBy::Server,
        }
    }

    /// Finds the least certified noise, or certifies the given one, and fixes the plan.
    pub fn certify(self) -> Result<CertifiedPlan, PlanError> {
        self.check()?;
        let rate = self.expected_cohort / self.clients as f64;
        let sampling = Sampling::Poisson { rate };
        let shape = Shape::growing_mu(sampling, self.rounds, self.growing_mu)?;
        let delta = self.delta * (1.0 - TAIL_SHARE);
        let (scale, ledger, epsilon) = match self.scale {
            Scale::NoiseMultiplier(scale) => {
                let ledger = shape.ledger(scale)?;
                let epsilon = Pld::default().epsilon(&ledger, delta)?;
                (scale, ledger, epsilon)
            }
            Scale::Epsilon(epsilon) => {
                let budget = calibrate::Budget::new(epsilon, delta)?;
                let found = calibrate::smallest_noise(&shape, budget, &Pld::default())?;
                (found.noise_multiplier, found.ledger, found.epsilon)
            }
        };
        let plan = CertifiedPlan {
            plan: self,
            rate,
            scale,
            ledger,
            epsilon,
        };
        for round in [0, plan.plan.rounds - 1] {
            plan.terms(round)?;
        }
        match plan.plan.scale {
            Scale::Epsilon(epsilon) if !plan.pays_for_tail(epsilon) => Err(PlanError::Tail {
                delta: plan.plan.delta,
            }),
            _ => Ok(plan),
        }
    }

    fn check(&self) -> Result<(), PlanError> {
        positive("number of clients", self.clients as f64)?;
        positive("number of rounds", self.rounds as f64)?;
        positive("expected cohort", self.expected_cohort)?;
        if self.expected_cohort > self.clients as f64 {
            return Err(PlanError::Value {
                what: "expected cohort",
                range: "at most the number of clients",
                value: self.expected_cohort,
            });
        }
        match self.scale {
            Scale::Epsilon(epsilon) => positive("epsilon", epsilon)?,
            Scale::NoiseMultiplier(multiplier) => positive("noise multiplier", multiplier)?,
        }
        if !(self.delta > 0.0 && self.delta < 1.0) {
            return Err(PlanError::Value {
                what: "delta",
                range: "in (0, 1)",
                value: self.delta,
            });
        }
        positive("threshold decay", self.threshold_decay)?;
        positive("growth of mu", self.growing_mu)?;
        if let Clip::Auto { gamma } = self.clip {
            if !(gamma >= 0.0 && gamma.is_finite()) {
                return Err(PlanError::Value {
                    what: "gamma",
                    range: "a finite number of at least 0",
                    value: gamma,
                });
            }
            if self.threshold_decay != 1.0 {
                return Err(PlanError::Meaningless);
            }
        }
        match &self.noise {
            NoiseBy::Server => Ok(()),
            NoiseBy::Committee(committee) => committee.check(),
        }
    }

    /// Cₜ, rounds counted from 0. The paper counts them from 1.
    fn threshold(&self, round: u64) -> f64 {
        let done = (round + 1) as f64 / self.rounds as f64;
        self.threshold * self.threshold_decay.powf(-done)
    }
}

/// What is fixed for one round.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Terms {
    /// Cₜ, as a bound on vectors of whole steps.
    pub bound: Bound,
    /// Cₜ.
    pub threshold: f64,
    /// The standard deviation of the noise on the sum.
    pub noise_std: f64,
    /// That of a committee member's share, in steps of the grid.
    pub share_std: Option<f64>,
}

/// A plan with its certificate.
#[derive(Debug, Clone, PartialEq)]
pub struct CertifiedPlan {
    pub(super) plan: Plan,
    rate: f64,
    scale: f64,
    pub(super) ledger: Ledger,
    epsilon: Reading,
}

impl CertifiedPlan {
    /// The plan as it was asked for.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// The probability with which a client takes part in a round.
    pub fn rate(&self) -> f64 {
        self.rate
    }

    /// The scale of the noise: with it, [`Scale::NoiseMultiplier`] makes the very same rounds.
    pub fn scale(&self) -> f64 {
        self.scale
    }

    /// The ledger that the whole federation will leave.
    pub fn ledger(&self) -> &Ledger {
        &self.ledger
    }

    /// The certified ε against those who see the models and nothing else.
    pub fn epsilon(&self) -> Reading {
        self.epsilon
    }

    /// What is promised, against whom. No figure goes without its adversary.
    pub fn figures(&self) -> Vec<Figure> {
        super::adversary::figures(self)
    }

    /// The noise multiplier of a round.
    pub(super) fn noise_multiplier(&self, round: u64) -> f64 {
        let round = self.ledger.round_at(round);
        round.map_or(f64::NAN, |round| round.effective_noise_multiplier())
    }

    /// What is fixed for a round: a public function of the plan.
    pub fn terms(&self, round: u64) -> Result<Terms, PlanError> {
        let threshold = self.plan.threshold(round);
        let bound = Bound::of(threshold)?;
        // The bound is at most the threshold, and noise is made for the threshold.
        let noise_std = self.noise_multiplier(round) * threshold;
        let share_std = match &self.plan.noise {
            NoiseBy::Server => None,
            NoiseBy::Committee(committee) => {
                let steps = committee.share_std(noise_std / bound.grid().spacing());
                if steps < LEAST_SHARE {
                    return Err(PlanError::ShareTooSmall { steps });
                }
                Some(steps)
            }
        };
        Ok(Terms {
            bound,
            threshold,
            noise_std,
            share_std,
        })
    }

    /// Refuses a model that the grid is too coarse for.
    pub fn check_model(&self, parameters: usize) -> Result<(), PlanError> {
        Bound::check_length(parameters)
    }

    /// Whether the share of δ that is set aside pays for the tail which the noise generator cannot reach, at this ε and
    /// for the largest model that is accepted.
    pub(super) fn pays_for_tail(&self, epsilon: f64) -> bool {
        let makers = match &self.plan.noise {
            NoiseBy::Server => 1,
            NoiseBy::Committee(committee) => committee.members,
        };
        let normals = (Bound::MOST_ENTRIES as u64)
            .saturating_mul(self.plan.rounds)
            .saturating_mul(makers);
        missing_tail_delta(normals, epsilon) <= TAIL_SHARE * self.plan.delta
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::guarantee::committee::Committee;

    fn plan(scale: Scale) -> Plan {
        Plan::new(1000, 50.0, 40, scale, 1e-5)
    }

    #[test]
    fn thresholds_and_noise_follow_the_paper() {
        let plan = Plan {
            clip: Clip::Abadi,
            threshold: 2.0,
            threshold_decay: 4.0,
            growing_mu: 2.0,
            ..plan(Scale::NoiseMultiplier(3.0))
        };
        let plan = plan.certify().unwrap();
        // t = 20 and t = 40 of 40.
        let (middle, last) = (plan.terms(19).unwrap(), plan.terms(39).unwrap());
        assert_eq!((middle.threshold, last.threshold), (1.0, 0.5));
        assert_eq!(last.noise_std, 0.5 * 1.5);
        assert!((middle.noise_std - 3.0 / 2f64.sqrt()).abs() < 1e-12);
    }

    #[test]
    fn a_budget_is_kept_and_the_scale_makes_the_same_rounds() {
        let found = plan(Scale::Epsilon(1.0)).certify().unwrap();
        assert!(found.epsilon().upper_bound().unwrap() <= 1.0);
        assert!(found.epsilon().lower_bound().unwrap() > 0.99);
        let again = plan(Scale::NoiseMultiplier(found.scale()))
            .certify()
            .unwrap();
        assert_eq!(again.ledger(), found.ledger());
    }

    #[test]
    fn plans_without_meaning_or_proof_are_refused() {
        let refuse = |plan: Plan| plan.certify().map(|_| ()).unwrap_err().to_string();
        let good = || plan(Scale::NoiseMultiplier(1.0));
        let cases = [
            Plan {
                clients: 10,
                ..good()
            },
            Plan {
                expected_cohort: f64::NAN,
                ..good()
            },
            Plan {
                rounds: 0,
                ..good()
            },
            Plan {
                delta: 1.0,
                ..good()
            },
            Plan {
                threshold: 0.0,
                ..good()
            },
            Plan {
                threshold_decay: 2.0,
                ..good()
            },
            Plan {
                growing_mu: -1.0,
                ..good()
            },
            Plan {
                clip: Clip::Auto { gamma: -1.0 },
                ..good()
            },
            plan(Scale::Epsilon(-1.0)),
            plan(Scale::NoiseMultiplier(0.0)),
            Plan {
                noise: NoiseBy::Committee(Committee {
                    members: 3,
                    absent: 2,
                    colluding: 1,
                }),
                ..good()
            },
            Plan {
                noise: NoiseBy::Committee(Committee {
                    members: 1,
                    absent: 0,
                    colluding: 0,
                }),
                ..plan(Scale::NoiseMultiplier(1e-5))
            },
        ];
        for plan in cases {
            let message = refuse(plan.clone());
            assert!(
                message.ends_with("nothing was released"),
                "{plan:?}: {message}"
            );
        }
    }

    #[test]
    fn a_tail_that_the_noise_cannot_reach_is_paid_for_or_nothing_is_promised() {
        let tiny = |scale| Plan {
            delta: 1e-24,
            ..plan(scale)
        };
        let refused = tiny(Scale::Epsilon(1.0)).certify();
        assert!(matches!(refused, Err(PlanError::Tail { .. })));
        let figures = |plan: Plan| plan.certify().unwrap().figures();
        let given = Scale::NoiseMultiplier(2.0);
        assert_eq!(figures(tiny(given))[0].epsilon, None);
        assert!(figures(plan(given))[0].epsilon.is_some());
        assert_eq!(figures(plan(Scale::NoiseMultiplier(1e-3)))[0].epsilon, None);
    }
}
