//! The rounds of a ledger, grouped by kind, as the accountant composes them.

use super::Pld;
use super::pair::Pair;
use crate::accountant::AccountError;
use crate::ledger::{Ledger, Neighbours, Sampling};
use crate::special::ROUNDOFF;

/// Which end of the bracket a figure is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    /// δ and ε not below the truth.
    Upper,
    /// δ and ε not above the truth.
    Lower,
}

/// Equal rounds.
#[derive(Debug, Clone)]
pub(super) struct Step {
    /// Poisson rate, or none if every record takes part.
    pub(super) rate: Option<f64>,
    /// Noise multiplier, not above the true one.
    noise_down: f64,
    /// Noise multiplier, not below the true one.
    noise_up: f64,
    /// How many.
    pub(super) times: u64,
}

impl Step {
    /// The pair of output distributions, for one end of the bracket.
    pub(super) fn pair(&self, side: Side, records: u32) -> Pair {
        let noise = self.noise(side);
        match self.rate {
            None => Pair::full(noise),
            Some(rate) => Pair::poisson(rate, records, noise),
        }
    }

    /// The noise multiplier, rounded towards the given end of the bracket.
    pub(super) fn noise(&self, side: Side) -> f64 {
        match side {
            Side::Upper => self.noise_down,
            Side::Lower => self.noise_up,
        }
    }
}

/// All rounds of a ledger.
#[derive(Debug, Clone)]
pub(super) struct Steps {
    /// Kinds of rounds, in order of rate and noise.
    pub(super) kinds: Vec<Step>,
    /// Records per protected unit.
    pub(super) records: u32,
}

impl Steps {
    /// Groups the rounds of a ledger that passed [`check`].
    pub(super) fn of(ledger: &Ledger) -> Self {
        let records = ledger.records_per_unit();
        let mut kinds: Vec<Step> = Vec::with_capacity(ledger.rounds().len());
        // Full rounds compose to one Gaussian: 1/z² adds up.
        let (mut precision, mut full) = (0.0, 0_u64);
        for round in ledger.rounds() {
            let noise = round.effective_noise_multiplier();
            match round.sampling {
                Sampling::Poisson { rate } if rate < 1.0 => {
                    let exact = round.noise_multipliers.len() == 1;
                    kinds.push(Step {
                        rate: Some(rate),
                        noise_down: noise,
                        noise_up: if exact {
                            noise
                        } else {
                            noise * (1.0 + 40.0 * ROUNDOFF)
                        },
                        times: round.times,
                    });
                }
                _ => {
                    let sensitivity = f64::from(records) / noise;
                    precision += round.times as f64 * sensitivity * sensitivity;
                    full += 1;
                }
            }
        }
        kinds.sort_by(|a, b| {
            let key = |step: &Step| (step.rate, step.noise_down);
            key(a)
                .partial_cmp(&key(b))
                .unwrap_or(std::cmp::Ordering::Equal)
        });
        kinds.dedup_by(|next, kept| {
            let same = next.rate == kept.rate
                && next.noise_down == kept.noise_down
                && next.noise_up == kept.noise_up;
            if same {
                kept.times += next.times;
            }
            same
        });
        if full > 0 {
            let noise = precision.sqrt().recip();
            let rounding = (full as f64 + 40.0) * ROUNDOFF;
            kinds.push(Step {
                rate: None,
                noise_down: noise * (1.0 - rounding),
                noise_up: noise * (1.0 + rounding),
                times: 1,
            });
        }
        Self { kinds, records }
    }

    /// Number of rounds composed (all full rounds count as one).
    pub(super) fn rounds(&self) -> f64 {
        self.kinds.iter().map(|step| step.times as f64).sum()
    }

    /// The loss of the add direction never exceeds this: −Σ ln w₀.
    pub(super) fn most_loss_of_addition(&self) -> f64 {
        let records = f64::from(self.records);
        (self.kinds.iter())
            .map(|step| match step.rate {
                Some(rate) => step.times as f64 * records * -(-rate).ln_1p() * (1.0 + 1e-12),
                None => f64::INFINITY,
            })
            .sum()
    }

    /// Both directions have the same divergence.
    pub(super) fn is_symmetric(&self) -> bool {
        self.kinds.iter().all(|step| step.rate.is_none())
    }
}

/// Most records per unit: the mixture has a Gaussian for each number drawn.
const MOST_RECORDS: u32 = 1000;

/// Refuses what there is no proof for.
pub(super) fn check(ledger: &Ledger) -> Result<(), AccountError> {
    let refuse = |what: String, remedy| {
        Err(AccountError::Unsupported {
            accountant: Pld::NAME,
            what,
            remedy,
        })
    };
    if ledger.records_per_unit() > MOST_RECORDS {
        return refuse(
            format!("{} records per unit", ledger.records_per_unit()),
            "cap the records of a unit at 1000",
        );
    }
    for round in ledger.rounds() {
        match (round.sampling, ledger.neighbours()) {
            (Sampling::Full {}, _) => {}
            (Sampling::Poisson { rate }, _) if rate == 1.0 => {}
            (Sampling::Poisson { .. }, Neighbours::AddOrRemoveOne) => {}
            (Sampling::Poisson { .. }, Neighbours::ReplaceOne) => {
                return refuse(
                    "poisson sampling under replace-one".into(),
                    "state the noise for add-or-remove-one",
                );
            }
            (sampling @ Sampling::FixedSize { .. }, _) => {
                return refuse(
                    format!("{} sampling", sampling.name()),
                    "use the rdp accountant",
                );
            }
            (sampling, _) => {
                return refuse(
                    format!("{} sampling", sampling.name()),
                    "use the zcdp accountant",
                );
            }
        }
    }
    Ok(())
}
