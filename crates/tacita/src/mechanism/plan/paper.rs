//! Calibration as the papers did it, to be compared with ours.

use serde::{Deserialize, Serialize};
use tacita_accounting::calibrate::{self, Budget, Shape};
use tacita_accounting::{
    AccountError, Accountant, Gdp, Ledger, Rdp, Reading, Sampling, Tcdp, Zcdp, mu_of_budget,
};

/// The accountant the authors of a method calibrated their noise with.
///
/// Noise found this way is for reproducing papers. The ε reported for such a plan is still the
/// certified one of what really runs; the authors' figure stands beside it as a claim.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PaperAccountant {
    /// The Gaussian-DP central limit theorem (Du et al. 2021; Bu et al. 2020): an estimate that
    /// under-reports.
    CentralLimit,
    /// Rényi DP, the moments accountant (Galli et al. 2024; Abadi et al. 2016).
    Renyi,
    /// zCDP over the disjoint batches of an epoch (Yu et al. 2019). They shuffle; we draw by Poisson
    /// sampling all the same, so the claim is about another sampler.
    ZeroConcentrated,
    /// Truncated CDP with subsampling (Zhang et al. 2021).
    TruncatedConcentrated,
}

/// ε as the authors of a method would state it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Claim {
    /// Their accountant.
    pub accountant: PaperAccountant,
    /// Their ε.
    pub epsilon: f64,
}

impl PaperAccountant {
    /// The smallest scale their accountant allows.
    pub(crate) fn scale(
        self,
        shape: impl Fn(Sampling) -> Result<Shape, AccountError>,
        rate: f64,
        budget: Budget,
    ) -> Result<f64, AccountError> {
        let poisson = || shape(Sampling::Poisson { rate });
        let least = |shape: Shape, accountant: &dyn Accountant| {
            let accountant = WhereItApplies(accountant, 10.0 * budget.epsilon());
            let found = calibrate::estimated_noise(&shape, budget, &accountant)?;
            Ok(found.noise_multiplier)
        };
        match self {
            Self::CentralLimit => central_limit_scale(&poisson()?, budget),
            Self::Renyi => least(poisson()?, &Rdp),
            Self::ZeroConcentrated => {
                let batches = (1.0 / rate).round().max(1.0) as u64;
                least(shape(Sampling::Partition { batches })?, &Zcdp)
            }
            Self::TruncatedConcentrated => least(poisson()?, &Tcdp::by_theorem()),
        }
    }
}

/// Algorithm 1 of Du et al. 2021 for any shape: the scale at which the extended central limit theorem
/// gives the budget's μ, by bisection to the last digits.
fn central_limit_scale(shape: &Shape, budget: Budget) -> Result<f64, AccountError> {
    let target = mu_of_budget(budget.epsilon(), budget.delta())?;
    let keeps = |scale: f64| -> Result<bool, AccountError> {
        Ok(Gdp.mu(&shape.ledger(scale)?)?.mu <= target)
    };
    let (mut low, mut high) = (1.0, 1.0);
    while !keeps(high)? {
        (low, high) = (high, 2.0 * high);
        if high > 1e9 {
            // A fixed side query alone is over the budget; the search of the accountant says so.
            return Ok(calibrate::estimated_noise(shape, budget, &Gdp)?.noise_multiplier);
        }
    }
    while keeps(low)? && low > 1e-9 {
        (low, high) = (low / 2.0, low);
    }
    for _ in 0..50 {
        let middle = 0.5 * (low + high);
        if keeps(middle)? {
            high = middle;
        } else {
            low = middle;
        }
    }
    Ok(high)
}

/// An accountant that gives an ε over the budget where its theorem needs more noise, so that a search
/// moves on.
struct WhereItApplies<'a>(&'a dyn Accountant, f64);

impl Accountant for WhereItApplies<'_> {
    fn name(&self) -> &'static str {
        self.0.name()
    }

    fn supports(&self, ledger: &Ledger) -> Result<(), AccountError> {
        self.0.supports(ledger)
    }

    fn epsilon(&self, ledger: &Ledger, delta: f64) -> Result<Reading, AccountError> {
        match self.0.epsilon(ledger, delta) {
            Err(AccountError::Unsupported { .. }) => Ok(Reading::UpperBound(self.1)),
            other => other,
        }
    }

    fn delta(&self, ledger: &Ledger, epsilon: f64) -> Result<Reading, AccountError> {
        self.0.delta(ledger, epsilon)
    }
}
