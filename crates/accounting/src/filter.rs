//! A privacy filter: for runs that are decided on in the light of earlier ones.

use crate::accountant::{AccountError, check_delta, check_epsilon};
use crate::ledger::{Ledger, LedgerError, Round};
use crate::rdp::moment::up;
use crate::rdp::{RdpCurve, best_order, epsilon_at};
use crate::tuning::RandomRuns;
use std::cmp::Ordering;
use thiserror::Error;

/// Why something was not admitted. It must then not be released.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum FilterError {
    /// It would spend more than is left.
    #[error(
        "the next rounds would cost {cost} of Rényi divergence at order {order}, and {left} is \
         left; nothing was released, stop here or use more noise"
    )]
    Spent {
        /// Divergence of what was asked for.
        cost: f64,
        /// Divergence left.
        left: f64,
        /// The order of the filter.
        order: f64,
    },
    /// It cannot be accounted.
    #[error(transparent)]
    Account(#[from] AccountError),
}

/// Admits rounds, whole runs and searches, chosen in the light of earlier outputs, as long as a budget holds.
///
/// Ordinary composition needs the noise and the number of rounds to be fixed beforehand. The Rényi
/// filter of Feldman & Zrnic 2021 (arXiv:2008.11193): if the divergences of *one order fixed
/// beforehand*, each a function of earlier outputs, never sum to more than the budget, the whole
/// adaptive run has that divergence. So the order is chosen at the start; what differs from the forecast
/// keeps the guarantee and only wastes some of the budget.
///
/// The proof is short. Let p and q be the densities of all outputs y₁, y₂, … under neighbouring data sets, and
/// Dᵢ the bound on the divergence of order α of the i-th mechanism, itself a function of y₁ … yᵢ₋₁. Given
/// those, E_q[(pᵢ/qᵢ)^α] ≤ e^((α−1)Dᵢ), so the products of (pᵢ/qᵢ)^α e^(−(α−1)Dᵢ) are a
/// supermartingale under q that starts at 1. As Σ Dᵢ ≤ B whatever comes out,
/// E_q[(p/q)^α] ≤ e^((α−1)B). The order must not depend on outputs: with one chosen later the products would not
/// be the same supermartingale. From (α, B) to (ε, δ) it is Canonne, Kamath & Steinke 2020, Proposition 12.
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
///
/// # Guarantee
/// Everything admitted together is (ε, δ)-private for the relation and unit of the filter, rounding included: costs are
/// rounded up, the budget down. Checked by `filter_never_admits_more_than_the_budget` and
/// `what_a_filter_admits_never_costs_more_than_its_total`.
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
        // ε with divergence 0 is what the conversion itself costs; the rest may be spent. The difference is
        // lowered by more than its own rounding.
        let budget = (epsilon - epsilon_of_conversion(order, delta)) * (1.0 - 2.0 * f64::EPSILON);
        let spent = if ledger.rounds().is_empty() {
            0.0
        } else {
            RdpCurve::of(&ledger)?.divergence_up(order)?
        };
        // NaN is no budget either.
        if budget.partial_cmp(&spent) != Some(Ordering::Greater) {
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
        let curve = RdpCurve::of(forecast)?.rough();
        let order = order_for(epsilon, delta, |order| {
            curve.log_moment_up(order) / (order - 1.0)
        })?;
        Self::new(epsilon, delta, order, forecast.prefix(0))
    }

    /// A filter of which nothing is known but its budget: its order suits releases whose divergence is in
    /// proportion to the order, as that of the Gaussian is, and nearly that of long runs with sampling.
    ///
    /// ```
    /// use tacita_accounting::{Ledger, Neighbours, RdpFilter};
    /// let filter = RdpFilter::for_budget(3.0, 1e-5, Ledger::new(Neighbours::AddOrRemoveOne))?;
    /// assert!(filter.order() > 5.0 && filter.order() < 15.0);
    /// # Ok::<(), tacita_accounting::AccountError>(())
    /// ```
    pub fn for_budget(epsilon: f64, delta: f64, unit: Ledger) -> Result<Self, AccountError> {
        let order = order_for(epsilon, delta, |order| order)?;
        Self::new(epsilon, delta, order, unit)
    }

    /// Counts `round` (all its repetitions) as spent, or refuses it and counts nothing.
    ///
    /// The round's noise and sampling may depend on earlier outputs, not on the data otherwise.
    pub fn admit(&mut self, round: &Round) -> Result<(), FilterError> {
        let mut next = self.ledger.prefix(0);
        next.push(round.clone())?;
        self.admit_run(&next)
    }

    /// The same for all rounds of a run at once.
    pub fn admit_run(&mut self, run: &Ledger) -> Result<(), FilterError> {
        let cost = self.cost_of_run(run)?;
        let spent = self.with(cost)?;
        let mut ledger = self.ledger.clone();
        for round in run.rounds() {
            ledger.push(round.clone())?;
        }
        (self.ledger, self.spent) = (ledger, spent);
        Ok(())
    }

    /// The same for a search that publishes the best of a random number of runs, each of one of the `candidates`.
    /// It is one release of known divergence; what its runs would cost by themselves is not spent.
    pub fn admit_best_of(
        &mut self,
        runs: &RandomRuns,
        candidates: &[Ledger],
    ) -> Result<(), FilterError> {
        let cost = self.cost_of_best_of(runs, candidates)?;
        self.spent = self.with(cost)?;
        Ok(())
    }

    /// Rényi divergence that a run would spend, rounded up.
    pub fn cost_of_run(&self, run: &Ledger) -> Result<f64, AccountError> {
        self.check_unit(run)?;
        RdpCurve::of(run)?.divergence_up(self.order)
    }

    /// Rényi divergence that such a search would spend, rounded up.
    pub fn cost_of_best_of(
        &self,
        runs: &RandomRuns,
        candidates: &[Ledger],
    ) -> Result<f64, AccountError> {
        for candidate in candidates {
            self.check_unit(candidate)?;
        }
        runs.divergence_of_any(candidates, self.order)
    }

    /// What is spent if this is spent as well.
    fn with(&self, cost: f64) -> Result<f64, FilterError> {
        let spent = up(self.spent + cost, 1.0);
        // NaN is too much as well.
        if cost >= 0.0 && spent <= self.budget {
            return Ok(spent);
        }
        Err(FilterError::Spent {
            cost,
            left: self.left(),
            order: self.order,
        })
    }

    fn check_unit(&self, run: &Ledger) -> Result<(), AccountError> {
        let unit = |ledger: &Ledger| (ledger.neighbours(), ledger.records_per_unit());
        if unit(run) == unit(&self.ledger) {
            return Ok(());
        }
        Err(AccountError::Unsupported {
            accountant: "filter",
            what: format!(
                "a run in {} with {} records per unit, where all is counted in {} with {}",
                run.neighbours().name(),
                run.records_per_unit(),
                self.ledger.neighbours().name(),
                self.ledger.records_per_unit()
            ),
            remedy: "state all runs for one relation and one unit",
        })
    }

    /// The rounds of everything admitted so far but searches.
    ///
    /// Reading it with another accountant is a guarantee only if its rounds were fixed beforehand.
    pub fn ledger(&self) -> &Ledger {
        &self.ledger
    }

    /// The order of the filter.
    pub fn order(&self) -> f64 {
        self.order
    }

    /// Rényi divergence that may be spent in all, rounded down.
    pub fn budget(&self) -> f64 {
        self.budget
    }

    /// Rényi divergence that is left.
    pub fn left(&self) -> f64 {
        (self.budget - self.spent).max(0.0)
    }

    /// ε that everything admitted so far amounts to, rounded up; never above the budget. It is a
    /// guarantee for what was released so far if nothing more is.
    pub fn epsilon_spent(&self) -> f64 {
        epsilon_at(self.order, (self.order - 1.0) * self.spent, self.delta)
    }
}

/// The order that admits most repetitions of something with this divergence: least D_α / (ε − conversion).
fn order_for(
    epsilon: f64,
    delta: f64,
    mut divergence: impl FnMut(f64) -> f64,
) -> Result<f64, AccountError> {
    check_epsilon(epsilon)?;
    check_delta(delta)?;
    Ok(best_order(|order| {
        let budget = epsilon - epsilon_of_conversion(order, delta);
        if budget <= 0.0 {
            // Orders too small for the budget lie on the left: falling values lead right.
            return f64::MAX * (1.0 - 1e-3 * (1.0 - order.recip()));
        }
        divergence(order) / budget
    }))
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
