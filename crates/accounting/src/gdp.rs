//! Gaussian differential privacy: exact without sampling, a central limit estimate with it.

use crate::accountant::{AccountError, Accountant, Reading, check_delta, check_epsilon};
use crate::gaussian;
use crate::ledger::{Ledger, Neighbours, Round, Sampling};

const NAME: &str = "gdp";

/// The Gaussian-DP accountant: `≈` for sampled rounds, `≤` for a ledger without sampling.
///
/// Poisson rounds enter by the central limit theorem, μ² = Σ qₜ²(e^(1/zₜ²) − 1): Bu, Dong, Long &
/// Su 2020 (arXiv:1911.11607) for equal rounds, extended to unequal ones by Du et al. 2021
/// (arXiv:2111.00173), Theorem 1. The limit is **not a bound**: it lies below the truth in most
/// settings, the more so the less the noise. Full-batch rounds compose exactly, μ² = Σ 1/zₜ²
/// (Dong, Roth & Su 2019, Corollary 3.3), and a ledger of nothing else gets an upper bound.
///
/// ```
/// use tacita_accounting::{Accountant, Gdp, Ledger, Neighbours, Reading, Round, Sampling};
/// let mut ledger = Ledger::new(Neighbours::AddOrRemoveOne);
/// ledger.push(Round::new(Sampling::Poisson { rate: 0.01 }, vec![1.0])?.times(1000))?;
/// let reading = Gdp.epsilon(&ledger, 1e-5)?;
/// assert!(matches!(reading, Reading::Estimate(_)));
/// assert_eq!(reading.upper_bound(), None); // never a guarantee
/// # Ok::<(), tacita_accounting::AccountError>(())
/// ```
#[derive(Debug, Clone, Copy, Default)]
pub struct Gdp;

/// The μ of a ledger, and whether it is a theorem or a limit.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct GdpMu {
    /// μ of the whole ledger.
    pub mu: f64,
    /// True if every round composes exactly, so that μ (rounded up) is proved.
    pub is_exact: bool,
}

impl Gdp {
    /// μ of the whole ledger.
    ///
    /// ```
    /// use tacita_accounting::{Gdp, Ledger, Neighbours, Round, Sampling};
    /// let mut ledger = Ledger::new(Neighbours::AddOrRemoveOne);
    /// ledger.push(Round::new(Sampling::Full {}, vec![5.0])?.times(100))?;
    /// let mu = Gdp.mu(&ledger)?;
    /// assert!(mu.is_exact && (mu.mu - 2.0).abs() < 1e-12);
    /// # Ok::<(), tacita_accounting::AccountError>(())
    /// ```
    pub fn mu(&self, ledger: &Ledger) -> Result<GdpMu, AccountError> {
        ledger.check_not_empty()?;
        let mut sum = 0.0;
        let mut is_exact = true;
        for round in ledger.rounds() {
            let (mu_squared, exact) = squared_mu(round, ledger)?;
            sum += round.times as f64 * mu_squared;
            is_exact &= exact;
        }
        let rounding = 1.0 + (8.0 + ledger.rounds().len() as f64) * f64::EPSILON;
        let mu = sum.sqrt() * rounding;
        Ok(GdpMu {
            // An infinite divergence of a round that is hardly ever made is no number.
            mu: if mu.is_nan() { f64::INFINITY } else { mu },
            is_exact,
        })
    }

    fn reading(mu: GdpMu, value: f64) -> Reading {
        if mu.is_exact {
            Reading::UpperBound(value)
        } else {
            Reading::Estimate(value)
        }
    }
}

fn squared_mu(round: &Round, ledger: &Ledger) -> Result<(f64, bool), AccountError> {
    let z = round.effective_noise_multiplier();
    let precision = (z * z).recip();
    let records = f64::from(ledger.records_per_unit());
    let refuse = |what: &str, remedy: &'static str| {
        Err(AccountError::Unsupported {
            accountant: NAME,
            what: what.to_string(),
            remedy,
        })
    };
    match (round.sampling, ledger.neighbours()) {
        // A unit of k records moves the sum by up to k sensitivities.
        (Sampling::Full {}, _) => Ok((records * records * precision, true)),
        (Sampling::Poisson { .. } | Sampling::Partition { .. }, _) if records > 1.0 => refuse(
            "sampled units of several records",
            "use the pld or the rdp accountant, which treat the mixture",
        ),
        // A record of a partition meets the noise once per pass.
        (Sampling::Partition { .. }, _) => Ok((precision, true)),
        (Sampling::Poisson { rate }, Neighbours::AddOrRemoveOne) => {
            Ok((rate * rate * precision.exp_m1(), false))
        }
        (Sampling::Poisson { .. }, Neighbours::ReplaceOne) => refuse(
            "poisson sampling under replace-one",
            "state the ledger in add-or-remove-one, the relation of Poisson sampling",
        ),
        (Sampling::FixedSize { .. }, _) => refuse(
            "fixed-size sampling",
            "use the rdp accountant with the relation replace-one",
        ),
    }
}

/// ε of μ-GDP at `delta` (Dong, Roth & Su 2019, Corollary 2.13), rounded up.
///
/// ```
/// let epsilon = tacita_accounting::epsilon_of_mu(1.0, 1e-6)?;
/// assert!((epsilon - 4.886554117).abs() < 1e-9);
/// # Ok::<(), tacita_accounting::AccountError>(())
/// ```
pub fn epsilon_of_mu(mu: f64, delta: f64) -> Result<f64, AccountError> {
    check_delta(delta)?;
    check_mu(mu)?;
    Ok(gaussian::epsilon_up(delta, mu))
}

/// δ of μ-GDP at `epsilon`, rounded up.
///
/// ```
/// let delta = tacita_accounting::delta_of_mu(1.0, 4.886554117)?;
/// assert!((delta / 1e-6 - 1.0).abs() < 1e-6);
/// # Ok::<(), tacita_accounting::AccountError>(())
/// ```
pub fn delta_of_mu(mu: f64, epsilon: f64) -> Result<f64, AccountError> {
    check_epsilon(epsilon)?;
    check_mu(mu)?;
    Ok(gaussian::delta_up(epsilon, mu))
}

/// The largest μ whose Gaussian profile passes through (`epsilon`, `delta`).
///
/// ```
/// let mu = tacita_accounting::mu_of_budget(4.886554117, 1e-6)?;
/// assert!((mu - 1.0).abs() < 1e-8);
/// # Ok::<(), tacita_accounting::AccountError>(())
/// ```
pub fn mu_of_budget(epsilon: f64, delta: f64) -> Result<f64, AccountError> {
    check_delta(delta)?;
    check_epsilon(epsilon)?;
    Ok(gaussian::mu(epsilon, delta))
}

fn check_mu(mu: f64) -> Result<(), AccountError> {
    if mu > 0.0 && mu.is_finite() {
        return Ok(());
    }
    Err(AccountError::Argument {
        what: "mu",
        range: "a finite number above 0",
        value: mu,
    })
}

impl Accountant for Gdp {
    fn name(&self) -> &'static str {
        NAME
    }

    fn supports(&self, ledger: &Ledger) -> Result<(), AccountError> {
        self.mu(ledger).map(|_| ())
    }

    fn epsilon(&self, ledger: &Ledger, delta: f64) -> Result<Reading, AccountError> {
        check_delta(delta)?;
        let mu = self.mu(ledger)?;
        Ok(Self::reading(mu, gaussian::epsilon_up(delta, mu.mu)))
    }

    fn delta(&self, ledger: &Ledger, epsilon: f64) -> Result<Reading, AccountError> {
        check_epsilon(epsilon)?;
        let mu = self.mu(ledger)?;
        Ok(Self::reading(mu, gaussian::delta_up(epsilon, mu.mu)))
    }
}
