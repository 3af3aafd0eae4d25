//! The growing-μ schedule as its paper calibrates it: by a limit theorem, so with no guarantee.

use crate::accountant::AccountError;
use crate::gdp::mu_of_budget;
use crate::ledger::{Ledger, LedgerError, Neighbours, Round, Sampling};
use crate::search::bisect;

/// The number of the first step of a schedule μₜ = μ₀ρ^(t/T).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FirstStep {
    /// t = 1..T, as in Algorithm 1 of the paper: the last step has μ = μ₀ρ.
    One,
    /// t = 0..T−1: the first step has μ = μ₀.
    Zero,
}

/// A schedule whose total μ meets a budget according to the central limit theorem.
///
/// Du et al. 2021 (arXiv:2111.00173), Algorithm 1. The claim is an estimate: read the ledger of
/// the schedule with a certified accountant to learn what it really costs.
///
/// ```
/// use tacita_accounting::{Accountant, CltSchedule, FirstStep, Rdp};
/// let paper = CltSchedule::growing_mu(1.2, 1e-5, 0.01, 500, 2.0, FirstStep::One)?;
/// let ledger = paper.ledger()?;
/// assert_eq!(ledger.rounds_made(), 500);
/// let proved = Rdp.epsilon(&ledger, 1e-5)?.upper_bound().unwrap_or(f64::NAN);
/// assert!(proved > 1.2); // the claim is not a bound
/// # Ok::<(), tacita_accounting::AccountError>(())
/// ```
#[derive(Debug, Clone)]
pub struct CltSchedule {
    /// μ of the budget.
    pub mu_total: f64,
    /// μ₀, the scale of the schedule.
    pub mu_zero: f64,
    /// Poisson sampling rate of every step.
    pub rate: f64,
    /// 1/μₜ of every step.
    pub noise_multipliers: Vec<f64>,
}

impl CltSchedule {
    /// Solves q²Σ(e^((μ₀ρ^(t/T))²) − 1) = μ² for μ₀, with μ that of (`epsilon`, `delta`);
    /// `growth` is ρ, and 1 gives constant noise.
    pub fn growing_mu(
        epsilon: f64,
        delta: f64,
        rate: f64,
        steps: u64,
        growth: f64,
        first: FirstStep,
    ) -> Result<Self, AccountError> {
        let mu_total = mu_of_budget(epsilon, delta)?;
        if !(rate > 0.0 && rate <= 1.0) {
            return Err(LedgerError::Rate { rate }.into());
        }
        if !(growth > 0.0 && growth.is_finite()) {
            return Err(AccountError::Argument {
                what: "growth of mu",
                range: "a finite number above 0",
                value: growth,
            });
        }
        if steps == 0 || steps > MOST_STEPS {
            return Err(AccountError::Argument {
                what: "number of steps",
                range: "between 1 and 10000000",
                value: steps as f64,
            });
        }
        let offset = match first {
            FirstStep::Zero => 0.0,
            FirstStep::One => 1.0,
        };
        let relative: Vec<f64> = (0..steps)
            .map(|t| growth.powf((t as f64 + offset) / steps as f64))
            .collect();
        let mu_zero = solve(mu_total / rate, &relative);
        let noise_multipliers = relative.iter().map(|r| (mu_zero * r).recip()).collect();
        Ok(Self {
            mu_total,
            mu_zero,
            rate,
            noise_multipliers,
        })
    }

    /// What a run with this schedule would release.
    pub fn ledger(&self) -> Result<Ledger, AccountError> {
        let mut ledger = Ledger::new(Neighbours::AddOrRemoveOne);
        for &noise_multiplier in &self.noise_multipliers {
            let sampling = Sampling::Poisson { rate: self.rate };
            ledger.push(Round::new(sampling, vec![noise_multiplier])?)?;
        }
        Ok(ledger)
    }
}

const MOST_STEPS: u64 = 10_000_000;

/// μ₀ with Σ(e^((μ₀rₜ)²) − 1) = `target`².
fn solve(target: f64, relative: &[f64]) -> f64 {
    let total = |mu_zero: f64| -> f64 {
        relative
            .iter()
            .map(|r| (mu_zero * r).powi(2).exp_m1())
            .sum()
    };
    let target = target * target;
    // With every rₜ at its least (greatest) the equation is explicit, and μ₀ too large (small).
    let explicit = |r: f64| (target / relative.len() as f64).ln_1p().sqrt() / r;
    let least = relative.iter().copied().fold(f64::INFINITY, f64::min);
    let greatest = relative.iter().copied().fold(0.0, f64::max);
    let (low, high) = (explicit(greatest), explicit(least));
    if high <= low {
        return low;
    }
    let (low, high) = bisect(
        |mu_zero| total(mu_zero) >= target,
        low * 0.999,
        high * 1.001,
    );
    0.5 * (low + high)
}
