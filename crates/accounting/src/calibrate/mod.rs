//! The least noise, or the most steps, that keep a budget.
//!
//! A [`Shape`] is a schedule known up to one scale; [`smallest_noise`] finds the scale. Whatever
//! is returned was verified: the accountant's upper bound at the very figure returned is within
//! the budget.
//!
//! ```
//! use tacita_accounting::calibrate::{self, Budget};
//! use tacita_accounting::Sampling;
//! let budget = Budget::new(1.0, 1e-5)?;
//! let found = calibrate::constant(Sampling::Poisson { rate: 0.01 }, 1000, budget)?;
//! assert!(found.noise_multiplier > 1.0);
//! assert!(found.epsilon.upper_bound().is_some_and(|epsilon| epsilon <= 1.0));
//! # Ok::<(), tacita_accounting::AccountError>(())
//! ```

mod search;
mod shape;
mod thinned;

use crate::accountant::{AccountError, Accountant, Reading, check_delta, check_epsilon};
use crate::effort::Effort;
use crate::ledger::{Ledger, Round, Sampling};
use crate::pld::Pld;
use search::{Evaluate, least_scale};

pub use shape::{MOST_DISTINCT, QueryNoise, Shape};

/// Units of work of a whole search: a few seconds.
const WORK: f64 = 5e9;
/// Units of work to read one round of a ledger.
const WORK_OF_ROUND: f64 = 600.0;

/// The ε and δ that may be spent.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Budget {
    epsilon: f64,
    delta: f64,
}

impl Budget {
    /// A checked budget: finite ε > 0, δ in (0, 1).
    pub fn new(epsilon: f64, delta: f64) -> Result<Self, AccountError> {
        check_epsilon(epsilon)?;
        check_delta(delta)?;
        if epsilon == 0.0 {
            return Err(AccountError::Argument {
                what: "epsilon of a budget",
                range: "above 0",
                value: epsilon,
            });
        }
        Ok(Self { epsilon, delta })
    }

    /// ε.
    pub fn epsilon(self) -> f64 {
        self.epsilon
    }

    /// δ.
    pub fn delta(self) -> f64 {
        self.delta
    }
}

/// A schedule that keeps a budget.
#[derive(Debug, Clone, PartialEq)]
pub struct Calibrated {
    /// The scale found: the noise multiplier of a constant schedule, 1/μ₀ of growing μ.
    pub noise_multiplier: f64,
    /// What the accountant says of the schedule.
    pub epsilon: Reading,
    /// The schedule.
    pub ledger: Ledger,
}

/// The smallest constant noise multiplier whose certified ε is within the budget.
pub fn constant(
    sampling: Sampling,
    steps: u64,
    budget: Budget,
) -> Result<Calibrated, AccountError> {
    smallest_noise(&Shape::constant(sampling, steps), budget, &Pld::default())
}

/// The smallest scale of a schedule whose proved ε is within the budget.
///
/// # Guarantee
/// The upper bound of the reading returned is at most the budget's ε. An accountant that proves
/// nothing is refused; see [`estimated_noise`]. Checked by `calibrated_noise_keeps_the_budget`.
///
/// # Errors
/// [`AccountError::NothingLeft`] if fixed queries alone cost more than the budget, before anything
/// is searched; [`AccountError::OutOfReach`] if no scale will do.
pub fn smallest_noise(
    shape: &Shape,
    budget: Budget,
    accountant: &dyn Accountant,
) -> Result<Calibrated, AccountError> {
    let effort = Effort::new(WORK);
    let precise = |ledger: &Ledger| certified(accountant, ledger, budget, &effort);
    let quicker = accountant.quicker();
    let rough = (quicker.as_deref()).map(|quicker| {
        let effort = &effort;
        move |ledger: &Ledger| certified(quicker, ledger, budget, effort)
    });
    let rough = rough.as_ref().map(|rough| rough as &Evaluate);
    least_scale(shape, budget, rough, &precise, &effort)
}

/// The smallest scale at which an accountant *estimates* ε to be within the budget. The true ε
/// may be larger; nothing is guaranteed.
pub fn estimated_noise(
    shape: &Shape,
    budget: Budget,
    accountant: &dyn Accountant,
) -> Result<Calibrated, AccountError> {
    let effort = Effort::new(WORK);
    let precise = |ledger: &Ledger| {
        let reading = accountant.epsilon_within(ledger, budget.delta, &effort)?;
        let value = match reading {
            Reading::Estimate(value) | Reading::UpperBound(value) => value,
            Reading::Bracket { upper, .. } => upper,
        };
        Ok((value, reading))
    };
    least_scale(shape, budget, None, &precise, &effort)
}

/// The largest number of times a round can follow those of a ledger within the budget: the steps
/// left of a run, or of a whole budget if the ledger is empty. Where readings take long, as for ledgers of
/// tens of thousands of kinds of rounds, it may be somewhat smaller than the largest.
///
/// ```
/// use tacita_accounting::calibrate::{Budget, most_steps};
/// use tacita_accounting::{Ledger, Neighbours, Pld, Round, Sampling};
/// let round = Round::new(Sampling::Poisson { rate: 0.01 }, vec![1.5])?;
/// let mut run = Ledger::new(Neighbours::AddOrRemoveOne);
/// let budget = Budget::new(1.0, 1e-5)?;
/// let all = most_steps(&run, &round, budget, &Pld::default())?;
/// run.push(round.clone().times(400))?;
/// let left = most_steps(&run, &round, budget, &Pld::default())?;
/// assert_eq!(all, 400 + left);
/// # Ok::<(), tacita_accounting::AccountError>(())
/// ```
pub fn most_steps(
    spent: &Ledger,
    round: &Round,
    budget: Budget,
    accountant: &dyn Accountant,
) -> Result<u64, AccountError> {
    const MOST: u64 = 1 << 40;
    let effort = Effort::new(WORK);
    let fits = |steps: u64| -> Result<bool, AccountError> {
        if steps == 0 && spent.rounds().is_empty() {
            return Ok(true);
        }
        let mut ledger = spent.clone();
        if steps > 0 {
            ledger.push(round.clone().times(steps))?;
        }
        Ok(certified(accountant, &ledger, budget, &effort)?.0 <= budget.epsilon)
    };
    if !fits(0)? || !fits(1)? {
        return Ok(0);
    }
    let (mut most, mut too_many) = (1, 2);
    while fits(too_many)? {
        most = too_many;
        too_many *= 4;
        if too_many > MOST || effort.left() == 0.0 {
            return Ok(most);
        }
    }
    // What is left out when the work is used up could only add steps.
    while too_many - most > 1 && effort.left() > 0.0 {
        let middle = most + (too_many - most) / 2;
        if fits(middle)? {
            most = middle;
        } else {
            too_many = middle;
        }
    }
    Ok(most)
}

/// (upper bound of ε, the whole reading); refuses an accountant that only estimates.
fn certified(
    accountant: &dyn Accountant,
    ledger: &Ledger,
    budget: Budget,
    effort: &Effort,
) -> Result<(f64, Reading), AccountError> {
    // Copying, sorting and grouping the rounds.
    let _ = effort.spend(WORK_OF_ROUND * ledger.rounds().len() as f64);
    let reading = accountant.epsilon_within(ledger, budget.delta, effort)?;
    match reading.upper_bound() {
        Some(upper) => Ok((upper, reading)),
        None => Err(AccountError::Unsupported {
            accountant: accountant.name(),
            what: "calibration with a guarantee".into(),
            remedy: "calibrate with the pld accountant, or ask for an estimate by name",
        }),
    }
}
