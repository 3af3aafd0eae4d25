//! The Rényi divergence of a whole ledger as a function of the order.

use super::convert::{least_delta, least_epsilon};
use super::moment::{Mixture, up};
use super::{NAME, fixed_size};
use crate::accountant::{AccountError, check_delta, check_epsilon};
use crate::ledger::{Ledger, Neighbours, Round, Sampling};
use std::collections::HashMap;

/// Distinct rounds that steer the search for the best order; all of them give the value there.
const ROUNDS_IN_SEARCH: usize = 512;
/// The largest number of records of one unit that is accounted.
const MOST_RECORDS: u32 = 1000;

/// One kind of round as the accountant sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum Draw {
    /// No amplification: the Gaussian itself (full batch, partition, Poisson with rate 1).
    Everyone,
    /// Poisson with this rate, in bits so that equal rates group.
    Poisson(u64),
    /// Fixed size without replacement.
    FixedSize(u64, u64),
}

#[derive(Debug, Clone, Copy)]
struct Segment {
    draw: Draw,
    noise_multiplier: f64,
    times: f64,
}

/// The Rényi divergence of everything in a ledger, at any real order above 1.
///
/// ```
/// use tacita_accounting::{Ledger, Neighbours, RdpCurve, Round, Sampling};
/// let mut ledger = Ledger::new(Neighbours::AddOrRemoveOne);
/// ledger.push(Round::new(Sampling::Full {}, vec![2.0])?)?;
/// let curve = RdpCurve::of(&ledger)?;
/// // The Gaussian: α/(2z²), rounded up.
/// assert!((curve.divergence_up(3.0)? - 3.0 / 8.0).abs() < 1e-12);
/// # Ok::<(), tacita_accounting::AccountError>(())
/// ```
#[derive(Debug, Clone)]
pub struct RdpCurve {
    segments: Vec<Segment>,
    records: u32,
}

impl RdpCurve {
    /// The curve of a ledger, for its protected unit. A unit of k records contributes to a Poisson
    /// round a mixture over how many of them were drawn.
    pub fn of(ledger: &Ledger) -> Result<Self, AccountError> {
        Self::named(NAME, ledger)
    }

    /// The curve on behalf of the accountant `name`, which a refusal names.
    pub(crate) fn named(name: &'static str, ledger: &Ledger) -> Result<Self, AccountError> {
        ledger.check_not_empty()?;
        let records = ledger.records_per_unit();
        if records > MOST_RECORDS {
            return Err(AccountError::Unsupported {
                accountant: name,
                what: format!("{records} records per unit"),
                remedy: "cap the records of a unit at 1000",
            });
        }
        let mut grouped: HashMap<(Draw, u64), f64> = HashMap::new();
        for round in ledger.rounds() {
            let draw = draw_of(name, round, ledger.neighbours(), records)?;
            let bits = round.effective_noise_multiplier().to_bits();
            *grouped.entry((draw, bits)).or_insert(0.0) += round.times as f64;
        }
        let mut segments: Vec<Segment> = grouped
            .into_iter()
            .map(|((draw, bits), times)| Segment {
                draw,
                noise_multiplier: f64::from_bits(bits),
                times,
            })
            .collect();
        // A fixed order makes the sums, and so the figures, reproducible.
        segments.sort_by(|a, b| {
            let by_draw = a.draw.cmp(&b.draw);
            by_draw.then(a.noise_multiplier.total_cmp(&b.noise_multiplier))
        });
        Ok(Self { segments, records })
    }

    /// D_α of the whole ledger, rounded up; `order` must be above 1 and finite.
    pub fn divergence_up(&self, order: f64) -> Result<f64, AccountError> {
        if !(order > 1.0 && order.is_finite()) {
            return Err(AccountError::Argument {
                what: "Rényi order",
                range: "a finite number above 1",
                value: order,
            });
        }
        Ok(up(self.log_moment_up(order) / (order - 1.0), 2.0))
    }

    /// The least ε at `delta` over all orders, rounded up, and the order that gives it.
    pub fn epsilon_up(&self, delta: f64) -> Result<(f64, f64), AccountError> {
        check_delta(delta)?;
        let rough = self.rough();
        Ok(least_epsilon(
            |order| rough.log_moment_up(order),
            |order| self.log_moment_up(order),
            delta,
        ))
    }

    /// The least δ at `epsilon` over all orders, rounded up.
    pub fn delta_up(&self, epsilon: f64) -> Result<f64, AccountError> {
        check_epsilon(epsilon)?;
        let rough = self.rough();
        Ok(least_delta(
            |order| rough.log_moment_up(order),
            |order| self.log_moment_up(order),
            epsilon,
        ))
    }

    /// K(α) = (α−1)D_α, rounded up.
    pub(crate) fn log_moment_up(&self, order: f64) -> f64 {
        let sum: f64 = self
            .segments
            .iter()
            .map(|segment| segment.times * segment.log_moment_up(order, self.records))
            .sum();
        up(sum, 4.0 + self.segments.len() as f64)
    }

    /// A curve with fewer distinct rounds and never lower: each run of neighbouring multipliers
    /// takes its least one (less noise is never more private).
    pub(crate) fn coarse(&self) -> Self {
        // Sorted by multiplier, so the first of a run is the least.
        self.merged(|run| run[0].noise_multiplier)
    }

    /// A curve with fewer distinct rounds that is close to this one; it steers a search.
    pub(crate) fn rough(&self) -> Self {
        self.merged(|run| {
            let weighed = run.iter().map(|s| s.times * s.noise_multiplier);
            weighed.sum::<f64>() / run.iter().map(|s| s.times).sum::<f64>()
        })
    }

    fn merged(&self, noise_multiplier: impl Fn(&[Segment]) -> f64) -> Self {
        let length = self.segments.len().div_ceil(ROUNDS_IN_SEARCH).max(1);
        let mut segments: Vec<Segment> = Vec::new();
        for alike in self.segments.chunk_by(|a, b| a.draw == b.draw) {
            segments.extend(alike.chunks(length).map(|run| Segment {
                draw: run[0].draw,
                noise_multiplier: noise_multiplier(run),
                times: run.iter().map(|segment| segment.times).sum(),
            }));
        }
        Self {
            segments,
            records: self.records,
        }
    }
}

impl Segment {
    fn log_moment_up(&self, order: f64, records: u32) -> f64 {
        match self.draw {
            Draw::Everyone => {
                // Mironov 2017, Proposition 7, at distance k.
                let distance = f64::from(records) / self.noise_multiplier;
                up(0.5 * order * (order - 1.0) * distance * distance, 8.0)
            }
            Draw::Poisson(bits) => {
                let mixture = Mixture::new(f64::from_bits(bits), self.noise_multiplier, records);
                let remove = mixture.log_moment_remove_up(order);
                if records == 1 {
                    // Mironov, Talwar & Zhang 2019 (arXiv:1908.10530), Theorem 5: removing is
                    // the worse direction.
                    return remove;
                }
                remove.max(mixture.log_moment_add_up(order))
            }
            Draw::FixedSize(batch, of) => {
                fixed_size::log_moment_up(batch, of, self.noise_multiplier, order)
            }
        }
    }
}

fn draw_of(
    accountant: &'static str,
    round: &Round,
    neighbours: Neighbours,
    records: u32,
) -> Result<Draw, AccountError> {
    let refuse = |what: &str, remedy: &'static str| {
        Err(AccountError::Unsupported {
            accountant,
            what: what.to_string(),
            remedy,
        })
    };
    match (round.sampling, neighbours) {
        (Sampling::Poisson { rate: 1.0 }, _) | (Sampling::Full {}, _) => Ok(Draw::Everyone),
        (Sampling::Poisson { rate }, Neighbours::AddOrRemoveOne) => {
            Ok(Draw::Poisson(rate.to_bits()))
        }
        (Sampling::Poisson { .. }, Neighbours::ReplaceOne) => refuse(
            "poisson sampling under replace-one",
            "state the ledger in add-or-remove-one, the relation of Poisson sampling",
        ),
        (Sampling::FixedSize { .. }, Neighbours::AddOrRemoveOne) => refuse(
            "fixed-size sampling under add-or-remove-one",
            "state the ledger in replace-one, with noise over the replace-one sensitivity (2C)",
        ),
        (Sampling::FixedSize { .. }, Neighbours::ReplaceOne) if records > 1 => refuse(
            "fixed-size sampling for units of several records",
            "use Poisson sampling to protect whole units",
        ),
        (Sampling::FixedSize { batch, of }, Neighbours::ReplaceOne) => {
            Ok(Draw::FixedSize(batch, of))
        }
        (Sampling::Partition { .. }, _) if records > 1 => refuse(
            "partition sampling for units of several records",
            "use Poisson sampling to protect whole units",
        ),
        // Yu et al. 2019: a record is in one batch of the pass, so it meets the noise once.
        (Sampling::Partition { .. }, _) => Ok(Draw::Everyone),
    }
}
