//! The Rényi divergence of a whole ledger as a function of the order.

use super::convert::{least_delta, least_epsilon};
use super::moment::{Mixture, up, work_of_moments};
use super::{NAME, fixed_size};
use crate::accountant::{AccountError, check_delta, check_epsilon};
use crate::effort::Effort;
use crate::ledger::{Ledger, Neighbours, Round, Sampling};
use std::collections::HashMap;

/// Units of work of one value of the curve: half a second.
const MOST_WORK: f64 = 4e8;
/// Part of the work of a search that is left that one value may take.
const PART_OF_EFFORT: f64 = 0.1;
/// Evaluations of the search for the best order.
const EVALUATIONS: f64 = 20.0;
/// As many distinct rounds are always kept apart.
const FEWEST_ROUNDS: usize = 64;
/// The largest number of records of one unit that is accounted.
const MOST_RECORDS: u32 = 1000;

/// One kind of round as the accountant sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Draw {
    /// No amplification: the Gaussian itself (full batch, partition, Poisson with rate 1).
    Everyone,
    /// Poisson with this rate, in bits so that equal rates group.
    Poisson(u64),
    /// Fixed size without replacement.
    FixedSize(u64, u64),
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Segment {
    pub(super) draw: Draw,
    pub(super) noise_multiplier: f64,
    pub(super) times: f64,
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
    pub(super) segments: Vec<Segment>,
    records: u32,
    /// Units of work of one value.
    most_work: f64,
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
        segments.sort_by(Segment::order);
        Ok(Self {
            segments,
            records,
            most_work: MOST_WORK,
        })
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

    /// As [`Self::epsilon_up`], with a part of the work that is left.
    pub(crate) fn epsilon_up_within(
        self,
        delta: f64,
        effort: &Effort,
    ) -> Result<(f64, f64), AccountError> {
        check_delta(delta)?;
        let (rough, curve) = self.within(effort);
        Ok(least_epsilon(
            |order| spend(&rough, order, effort),
            |order| spend(&curve, order, effort),
            delta,
        ))
    }

    /// The least δ at `epsilon` over all orders, rounded up.
    pub fn delta_up(&self, epsilon: f64) -> Result<f64, AccountError> {
        self.delta_up_counted(epsilon, &Effort::new(f64::INFINITY))
    }

    /// As [`Self::delta_up`], and takes away the work that it took.
    pub(crate) fn delta_up_counted(
        &self,
        epsilon: f64,
        effort: &Effort,
    ) -> Result<f64, AccountError> {
        check_epsilon(epsilon)?;
        let rough = self.rough();
        Ok(least_delta(
            |order| spend(&rough, order, effort),
            |order| spend(self, order, effort),
            epsilon,
        ))
    }

    /// As [`Self::delta_up`], with a part of the work that is left.
    pub(crate) fn delta_up_within(
        &self,
        epsilon: f64,
        effort: &Effort,
    ) -> Result<f64, AccountError> {
        check_epsilon(epsilon)?;
        let (rough, curve) = self.within(effort);
        Ok(least_delta(
            |order| spend(&rough, order, effort),
            |order| spend(&curve, order, effort),
            epsilon,
        ))
    }

    /// Curves that steer a search and give its value, with a part of the work that is left.
    fn within(&self, effort: &Effort) -> (Self, Self) {
        let most = self.most_work.min(PART_OF_EFFORT * effort.left());
        let rough = self.rough().with_most_work(most / EVALUATIONS);
        (rough, self.clone().with_most_work(most))
    }

    /// K(α) = (α−1)D_α, rounded up.
    ///
    /// Where the quadratures take more work than is allowed, the most expensive are replaced by bounds in closed
    /// form, after neighbouring rounds were taken together.
    pub(crate) fn log_moment_up(&self, order: f64) -> f64 {
        let work = |segment: &Segment| segment.work(order, self.records);
        let total = self.whole_work(order);
        if total <= self.most_work {
            return self.log_moment_within(order, f64::INFINITY);
        }
        let affordable = 0.9 * self.most_work * self.segments.len() as f64 / total;
        let mut count = (affordable as usize).max(FEWEST_ROUNDS);
        let mut fewer = self.coarse_of(count);
        while fewer.whole_work(order) > self.most_work && count > FEWEST_ROUNDS {
            count = (count / 2).max(FEWEST_ROUNDS);
            fewer = self.coarse_of(count);
        }
        let mut works: Vec<f64> = fewer.segments.iter().map(work).collect();
        works.sort_by(f64::total_cmp);
        let mut left = self.most_work;
        let each = (works.into_iter())
            .take_while(|work| {
                left -= work;
                left >= 0.0
            })
            .last();
        fewer.log_moment_within(order, each.unwrap_or(0.0))
    }

    /// Units of work of a value if all of it is done.
    pub(crate) fn whole_work(&self, order: f64) -> f64 {
        let works = self.segments.iter().map(|s| s.work(order, self.records));
        works.sum()
    }

    /// Units of work of [`Self::log_moment_up`].
    pub(crate) fn work(&self, order: f64) -> f64 {
        self.whole_work(order).min(self.most_work)
    }

    /// The same, where no round may take more work than this.
    fn log_moment_within(&self, order: f64, work_of_each: f64) -> f64 {
        let sum: f64 = (self.segments.iter())
            .map(|segment| segment.times * segment.log_moment_up(order, self.records, work_of_each))
            .sum();
        up(sum, 4.0 + self.segments.len() as f64)
    }

    /// The same curve of other rounds.
    pub(super) fn with_segments(&self, segments: Vec<Segment>) -> Self {
        Self {
            segments,
            records: self.records,
            most_work: self.most_work,
        }
    }

    /// The same curve, each of whose values takes at most this much work.
    pub(crate) fn with_most_work(mut self, most_work: f64) -> Self {
        self.most_work = most_work;
        self
    }
}

/// A value of a curve. What is used up stays so; the bounds in closed form take next to nothing.
fn spend(curve: &RdpCurve, order: f64, effort: &Effort) -> f64 {
    let _ = effort.spend(curve.work(order));
    curve.log_moment_up(order)
}

impl Draw {
    /// Which kind of draw; rates of one kind can be compared.
    pub(super) fn class(self) -> u8 {
        match self {
            Self::Everyone => 0,
            Self::Poisson(_) => 1,
            Self::FixedSize(..) => 2,
        }
    }

    /// The share of the records that is drawn.
    pub(super) fn rate(self) -> f64 {
        match self {
            Self::Everyone => 1.0,
            Self::Poisson(bits) => f64::from_bits(bits),
            Self::FixedSize(batch, of) => batch as f64 / of as f64,
        }
    }
}

impl Segment {
    /// By draw, then by noise.
    pub(super) fn order(a: &Self, b: &Self) -> std::cmp::Ordering {
        let by_draw = a.draw.cmp(&b.draw);
        by_draw.then(a.noise_multiplier.total_cmp(&b.noise_multiplier))
    }

    /// Units of work of [`Self::log_moment_up`].
    fn work(&self, order: f64, records: u32) -> f64 {
        match self.draw {
            Draw::Everyone => 10.0,
            Draw::Poisson(_) => work_of_moments(self.noise_multiplier, records, order),
            Draw::FixedSize(..) => fixed_size::work(self.noise_multiplier, order),
        }
    }

    /// K of one such round, rounded up, in closed form if a quadrature takes more than `most_work`.
    fn log_moment_up(&self, order: f64, records: u32, most_work: f64) -> f64 {
        let amplified = self.work(order, records) <= most_work;
        match self.draw {
            Draw::Everyone => {
                // Mironov 2017, Proposition 7, at distance k.
                let distance = f64::from(records) / self.noise_multiplier;
                up(0.5 * order * (order - 1.0) * distance * distance, 8.0)
            }
            Draw::Poisson(bits) if !amplified => {
                let rate = f64::from_bits(bits);
                Mixture::new(rate, self.noise_multiplier, records).log_moment_closed_up(order)
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
            Draw::FixedSize(..) if !amplified => {
                fixed_size::log_moment_unamplified_up(self.noise_multiplier, order)
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

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    /// Many rates, noises and records, and next to no work: every value is still an upper bound.
    #[test]
    fn less_work_never_lowers_a_value() {
        for records in [1, 20] {
            let mut ledger = Ledger::new(Neighbours::AddOrRemoveOne)
                .with_records_per_unit(records)
                .unwrap();
            for index in 0..400_u32 {
                let share = f64::from(index) / 400.0;
                let rate = 1e-3 * (1.0 + share) + 0.1 * f64::from(index % 3);
                let round = Round::new(Sampling::Poisson { rate }, vec![1.0 + 9.0 * share]);
                ledger
                    .push(round.unwrap().times(1 + u64::from(index % 7)))
                    .unwrap();
            }
            let curve = RdpCurve::of(&ledger).unwrap().with_most_work(f64::INFINITY);
            for order in [1.001, 1.5, 3.0, 17.3, 400.0] {
                let exact = curve.log_moment_up(order);
                for work in [0.0, 1e3, 1e5, 3e6] {
                    let bound = curve.clone().with_most_work(work).log_moment_up(order);
                    assert!(bound >= exact * (1.0 - 1e-12), "{bound} {exact} at {order}");
                }
            }
        }
    }

    #[test]
    fn fixed_sizes_with_less_work_never_cost_less() {
        let mut ledger = Ledger::new(Neighbours::ReplaceOne);
        for index in 0..300 {
            let (batch, of) = (10 + index, 60_000);
            let round = Round::new(
                Sampling::FixedSize { batch, of },
                vec![0.6 + index as f64 / 100.0],
            );
            ledger.push(round.unwrap()).unwrap();
        }
        let curve = RdpCurve::of(&ledger).unwrap().with_most_work(f64::INFINITY);
        let exact = curve.log_moment_up(6.0);
        for work in [0.0, 1e5, 1e7] {
            let bound = curve.clone().with_most_work(work).log_moment_up(6.0);
            assert!(bound >= exact * (1.0 - 1e-12), "{bound} {exact}");
        }
    }
}
