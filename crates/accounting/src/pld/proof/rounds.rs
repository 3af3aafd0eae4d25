//! The rounds of a ledger, grouped by kind, as the accountant composes them.

use super::pair::Pair;
use crate::accountant::AccountError;
use crate::ledger::{Ledger, Neighbours, Sampling};
use crate::special::ROUNDOFF;

/// Name of the accountant, shown beside its figures and in refusals.
pub(crate) const NAME: &str = "pld";

/// Which end of the bracket a figure is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Side {
    /// δ and ε not below the truth.
    Upper,
    /// δ and ε not above the truth.
    Lower,
}

/// Equal rounds.
#[derive(Debug, Clone)]
pub(crate) struct RoundKind {
    /// Poisson rate, or none if every record takes part.
    pub(crate) rate: Option<f64>,
    /// Noise multiplier, not above the true one.
    pub(super) noise_down: f64,
    /// Noise multiplier, not below the true one.
    pub(super) noise_up: f64,
    /// How many.
    pub(crate) times: u64,
}

impl RoundKind {
    /// The pair of output distributions, for one end of the bracket.
    pub(crate) fn pair(&self, side: Side, records: u32) -> Pair {
        self.pair_of_noise(self.noise(side), records)
    }

    /// The pair of a round like this one but of other noise.
    pub(crate) fn pair_of_noise(&self, noise: f64, records: u32) -> Pair {
        match self.rate {
            None => Pair::full(noise),
            Some(rate) => Pair::poisson(rate, records, noise),
        }
    }

    /// The noise multiplier, rounded towards the given end of the bracket.
    pub(crate) fn noise(&self, side: Side) -> f64 {
        match side {
            Side::Upper => self.noise_down,
            Side::Lower => self.noise_up,
        }
    }
}

/// All rounds of a ledger.
#[derive(Debug, Clone)]
pub(crate) struct Rounds {
    /// Kinds of rounds, in order of rate and noise.
    pub(crate) kinds: Vec<RoundKind>,
    /// Records per protected unit.
    pub(crate) records: u32,
}

impl Rounds {
    /// Groups the rounds of a ledger that passed [`check`].
    pub(crate) fn of(ledger: &Ledger) -> Self {
        let records = ledger.records_per_unit();
        let mut kinds: Vec<RoundKind> = Vec::with_capacity(ledger.rounds().len());
        // Full rounds compose to one Gaussian: 1/z² adds up.
        let (mut precision, mut least_precision, mut full) = (0.0, 0.0, 0_u64);
        let mut most_rounding = 0.0_f64;
        for round in ledger.rounds() {
            let noise = round.effective_noise_multiplier();
            // What the multiplier of several queries was rounded down by, and its own error.
            let rounding = (8.0 + 4.0 * round.noise_multipliers.len() as f64).max(40.0) * ROUNDOFF;
            most_rounding = most_rounding.max(rounding);
            match round.sampling {
                Sampling::Poisson { rate } if rate < 1.0 => {
                    let exact = round.noise_multipliers.len() == 1;
                    kinds.push(RoundKind {
                        rate: Some(rate),
                        noise_down: noise,
                        noise_up: if exact {
                            noise
                        } else {
                            noise * (1.0 + rounding)
                        },
                        times: round.times,
                    });
                }
                _ => {
                    let sensitivity = f64::from(records) / noise;
                    least_precision += round.times as f64 * sensitivity * sensitivity;
                    // The square of a smaller one underflows.
                    let sensitivity = sensitivity.max(1e-150);
                    precision += round.times as f64 * sensitivity * sensitivity;
                    full += 1;
                }
            }
        }
        if full > 0 {
            let noise = |precision: f64| precision.sqrt().recip();
            let rounding = full as f64 * ROUNDOFF + most_rounding;
            kinds.push(RoundKind {
                rate: None,
                noise_down: noise(precision) * (1.0 - rounding),
                noise_up: noise(least_precision) * (1.0 + rounding),
                times: 1,
            });
        }
        let mut rounds = Self { kinds, records };
        rounds.group();
        rounds.merge_if_many();
        rounds
    }

    /// Sorts the kinds and counts equal ones together.
    pub(super) fn group(&mut self) {
        self.kinds.sort_by(|a, b| {
            let key = |kind: &RoundKind| (kind.rate, kind.noise_down);
            key(a)
                .partial_cmp(&key(b))
                .unwrap_or(std::cmp::Ordering::Equal)
        });
        self.kinds.dedup_by(|next, kept| {
            let same = next.rate == kept.rate
                && next.noise_down == kept.noise_down
                && next.noise_up == kept.noise_up;
            if same {
                kept.times += next.times;
            }
            same
        });
    }

    /// The loss of the least noisy sampled round at its mean output, were its unit drawn whole. Full
    /// rounds are one Gaussian, which is composed as fast however large its loss.
    pub(crate) fn largest_sampled_loss(&self) -> f64 {
        (self.kinds.iter())
            .filter(|kind| kind.rate.is_some())
            .map(|kind| 0.5 * (f64::from(self.records) / kind.noise_down).powi(2))
            .fold(0.0, f64::max)
    }

    /// Units of work to copy, sort and group all kinds.
    pub(crate) fn work(&self) -> f64 {
        80.0 * self.kinds.len() as f64
    }

    /// Runs of kinds that differ in noise only.
    pub(crate) fn by_rate(&self) -> impl Iterator<Item = &[RoundKind]> {
        self.kinds.chunk_by(|one, other| one.rate == other.rate)
    }

    /// Number of rounds composed (all full rounds count as one).
    pub(crate) fn count(&self) -> f64 {
        self.kinds.iter().map(|kind| kind.times as f64).sum()
    }

    /// The loss of the add direction never exceeds this: −Σ ln w₀.
    pub(crate) fn most_loss_of_addition(&self) -> f64 {
        let records = f64::from(self.records);
        (self.kinds.iter())
            .map(|kind| match kind.rate {
                Some(rate) => kind.times as f64 * records * -(-rate).ln_1p() * (1.0 + 1e-12),
                None => f64::INFINITY,
            })
            .sum()
    }

    /// Both directions have the same divergence.
    pub(crate) fn is_symmetric(&self) -> bool {
        self.kinds.iter().all(|kind| kind.rate.is_none())
    }
}

/// Most records per unit: the mixture has a Gaussian for each number drawn.
const MOST_RECORDS: u32 = 1000;

/// Refuses what there is no proof for.
pub(crate) fn check(ledger: &Ledger) -> Result<(), AccountError> {
    let refuse = |what: String, remedy| {
        Err(AccountError::Unsupported {
            accountant: NAME,
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
            (Sampling::Poisson { rate: 1.0 }, _) => {}
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
