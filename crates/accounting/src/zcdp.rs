//! Zero-concentrated differential privacy, without amplification by sampling.

use crate::accountant::{AccountError, Accountant, Reading, check_delta, check_epsilon};
use crate::ledger::{Ledger, Neighbours, Round, Sampling};
use crate::rdp::moment::up;
use crate::rdp::{best_order, epsilon_at, log_delta_at};

const NAME: &str = "zcdp";

/// The zCDP accountant: `≤`, with ρ = Σ 1/(2z²) (Bun & Steinke 2016, arXiv:1605.02065).
///
/// Sampling does not amplify here: a sampled round costs what a full one costs, which is what the
/// noise-decay baseline of Yu et al. 2019 (arXiv:1904.02200) counts. Its parallel composition is
/// the sampling kind `partition`: a pass over disjoint batches costs one round, because each
/// record is in one batch, at a place that does not depend on the other records.
///
/// ```
/// use tacita_accounting::{Accountant, Ledger, Neighbours, Round, Sampling, Zcdp};
/// let mut ledger = Ledger::new(Neighbours::AddOrRemoveOne);
/// ledger.push(Round::new(Sampling::Partition { batches: 120 }, vec![10.0])?.times(20))?;
/// assert!((Zcdp.rho_up(&ledger)? - 0.1).abs() < 1e-12); // 20 passes, not 2400 rounds
/// assert!(Zcdp.epsilon(&ledger, 1e-5)?.upper_bound().is_some_and(|epsilon| epsilon < 2.0));
/// # Ok::<(), tacita_accounting::AccountError>(())
/// ```
#[derive(Debug, Clone, Copy, Default)]
pub struct Zcdp;

impl Zcdp {
    /// ρ of the whole ledger, rounded up.
    pub fn rho_up(&self, ledger: &Ledger) -> Result<f64, AccountError> {
        ledger.check_not_empty()?;
        let mut rho = 0.0;
        for round in ledger.rounds() {
            check_round(round, ledger)?;
            rho += 0.5 * round.times as f64 / round.effective_noise_multiplier().powi(2);
        }
        // A unit of k records moves the sum by up to k sensitivities.
        let records = f64::from(ledger.records_per_unit());
        Ok(up(
            rho * records * records,
            8.0 + ledger.rounds().len() as f64,
        ))
    }
}

/// A Gaussian that sees a random subset is a mixture of Gaussians at most one sensitivity apart
/// per record, and Rényi divergences are quasi-convex, so ρ = 1/(2z²) bounds it whatever the draw.
fn check_round(round: &Round, ledger: &Ledger) -> Result<(), AccountError> {
    let refuse = |what: &str, remedy: &'static str| {
        Err(AccountError::Unsupported {
            accountant: NAME,
            what: what.to_string(),
            remedy,
        })
    };
    match (round.sampling, ledger.neighbours()) {
        (Sampling::FixedSize { .. }, Neighbours::AddOrRemoveOne) => refuse(
            "fixed-size sampling under add-or-remove-one",
            "state the ledger in replace-one, with noise over the replace-one sensitivity (2C)",
        ),
        (Sampling::Partition { .. }, _) if ledger.records_per_unit() > 1 => refuse(
            "partition sampling for units of several records",
            "use Poisson sampling to protect whole units",
        ),
        (Sampling::Poisson { rate }, Neighbours::ReplaceOne) if rate < 1.0 => refuse(
            "poisson sampling under replace-one",
            "state the ledger in add-or-remove-one, the relation of Poisson sampling",
        ),
        _ => Ok(()),
    }
}

impl Accountant for Zcdp {
    fn name(&self) -> &'static str {
        NAME
    }

    fn supports(&self, ledger: &Ledger) -> Result<(), AccountError> {
        self.rho_up(ledger).map(|_| ())
    }

    fn epsilon(&self, ledger: &Ledger, delta: f64) -> Result<Reading, AccountError> {
        check_delta(delta)?;
        let rho = self.rho_up(ledger)?;
        Ok(Reading::UpperBound(epsilon_up(rho, f64::INFINITY, delta)))
    }

    fn delta(&self, ledger: &Ledger, epsilon: f64) -> Result<Reading, AccountError> {
        check_epsilon(epsilon)?;
        let rho = self.rho_up(ledger)?;
        Ok(Reading::UpperBound(delta_up(rho, f64::INFINITY, epsilon)))
    }
}

/// (α−1)·ρα, the log-moment that ρ allows at order α; +∞ beyond the last order that it covers.
fn log_moment(rho: f64, last_order: f64, order: f64) -> f64 {
    if order > last_order {
        return f64::INFINITY;
    }
    up(rho * order * (order - 1.0), 4.0)
}

/// ε of D_α ≤ ρα for all α ≤ `last_order`, at the best such order, rounded up.
pub(crate) fn epsilon_up(rho: f64, last_order: f64, delta: f64) -> f64 {
    let at = |order: f64| epsilon_at(order, log_moment(rho, last_order, order), delta);
    at(best_order(at)).min(last_finite(last_order, at))
}

/// δ of D_α ≤ ρα for all α ≤ `last_order`, at the best such order, rounded up.
pub(crate) fn delta_up(rho: f64, last_order: f64, epsilon: f64) -> f64 {
    let at = |order: f64| log_delta_at(order, log_moment(rho, last_order, order), epsilon);
    let delta = up(
        at(best_order(at)).min(last_finite(last_order, at)).exp(),
        16.0,
    );
    // What underflows is not nothing.
    delta.clamp(f64::MIN_POSITIVE, 1.0)
}

/// The value at the end of a finite range of orders, where the least may lie.
fn last_finite(last_order: f64, at: impl Fn(f64) -> f64) -> f64 {
    if last_order.is_finite() {
        at(last_order)
    } else {
        f64::INFINITY
    }
}
