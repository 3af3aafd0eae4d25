//! Rényi differential privacy: upper bounds, with real orders chosen for the ledger.

mod coarse;
mod convert;
mod curve;
mod fixed_size;
pub(crate) mod moment;

pub(crate) use convert::{best_order, epsilon_at, log_delta_at};
pub use curve::RdpCurve;

use crate::accountant::{AccountError, Accountant, Reading};
use crate::effort::Effort;
use crate::ledger::Ledger;

const NAME: &str = "rdp";

/// Units of work of a reading, most of it in the search for the order.
const WORK: f64 = 1.1e9;

/// The Rényi accountant: `≤`, some 10–60 % above the truth in common settings.
///
/// Treats Poisson rounds (add-or-remove-one), fixed-size rounds (replace-one), full batches and
/// partitions. A multiplier is always the noise standard deviation over the sensitivity *in the
/// ledger's relation*: for gradients clipped to C that is C under add-or-remove-one and 2C under
/// replace-one.
///
/// A ledger may protect units of several records. Each of a unit's records is drawn on its own, so
/// a Poisson round sees Binomial(k, q) of them: a mixture of Gaussians, far better than k times
/// the ε of one record.
///
/// ```
/// use tacita_accounting::{Accountant, Ledger, Neighbours, Rdp, Reading, Round, Sampling};
/// let mut ledger = Ledger::new(Neighbours::AddOrRemoveOne);
/// ledger.push(Round::new(Sampling::Poisson { rate: 0.01 }, vec![1.0])?.times(1000))?;
/// let epsilon = Rdp.epsilon(&ledger, 1e-5)?.upper_bound();
/// assert!(epsilon.is_some_and(|epsilon| epsilon > 2.0 && epsilon < 2.2));
/// # Ok::<(), tacita_accounting::AccountError>(())
/// ```
///
/// # Guarantee
/// The reading is an upper bound including quadrature and rounding errors; the argument stands
/// at the head of `rdp/moment.rs`. Checked by `rdp_equals_dense_orders_of_the_vectors`.
#[derive(Debug, Clone, Copy, Default)]
pub struct Rdp;

impl Accountant for Rdp {
    fn name(&self) -> &'static str {
        NAME
    }

    fn supports(&self, ledger: &Ledger) -> Result<(), AccountError> {
        RdpCurve::of(ledger).map(|_| ())
    }

    fn epsilon(&self, ledger: &Ledger, delta: f64) -> Result<Reading, AccountError> {
        let (epsilon, _) = RdpCurve::of(ledger)?.epsilon_up(delta)?;
        Ok(Reading::UpperBound(epsilon))
    }

    fn epsilon_within(
        &self,
        ledger: &Ledger,
        delta: f64,
        effort: &Effort,
    ) -> Result<Reading, AccountError> {
        let (epsilon, _) = RdpCurve::of(ledger)?.epsilon_up_within(delta, effort)?;
        Ok(Reading::UpperBound(epsilon))
    }

    fn deltas_sharing(
        &self,
        ledger: &Ledger,
        epsilons: &[f64],
        effort: &Effort,
    ) -> Result<Vec<Reading>, AccountError> {
        let curve = RdpCurve::of(ledger)?;
        let each = 1.0 / epsilons.len().max(1) as f64;
        let part = each * effort.left();
        let delta = |epsilon: &f64| {
            let delta = effort.with_part(part, |part| curve.delta_up_within(*epsilon, part))?;
            Ok(Reading::UpperBound(delta))
        };
        epsilons.iter().map(delta).collect()
    }

    fn most_work(&self) -> f64 {
        WORK
    }

    fn delta(&self, ledger: &Ledger, epsilon: f64) -> Result<Reading, AccountError> {
        let delta = RdpCurve::of(ledger)?.delta_up(epsilon)?;
        Ok(Reading::UpperBound(delta))
    }
}
