//! A privacy filter: for runs whose length or noise is decided as they go.

use crate::accountant::{AccountError, check_delta, check_epsilon};
use crate::ledger::{Ledger, LedgerError, Round};
use crate::rdp::moment::up;
use crate::rdp::{RdpCurve, best_order, epsilon_at};
use thiserror::Error;

/// Why a round was not admitted. The round must then not be made.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum FilterError {
    /// The round would spend more than is left.
    #[error(
        "the next rounds would cost {cost} of Rényi divergence at order {order}, and {left} is \
         left; nothing was released, stop here or use more noise"
    )]
    Spent {
        /// Divergence of the rounds asked for.
        cost: f64,
        /// Divergence left.
        left: f64,
        /// The order of the filter.
        order: f64,
    },
    /// The round cannot be accounted.
    #[error(transparent)]
    Account(#[from] AccountError),
}

/// Admits rounds, chosen in the light of earlier outputs, as long as a budget holds.
///
/// Ordinary composition needs the noise and the number of rounds to be fixed beforehand. The Rényi
/// filter of Feldman & Zrnic 2021 (arXiv:2008.11193): if the divergences of *one order fixed
/// beforehand*, each a function of earlier outputs, never sum to more than the budget, the whole
/// adaptive run has that divergence. So the order is chosen at the start, for a forecast; a run that differs
/// from its forecast keeps the guarantee and only wastes some of the budget.
///
/// ```
/// use tacita_accounting::{Ledger, Neighbours, RdpFilter, Round, Sampling};
/// let round = Round::new(Sampling::Poisson { rate: 0.01 }, vec![1.0])?;
/// let mut forecast = Ledger::new(Neighbours::AddOrRemoveOne);
/// forecast.push(round.clone().times(1000))?;
/// let mut filter = RdpFilter::for_forecast(1.0, 1e-5, &forecast)?;
/// let mut made = 0;
/// while filter.admit(&round).is_ok() {
///     made += 1; // the loop may also stop on anything it has seen
/// }
/// assert!(made > 0 && made < 1000 && filter.epsilon_spent() <= 1.0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct RdpFilter {
    order: f64,
    delta: f64,
    budget: f64,
    spent: f64,
    ledger: Ledger,
}

impl RdpFilter {
    /// A filter for (`epsilon`, `delta`) at the order `order` > 1, for the relation and the unit of
    /// `ledger`. Rounds that the ledger holds already count as spent.
    pub fn new(epsilon: f64, delta: f64, order: f64, ledger: Ledger) -> Result<Self, AccountError> {
        check_epsilon(epsilon)?;
        check_delta(delta)?;
        if !(order > 1.0 && order.is_finite()) {
            return Err(AccountError::Argument {
                what: "Rényi order",
                range: "a finite number above 1",
                value: order,
            });
        }
        // ε with divergence 0 is what the conversion itself costs; the rest may be spent.
        let budget = epsilon - epsilon_of_conversion(order, delta);
        let spent = if ledger.rounds().is_empty() {
            0.0
        } else {
            RdpCurve::of(&ledger)?.divergence_up(order)?
        };
        if budget <= spent {
            return Err(AccountError::OutOfReach {
                what: "Rényi divergence to spend",
                lowest: spent,
                highest: budget,
                remedy: "choose a larger order, epsilon or delta",
            });
        }
        Ok(Self {
            order,
            delta,
            budget,
            spent,
            ledger,
        })
    }

    /// A filter whose order suits runs like `forecast`: its rounds in their proportions, scaled
    /// to spend the whole budget.
    pub fn for_forecast(epsilon: f64, delta: f64, forecast: &Ledger) -> Result<Self, AccountError> {
        check_epsilon(epsilon)?;
        check_delta(delta)?;
        let curve = RdpCurve::of(forecast)?.rough();
        // The order that admits most repetitions of the forecast: least D_α / (ε − conversion).
        let order = best_order(|order| {
            let budget = epsilon - epsilon_of_conversion(order, delta);
            if budget <= 0.0 {
                // Orders too small for the budget lie on the left: falling values lead right.
                return f64::MAX * (1.0 - 1e-3 * (1.0 - order.recip()));
            }
            curve.log_moment_up(order) / (order - 1.0) / budget
        });
        Self::new(epsilon, delta, order, forecast.prefix(0))
    }

    /// Counts `round` (all its repetitions) as spent, or refuses it and counts nothing.
    ///
    /// The round's noise and sampling may depend on earlier outputs, not on the data otherwise.
    pub fn admit(&mut self, round: &Round) -> Result<(), FilterError> {
        let mut next = self.ledger.prefix(0);
        next.push(round.clone())?;
        let cost = RdpCurve::of(&next)?.divergence_up(self.order)?;
        let spent = up(self.spent + cost, 1.0);
        if spent > self.budget {
            let left = self.budget - self.spent;
            return Err(FilterError::Spent {
                cost,
                left,
                order: self.order,
            });
        }
        self.ledger.push(round.clone())?;
        self.spent = spent;
        Ok(())
    }

    /// Everything admitted so far.
    ///
    /// Reading it with another accountant is a guarantee only if its rounds were fixed beforehand.
    pub fn ledger(&self) -> &Ledger {
        &self.ledger
    }

    /// The order of the filter.
    pub fn order(&self) -> f64 {
        self.order
    }

    /// ε that the rounds admitted so far amount to, rounded up; never above the budget. It is a
    /// guarantee for the rounds so far if no more are made.
    pub fn epsilon_spent(&self) -> f64 {
        epsilon_at(self.order, (self.order - 1.0) * self.spent, self.delta)
    }
}

/// ε at divergence 0, with a little room so that spending the rest stays within ε.
fn epsilon_of_conversion(order: f64, delta: f64) -> f64 {
    let above = order - 1.0;
    let exact = (-order.recip()).ln_1p() - (delta.ln() + order.ln()) / above;
    let size = ((-order.recip()).ln_1p().abs() + (delta.ln().abs() + order.ln()) / above).abs();
    exact + 64.0 * f64::EPSILON * size
}

impl From<LedgerError> for FilterError {
    fn from(error: LedgerError) -> Self {
        Self::Account(error.into())
    }
}
