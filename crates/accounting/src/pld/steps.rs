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
        self.pair_of_noise(self.noise(side), records)
    }

    /// The pair of a round like this one but of other noise.
    pub(super) fn pair_of_noise(&self, noise: f64, records: u32) -> Pair {
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
                    kinds.push(Step {
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
            kinds.push(Step {
                rate: None,
                noise_down: noise(precision) * (1.0 - rounding),
                noise_up: noise(least_precision) * (1.0 + rounding),
                times: 1,
            });
        }
        let mut steps = Self { kinds, records };
        steps.group();
        if steps.kinds.len() > MOST_KINDS {
            steps.merge();
        }
        steps
    }

    /// Takes kinds of one rate and nearly the same noise as one whose noise lies somewhere between
    /// theirs.
    fn merge(&mut self) {
        let mut merged: Vec<Step> = Vec::new();
        for alike in self.by_rate() {
            // Sorted by noise.
            let (least, most) = (alike[0].noise_down, alike[alike.len() - 1].noise_down);
            let ratio = (most / least).powf(1.0 / MERGED_NOISES as f64);
            let mut end = f64::NEG_INFINITY;
            for step in alike {
                match merged.last_mut() {
                    Some(last) if step.noise_down <= end => {
                        last.noise_up = last.noise_up.max(step.noise_up);
                        last.times += step.times;
                    }
                    _ => {
                        merged.push(step.clone());
                        end = step.noise_down * ratio;
                    }
                }
            }
        }
        self.kinds = merged;
    }

    /// Sorts the kinds and counts equal ones together.
    fn group(&mut self) {
        self.kinds.sort_by(|a, b| {
            let key = |step: &Step| (step.rate, step.noise_down);
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

    /// These rounds with rates and noises rounded towards one end of the bracket, if there are
    /// more kinds than can be composed one by one: a lower rate or more noise is post-processing.
    pub(super) fn limited(&self, side: Side) -> Self {
        let mut limited = self.clone();
        if self.by_rate().count() > MOST_RATES {
            let rates = || self.kinds.iter().filter_map(|step| step.rate);
            let level = levels(rates(), MOST_RATES);
            for step in &mut limited.kinds {
                step.rate = step.rate.map(|rate| match side {
                    Side::Upper => level(rate).1.min(1.0 - ROUNDOFF),
                    Side::Lower => level(rate).0,
                });
            }
        }
        // Blends of noise levels are proved for single records only.
        if self.records > 1 && self.kinds.len() > MOST_NOISES {
            let noises = || self.kinds.iter().map(|step| step.noise(side));
            let level = levels(noises(), MOST_NOISES);
            for step in &mut limited.kinds {
                let (down, up) = level(step.noise(side));
                (step.noise_down, step.noise_up) = (down.min(step.noise_down), up);
            }
        }
        limited.group();
        limited
    }

    /// These rounds with noise for which a cell of this length spans more than [`MOST_DEVIATIONS`] of
    /// the loss rounded towards one end of the bracket: down to that noise, or up to infinity, which
    /// is to leave the round out.
    pub(super) fn within_cells(mut self, cell: f64, side: Side) -> Self {
        let records = f64::from(self.records);
        let most = |step: &Step| {
            // The loss deviates by about this over the noise, and lies as far above its infimum.
            let drawn = records * step.rate.unwrap_or(1.0);
            if drawn > cell {
                MOST_DEVIATIONS * drawn / cell
            } else {
                // All but rare losses are in the cell of the infimum, which needs no quadrature.
                f64::INFINITY
            }
        };
        if (self.kinds.iter()).all(|step| step.noise(side) <= most(step)) {
            return self;
        }
        match side {
            Side::Upper => {
                for step in &mut self.kinds {
                    step.noise_down = step.noise_down.min(most(step));
                    step.noise_up = step.noise_up.min(most(step));
                }
                self.group();
            }
            Side::Lower => self.kinds.retain(|step| step.noise_up <= most(step)),
        }
        self
    }

    /// The loss of the least noisy sampled round at its mean output, were its unit drawn whole. Full
    /// rounds are one Gaussian, which is composed as fast however large its loss.
    pub(super) fn largest_sampled_loss(&self) -> f64 {
        (self.kinds.iter())
            .filter(|step| step.rate.is_some())
            .map(|step| 0.5 * (f64::from(self.records) / step.noise_down).powi(2))
            .fold(0.0, f64::max)
    }

    /// Units of work to copy, sort and group all kinds.
    pub(super) fn work(&self) -> f64 {
        80.0 * self.kinds.len() as f64
    }

    /// Runs of kinds that differ in noise only.
    pub(super) fn by_rate(&self) -> impl Iterator<Item = &[Step]> {
        self.kinds.chunk_by(|one, other| one.rate == other.rate)
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

/// Deviations of a round's loss that one cell may span. Beyond, all of it falls into a cell or two:
/// more noise changes nothing but the time it takes to integrate over them, until that overflows.
const MOST_DEVIATIONS: f64 = 30.0;
/// Kinds beyond which those of nearly the same noise are taken together: one by one takes minutes.
const MOST_KINDS: usize = 250_000;
/// Noise levels of one rate that are then kept apart.
const MERGED_NOISES: usize = 3000;
/// Most sampling rates composed one by one.
const MOST_RATES: usize = 400;
/// Most noise levels of units with several records composed one by one.
const MOST_NOISES: usize = 1000;

/// Neighbours of a value, below and above, among `count` levels in geometric progression.
fn levels(values: impl Iterator<Item = f64> + Clone, count: usize) -> impl Fn(f64) -> (f64, f64) {
    let least = values.clone().fold(f64::INFINITY, f64::min);
    let most = values.fold(0.0, f64::max);
    let ratio = (most / least).ln() / count as f64;
    move |value| {
        let place = ((value / least).ln() / ratio).floor();
        let at = |place: f64| least * (place * ratio).exp();
        // Rounding may put a level on the wrong side of the value.
        (at(place).min(value), at(place + 1.0).max(value))
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
