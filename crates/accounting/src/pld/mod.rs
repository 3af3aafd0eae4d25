//! The certified accountant: privacy loss distributions, bracketed from both sides.

mod blend;
mod bracket;
mod compose;
mod fine;
mod lattice;
mod lower;
mod making;
mod moments;
mod pair;
mod profile;
mod quadrature;
mod reading;
mod spectrum;
mod steps;
mod survey;
mod transform;
mod upper;
mod window;

use crate::accountant::{AccountError, Accountant, Reading, check_delta, check_epsilon};
use crate::ledger::Ledger;
use crate::rdp::RdpCurve;
use steps::Steps;

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
    /// Name shown beside its figures.
    pub(crate) const NAME: &str = "pld";

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
        self.supports(ledger)?;
        for &epsilon in epsilons {
            check_epsilon(epsilon)?;
        }
        let steps = Steps::of(ledger);
        let brackets = bracket::deltas(&steps, epsilons, self.relative_width);
        (brackets.into_iter().zip(epsilons))
            .map(|(bracket, &epsilon)| {
                self.reading(bracket, || RdpCurve::of(ledger)?.delta_up(epsilon))
            })
            .collect()
    }

    /// A bracket that came out wider than was asked for, as it does about ε = 0, or without end takes
    /// the Rényi bound as its upper end where that is lower: both are proved.
    fn reading(
        &self,
        (lower, upper): (f64, f64),
        rdp: impl FnOnce() -> Result<f64, AccountError>,
    ) -> Result<Reading, AccountError> {
        // What overflowed proves nothing.
        let lower = if lower.is_finite() { lower } else { 0.0 };
        // Infinity is no wider than itself, and so would pass for narrow.
        let narrow = upper.is_finite() && upper - lower <= self.relative_width * upper;
        if narrow {
            return Ok(Reading::Bracket { lower, upper });
        }
        let upper = if upper.is_nan() { f64::INFINITY } else { upper };
        // The smaller of the two, NaN apart.
        let upper = upper.min(rdp()?).max(lower);
        Ok(Reading::Bracket { lower, upper })
    }
}

impl Accountant for Pld {
    fn name(&self) -> &'static str {
        Self::NAME
    }

    fn supports(&self, ledger: &Ledger) -> Result<(), AccountError> {
        ledger.check_not_empty()?;
        steps::check(ledger)
    }

    fn epsilon(&self, ledger: &Ledger, delta: f64) -> Result<Reading, AccountError> {
        check_delta(delta)?;
        self.supports(ledger)?;
        let bracket = bracket::epsilon(&Steps::of(ledger), delta, self.relative_width);
        self.reading(bracket, || {
            let (epsilon, _) = RdpCurve::of(ledger)?.epsilon_up(delta)?;
            Ok(epsilon)
        })
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

    /// ∞ − lower > width · ∞ is false, so an infinite end once passed for a narrow bracket.
    #[test]
    fn ends_that_are_not_finite_give_way_to_the_renyi_bound() {
        let read = |lower, upper, renyi| {
            let reading = Pld::default()
                .reading((lower, upper), || Ok(renyi))
                .unwrap();
            (
                reading.lower_bound().unwrap(),
                reading.upper_bound().unwrap(),
            )
        };
        let (infinity, nan) = (f64::INFINITY, f64::NAN);
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
}
