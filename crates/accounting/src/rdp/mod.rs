//! Rényi differential privacy: upper bounds, with real orders chosen for the ledger.

mod convert;
mod curve;
mod fixed_size;
pub(crate) mod moment;

pub(crate) use convert::{best_order, epsilon_at, log_delta_at};
pub use curve::RdpCurve;

use crate::accountant::{AccountError, Accountant, Reading};
use crate::ledger::Ledger;

const NAME: &str = "rdp";

/// The Rényi accountant: `≤`, some 10–60 % above the truth in common settings.
///
/// Treats Poisson rounds (add-or-remove-one), fixed-size rounds (replace-one), full batches and
/// partitions. A multiplier is always the noise standard deviation over the sensitivity *in the
/// ledger's relation*: for gradients clipped to C that is C under add-or-remove-one and 2C under
/// replace-one.
///
/// ```
/// use tacita_accounting::{Accountant, Ledger, Neighbours, Rdp, Reading, Round, Sampling};
/// let mut ledger = Ledger::new(Neighbours::AddOrRemoveOne);
/// ledger.push(Round::new(Sampling::Poisson { rate: 0.01 }, vec![1.0])?.times(1000))?;
/// let epsilon = Rdp::new().epsilon(&ledger, 1e-5)?.upper_bound();
/// assert!(epsilon.is_some_and(|epsilon| epsilon > 2.0 && epsilon < 2.2));
/// # Ok::<(), tacita_accounting::AccountError>(())
/// ```
///
/// # Guarantee
/// The reading is an upper bound including quadrature and rounding errors; the argument stands
/// at the head of `rdp/moment.rs`. Checked by `rdp_equals_dense_orders_of_the_vectors`.
#[derive(Debug, Clone, Copy)]
pub struct Rdp {
    records: u32,
}

impl Default for Rdp {
    fn default() -> Self {
        Self::new()
    }
}

impl Rdp {
    /// Privacy of one record.
    pub fn new() -> Self {
        Self { records: 1 }
    }

    /// Privacy of one user with at most `records` records (add-or-remove-one user).
    ///
    /// Each of a user's records is drawn on its own, so a round sees Binomial(k, q) of them: a
    /// mixture of Gaussians, far better than k times the ε of one record.
    ///
    /// ```
    /// use tacita_accounting::{Accountant, Ledger, Neighbours, Rdp, Round, Sampling};
    /// let mut ledger = Ledger::new(Neighbours::AddOrRemoveOne);
    /// ledger.push(Round::new(Sampling::Poisson { rate: 0.001 }, vec![2.0])?.times(1000))?;
    /// let one = Rdp::new().epsilon(&ledger, 1e-6)?.upper_bound().unwrap_or(f64::NAN);
    /// let four = Rdp::per_user(4).epsilon(&ledger, 1e-6)?.upper_bound().unwrap_or(f64::NAN);
    /// assert!(four > one && four < 6.0 * one);
    /// # Ok::<(), tacita_accounting::AccountError>(())
    /// ```
    pub fn per_user(records: u32) -> Self {
        Self { records }
    }
}

impl Accountant for Rdp {
    fn name(&self) -> &'static str {
        NAME
    }

    fn supports(&self, ledger: &Ledger) -> Result<(), AccountError> {
        RdpCurve::per_user(ledger, self.records).map(|_| ())
    }

    fn epsilon(&self, ledger: &Ledger, delta: f64) -> Result<Reading, AccountError> {
        let (epsilon, _) = RdpCurve::per_user(ledger, self.records)?.epsilon_up(delta)?;
        Ok(Reading::UpperBound(epsilon))
    }

    fn delta(&self, ledger: &Ledger, epsilon: f64) -> Result<Reading, AccountError> {
        let delta = RdpCurve::per_user(ledger, self.records)?.delta_up(epsilon)?;
        Ok(Reading::UpperBound(delta))
    }
}
