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

    /// A bracket that came out wider than was asked for, as it does about ε = 0, takes the Rényi
    /// bound as its upper end where that is lower: both are proved.
    fn reading(
        &self,
        (lower, upper): (f64, f64),
        rdp: impl FnOnce() -> Result<f64, AccountError>,
    ) -> Result<Reading, AccountError> {
        let upper = if upper - lower > self.relative_width * upper {
            upper.min(rdp()?).max(lower)
        } else {
            upper
        };
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
