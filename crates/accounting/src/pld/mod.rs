//! The certified accountant: privacy loss distributions, bracketed from both sides.
//!
//! `proof` has all that must be right, with the argument beside it; `search` only chooses where to look,
//! and cannot make a bound wrong.

mod proof;
mod search;

use crate::accountant::{AccountError, Accountant, Reading, check_delta, check_epsilon};
use crate::effort::Effort;
use crate::ledger::Ledger;
use crate::rdp::RdpCurve;
use proof::{DeltaBracket, EpsilonBracket, GaussianBounds, Rounds};

/// Units of work of one reading: one to three seconds. Ordinary plans take a hundredth of it; see
/// `crates/accounting/examples/stress.rs`.
const WORK: f64 = 3.8e9;

/// Part of the work of a search that is left that one reading may take.
const PART_OF_EFFORT: f64 = 0.4;

/// The Rényi bounds of all points of a curve take this part of the work of one reading, or little more.
const RENYI_PART_OF_A_CURVE: f64 = 0.25;

/// Relative width of brackets that steer a calibration.
const ROUGH_WIDTH: f64 = 2e-2;

/// The certified accountant: composes discretised privacy loss distributions and proves a lower
/// and an upper end.
///
/// Poisson-sampled and full-batch Gaussian rounds are treated, at the level of one record or of a
/// unit that owns several. Both ends are bounds on the true value including truncation, aliasing
/// and floating-point rounding; the argument is in `PROOF.md` beside the source.
///
/// ```
/// use tacita_accounting::{Accountant, Ledger, Neighbours, Pld, Reading, Round, Sampling};
/// let mut ledger = Ledger::new(Neighbours::AddOrRemoveOne);
/// ledger.push(Round::new(Sampling::Poisson { rate: 250.0 / 60_000.0 }, vec![4.0])?.times(5000))?;
/// let Reading::Bracket { lower, upper } = Pld::default().epsilon(&ledger, 1e-5 / 6.0)? else {
///     unreachable!("this accountant always gives a bracket");
/// };
/// assert!(0.28408 < lower && upper < 0.28412);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Pld {
    relative_width: f64,
}

impl Default for Pld {
    /// A relative width of 1e-4.
    fn default() -> Self {
        Self {
            relative_width: 1e-4,
        }
    }
}

impl Pld {
    /// Asks for brackets of at most this width relative to the value (1e-8 to 1; default 1e-4).
    ///
    /// A bracket that cannot be had so narrow within the work limit is returned wider.
    #[must_use]
    pub fn with_relative_width(mut self, relative_width: f64) -> Self {
        self.relative_width = if relative_width.is_finite() {
            relative_width.clamp(1e-8, 1.0)
        } else {
            1e-4
        };
        self
    }

    /// δ brackets at several ε, from one composition: the privacy curve.
    ///
    /// ```
    /// use tacita_accounting::{Ledger, Neighbours, Pld, Round, Sampling};
    /// let mut ledger = Ledger::new(Neighbours::AddOrRemoveOne);
    /// ledger.push(Round::new(Sampling::Poisson { rate: 0.01 }, vec![1.0])?.times(500))?;
    /// let curve = Pld::default().curve(&ledger, &[0.5, 1.0, 2.0])?;
    /// assert!(curve[0].upper_bound() > curve[2].upper_bound());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn curve(&self, ledger: &Ledger, epsilons: &[f64]) -> Result<Vec<Reading>, AccountError> {
        let effort = Effort::new(RENYI_PART_OF_A_CURVE * WORK);
        let each = effort.left() / epsilons.len().max(1) as f64;
        // Points after the work is used up have looser bounds.
        let renyi = |curve: &RdpCurve, epsilon: f64| match effort.left() > 0.0 {
            true => curve.delta_up_counted(epsilon, &effort),
            false => curve.delta_up_within(epsilon, &Effort::new(each)),
        };
        self.curve_of(ledger, epsilons, &Effort::new(WORK), renyi)
    }

    fn curve_of(
        &self,
        ledger: &Ledger,
        epsilons: &[f64],
        effort: &Effort,
        delta_up: impl Fn(&RdpCurve, f64) -> Result<f64, AccountError>,
    ) -> Result<Vec<Reading>, AccountError> {
        self.supports(ledger)?;
        for &epsilon in epsilons {
            check_epsilon(epsilon)?;
        }
        let rounds = Rounds::of(ledger);
        let gaussians = GaussianBounds::of(&rounds);
        let brackets = if rounds.is_symmetric() {
            vec![(0.0, 1.0); epsilons.len()]
        } else {
            search::deltas(&rounds, epsilons, self.relative_width, effort)
                .into_iter()
                .map(|(removal, addition)| DeltaBracket::larger(removal, addition))
                .collect()
        };
        // One curve for all, as a ledger of many kinds takes long to read.
        let mut renyi = None;
        (brackets.into_iter().zip(epsilons))
            .map(|(bracket, &epsilon)| {
                self.reading(
                    bracket,
                    || gaussians.delta(epsilon),
                    || {
                        let curve = match &mut renyi {
                            Some(curve) => curve,
                            none => none.insert(RdpCurve::of(ledger)?),
                        };
                        delta_up(curve, epsilon)
                    },
                )
            })
            .collect()
    }

    fn epsilon_of(
        &self,
        ledger: &Ledger,
        delta: f64,
        effort: &Effort,
        renyi: impl FnOnce() -> Result<f64, AccountError>,
    ) -> Result<Reading, AccountError> {
        check_delta(delta)?;
        self.supports(ledger)?;
        let rounds = Rounds::of(ledger);
        let bracket = if rounds.is_symmetric() {
            (0.0, f64::INFINITY)
        } else {
            let (removal, addition) = search::epsilon(&rounds, delta, self.relative_width, effort);
            EpsilonBracket::larger(removal, addition)
        };
        let gaussians = || GaussianBounds::of(&rounds).epsilon(delta);
        self.reading(bracket, gaussians, renyi)
    }

    /// A bracket that came out wider than was asked for, as it does about ε = 0, or without end takes
    /// the ends of the closed form and, if that is not enough, the Rényi bound where they are nearer: all
    /// are proved.
    fn reading(
        &self,
        (lower, upper): (f64, f64),
        closed: impl FnOnce() -> (f64, f64),
        rdp: impl FnOnce() -> Result<f64, AccountError>,
    ) -> Result<Reading, AccountError> {
        // Infinity is no wider than itself, and so would pass for narrow.
        let narrow = |lower: f64, upper: f64| {
            upper.is_finite() && upper - lower <= self.relative_width * upper
        };
        // What overflowed proves nothing.
        let lower = if lower.is_finite() { lower } else { 0.0 };
        if narrow(lower, upper) {
            return Ok(Reading::Bracket { lower, upper });
        }
        let (closed_lower, closed_upper) = closed();
        let lower = lower.max(closed_lower);
        let upper = if upper.is_nan() { f64::INFINITY } else { upper };
        let mut upper = upper.min(closed_upper);
        if !narrow(lower, upper) {
            // The smaller of the two, NaN apart.
            upper = upper.min(rdp()?);
        }
        Ok(Reading::Bracket {
            lower,
            upper: upper.max(lower),
        })
    }
}

impl Accountant for Pld {
    fn name(&self) -> &'static str {
        proof::NAME
    }

    fn supports(&self, ledger: &Ledger) -> Result<(), AccountError> {
        ledger.check_not_empty()?;
        proof::check(ledger)
    }

    fn epsilon(&self, ledger: &Ledger, delta: f64) -> Result<Reading, AccountError> {
        let renyi = || Ok(RdpCurve::of(ledger)?.epsilon_up(delta)?.0);
        self.epsilon_of(ledger, delta, &Effort::new(WORK), renyi)
    }

    fn epsilon_within(
        &self,
        ledger: &Ledger,
        delta: f64,
        effort: &Effort,
    ) -> Result<Reading, AccountError> {
        let renyi = || Ok(RdpCurve::of(ledger)?.epsilon_up_within(delta, effort)?.0);
        let most = WORK.min(PART_OF_EFFORT * effort.left());
        effort.with_part(most, |part| self.epsilon_of(ledger, delta, part, renyi))
    }

    fn deltas_sharing(
        &self,
        ledger: &Ledger,
        epsilons: &[f64],
        effort: &Effort,
    ) -> Result<Vec<Reading>, AccountError> {
        let most = WORK.min(PART_OF_EFFORT * effort.left());
        let each = 1.0 / epsilons.len().max(1) as f64;
        let renyi = |curve: &RdpCurve, epsilon: f64| {
            effort.with_part(each * effort.left(), |part| {
                curve.delta_up_within(epsilon, part)
            })
        };
        effort.with_part(most, |part| self.curve_of(ledger, epsilons, part, renyi))
    }

    fn most_work(&self) -> f64 {
        WORK
    }

    fn quicker(&self) -> Option<Box<dyn Accountant>> {
        Some(Box::new(self.with_relative_width(ROUGH_WIDTH)))
    }

    fn delta(&self, ledger: &Ledger, epsilon: f64) -> Result<Reading, AccountError> {
        let curve = self.curve(ledger, &[epsilon])?;
        Ok(curve[0])
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::ledger::{Neighbours, Round, Sampling};

    /// ∞ − lower > width · ∞ is false, so an infinite end once passed for a narrow bracket.
    #[test]
    fn ends_that_are_not_finite_give_way_to_the_renyi_bound() {
        let (infinity, nan) = (f64::INFINITY, f64::NAN);
        let read = |lower, upper, renyi| {
            let reading = Pld::default()
                .reading((lower, upper), || (0.0, infinity), || Ok(renyi))
                .unwrap();
            (
                reading.lower_bound().unwrap(),
                reading.upper_bound().unwrap(),
            )
        };
        assert_eq!(read(1.0, infinity, 2.0), (1.0, 2.0));
        assert_eq!(read(1.0, nan, 2.0), (1.0, 2.0));
        assert_eq!(read(infinity, infinity, 2.0), (0.0, 2.0));
        assert_eq!(read(nan, nan, 2.0), (0.0, 2.0));
        // Where neither proves anything, nothing is claimed.
        assert_eq!(read(1.0, nan, nan), (1.0, infinity));
        assert_eq!(read(1.0, infinity, infinity), (1.0, infinity));
        // A narrow bracket stands.
        assert_eq!(read(1.0, 1.00001, 1.000001), (1.0, 1.00001));
    }

    /// Of each of several ledgers, a bracket with all the work it needs and brackets with less: all must
    /// share the truth, and so overlap.
    #[test]
    fn less_work_widens_a_bracket_and_never_moves_it_off_the_truth() {
        for (records, kinds, rate, noise) in [
            (1, 1, 0.01, 0.8),
            (1, 300, 0.01, 2.0),
            (5, 3, 0.02, 3.0),
            (1, 20, 0.3, 0.05),
        ] {
            let mut ledger = Ledger::new(Neighbours::AddOrRemoveOne)
                .with_records_per_unit(records)
                .unwrap();
            for kind in 0..kinds {
                let noise = noise * 2_f64.powf(-f64::from(kind) / f64::from(kinds));
                let sampling = match kind % 10 {
                    9 => Sampling::Full {},
                    _ => Sampling::Poisson { rate },
                };
                let noise = if kind % 10 == 9 { 20.0 * noise } else { noise };
                let round = Round::new(sampling, vec![noise]).unwrap();
                ledger.push(round.times(900 / kinds as u64)).unwrap();
            }
            let pld = Pld::default();
            let whole = pld.epsilon(&ledger, 1e-6).unwrap();
            let (low, high) = (whole.lower_bound().unwrap(), whole.upper_bound().unwrap());
            let rounds = Rounds::of(&ledger);
            let epsilons = [0.5 * high, high];
            let curve = pld.curve(&ledger, &epsilons).unwrap();
            for work in [0.0, 1e4, 1e6, 3e6, 1e7, 3e7, 2e8] {
                let less = pld
                    .epsilon_within(&ledger, 1e-6, &Effort::new(work))
                    .unwrap();
                let (lower, upper) = (less.lower_bound().unwrap(), less.upper_bound().unwrap());
                assert!(lower <= high && low <= upper, "{work}: {less:?} {whole:?}");
                let deltas = search::deltas(&rounds, &epsilons, 1e-4, &Effort::new(work));
                for ((removal, addition), whole) in deltas.into_iter().zip(&curve) {
                    let (lower, upper) = DeltaBracket::larger(removal, addition);
                    assert!(lower <= whole.upper_bound().unwrap());
                    assert!(upper >= whole.lower_bound().unwrap());
                }
            }
        }
    }
}
