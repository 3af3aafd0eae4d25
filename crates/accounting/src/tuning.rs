//! What choosing among runs costs.
//!
//! Publishing the best of several private runs reveals more than one run does. Either every run
//! is counted ([`whole_grid`]), or the *number* of runs is random and only the best is published
//! ([`RandomRuns`], Papernot & Steinke 2022, arXiv:2110.03620), which costs little more than one.

use crate::accountant::{AccountError, Reading, check_delta};
use crate::ledger::Ledger;
use crate::rdp::moment::up;
use crate::rdp::{RdpCurve, best_order, epsilon_at};
use crate::search::minimise;

/// One ledger of all runs of a search, to be read by any accountant: all may then be published.
///
/// ```
/// use tacita_accounting::{Ledger, Neighbours, Round, Sampling, whole_grid};
/// let mut run = Ledger::new(Neighbours::AddOrRemoveOne);
/// run.push(Round::new(Sampling::Poisson { rate: 0.01 }, vec![1.0])?.times(100))?;
/// let grid = whole_grid(&[run.clone(), run])?;
/// assert_eq!(grid.rounds_made(), 200);
/// # Ok::<(), tacita_accounting::AccountError>(())
/// ```
pub fn whole_grid(runs: &[Ledger]) -> Result<Ledger, AccountError> {
    let Some(first) = runs.first() else {
        return Err(crate::ledger::LedgerError::Empty.into());
    };
    let mut grid = first.prefix(0);
    for run in runs {
        let unit = |run: &Ledger| (run.neighbours(), run.records_per_unit());
        if unit(run) != unit(first) {
            return Err(AccountError::Unsupported {
                accountant: "grid",
                what: format!(
                    "runs in {} with {} records per unit together with runs in {} with {}",
                    first.neighbours().name(),
                    first.records_per_unit(),
                    run.neighbours().name(),
                    run.records_per_unit()
                ),
                remedy: "state all runs of a search for one relation and one unit",
            });
        }
        for round in run.rounds() {
            grid.push(round.clone())?;
        }
    }
    Ok(grid)
}

/// The distribution of the number of runs, drawn before the search and kept secret.
///
/// Each run uses hyper-parameters drawn afresh from a fixed distribution; only the best run is
/// published. All runs must satisfy the same ledger.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum RandomRuns {
    /// Truncated negative binomial (at least one run): P\[K = k\] ∝ (1−γ)ᵏ Γ(k+η)/k!.
    TruncatedNegativeBinomial {
        /// η > −1. Larger is less spread and more expensive; 1 is the geometric distribution, 0 the logarithmic.
        shape: f64,
        /// γ in (0, 1). Smaller is more runs.
        gamma: f64,
    },
    /// Poisson (the best of no run is "nothing", which may be published).
    Poisson {
        /// Expected number of runs, above 0.
        mean: f64,
    },
}

impl RandomRuns {
    /// The geometric distribution with the given expected number of runs: γ = 1/mean.
    pub fn geometric(mean: f64) -> Result<Self, AccountError> {
        Self::negative_binomial(1.0, mean)
    }

    /// The logarithmic distribution with the given expected number of runs.
    pub fn logarithmic(mean: f64) -> Result<Self, AccountError> {
        Self::negative_binomial(0.0, mean)
    }

    /// The truncated negative binomial distribution of `shape` η with the given expected number of runs.
    ///
    /// ```
    /// use tacita_accounting::RandomRuns;
    /// let runs = RandomRuns::negative_binomial(1.0, 10.0)?;
    /// assert!((runs.mean() - 10.0).abs() < 1e-9);
    /// # Ok::<(), tacita_accounting::AccountError>(())
    /// ```
    pub fn negative_binomial(shape: f64, mean: f64) -> Result<Self, AccountError> {
        check_shape(shape)?;
        if !(mean > 1.0 && mean.is_finite()) {
            return Err(AccountError::Argument {
                what: "expected number of runs",
                range: "a finite number above 1",
                value: mean,
            });
        }
        // The mean falls as γ grows: from +∞ (η > −1) to 1. Searched in ln γ, from far below any
        // useful γ: at η near −1 the mean grows only like γ^(−η−1).
        let with_gamma = |log_gamma: f64| Self::TruncatedNegativeBinomial {
            shape,
            gamma: log_gamma.exp(),
        };
        let (low, high) = (-600.0, -1e-12);
        if with_gamma(low).mean() < mean {
            return Err(AccountError::OutOfReach {
                what: "gamma of the number of runs",
                lowest: low.exp(),
                highest: 1.0,
                remedy: "choose a larger shape or a smaller mean",
            });
        }
        let mirrored = |x: f64| with_gamma(-x).mean() >= mean;
        Ok(with_gamma(-crate::search::bisect(mirrored, -high, -low).1))
    }

    /// The Poisson distribution with the given expected number of runs.
    pub fn poisson(mean: f64) -> Result<Self, AccountError> {
        let runs = Self::Poisson { mean };
        runs.check()?;
        Ok(runs)
    }

    /// Expected number of runs.
    pub fn mean(&self) -> f64 {
        match *self {
            Self::Poisson { mean } => mean,
            Self::TruncatedNegativeBinomial { shape, gamma } => {
                // η(1−γ)/(γ(1−γ^η)), which is (1−γ)/(γ ln(1/γ)) at η = 0.
                let log_gamma = gamma.ln();
                let odds = -log_gamma.exp_m1() / gamma;
                let per_shape = if shape == 0.0 {
                    -log_gamma.recip()
                } else {
                    -shape / (shape * log_gamma).exp_m1()
                };
                odds * per_shape
            }
        }
    }

    /// ε at `delta` of publishing the best of a random number of runs, each with this ledger.
    ///
    /// ```
    /// use tacita_accounting::{Accountant, Ledger, Neighbours, RandomRuns, Rdp, Round, Sampling};
    /// let mut run = Ledger::new(Neighbours::AddOrRemoveOne);
    /// run.push(Round::new(Sampling::Poisson { rate: 0.01 }, vec![1.5])?.times(1000))?;
    /// let one = Rdp.epsilon(&run, 1e-5)?.upper_bound().unwrap_or(f64::NAN);
    /// let best = RandomRuns::geometric(10.0)?.epsilon(&run, 1e-5)?;
    /// let best = best.upper_bound().unwrap_or(f64::NAN);
    /// assert!(best > one && best < 3.0 * one);
    /// # Ok::<(), tacita_accounting::AccountError>(())
    /// ```
    pub fn epsilon(&self, run: &Ledger, delta: f64) -> Result<Reading, AccountError> {
        self.epsilon_of_any(std::slice::from_ref(run), delta)
    }

    /// The same for runs whose settings, and so ledgers, are drawn from several: the settings are
    /// published with the best run, so the divergence at every order is at most that of the most expensive
    /// ledger.
    ///
    /// ```
    /// use tacita_accounting::{Ledger, Neighbours, RandomRuns, Round, Sampling};
    /// let run = |steps| {
    ///     let mut run = Ledger::new(Neighbours::AddOrRemoveOne);
    ///     let round = Round::new(Sampling::Poisson { rate: 0.01 }, vec![1.5])?;
    ///     run.push(round.times(steps))?;
    ///     Ok::<_, tacita_accounting::LedgerError>(run)
    /// };
    /// let runs = RandomRuns::logarithmic(10.0)?;
    /// let either = runs.epsilon_of_any(&[run(100)?, run(1000)?], 1e-5)?;
    /// assert_eq!(either, runs.epsilon(&run(1000)?, 1e-5)?);
    /// # Ok::<(), tacita_accounting::AccountError>(())
    /// ```
    ///
    /// # Guarantee
    /// An upper bound. Checked by `best_of_any_costs_at_least_the_best_of_each`.
    pub fn epsilon_of_any(&self, runs: &[Ledger], delta: f64) -> Result<Reading, AccountError> {
        check_delta(delta)?;
        self.check()?;
        let curve = MostExpensive::of(runs)?;
        let rough = curve.rough();
        let choice = self.choice(&curve, &rough);
        let at = |curve: &MostExpensive, order: f64| -> Result<f64, AccountError> {
            let moment = curve.log_moment_up(order) + choice.log_moment(curve, order)?;
            Ok(epsilon_at(order, moment, delta))
        };
        let order = best_order(|order| at(&rough, order).unwrap_or(f64::INFINITY));
        Ok(Reading::UpperBound(up(at(&curve, order)?, 32.0)))
    }

    /// The Rényi divergence of order `order` > 1 of the same, rounded up.
    ///
    /// # Guarantee
    /// An upper bound, the rounding of a drawn number of runs included. Checked by
    /// `the_divergence_of_a_search_gives_at_least_its_epsilon`.
    pub fn divergence_of_any(&self, runs: &[Ledger], order: f64) -> Result<f64, AccountError> {
        if !(order > 1.0 && order.is_finite()) {
            return Err(AccountError::Argument {
                what: "Rényi order",
                range: "a finite number above 1",
                value: order,
            });
        }
        self.check()?;
        let curve = MostExpensive::of(runs)?;
        let choice = self.choice(&curve, &curve.rough());
        // A mean below 1 would make the choice cheaper than nothing; it is not counted, so that all terms are positive.
        let chosen = choice.log_moment(&curve, order)?.max(0.0);
        let moment = up(curve.log_moment_up(order) + chosen, 32.0);
        Ok(up(moment / (order - 1.0), 4.0) + DRAWN * order / (order - 1.0))
    }

    /// What the choice among runs adds to the moment of one run.
    fn choice(&self, curve: &MostExpensive, rough: &MostExpensive) -> Choice {
        match *self {
            // Theorem 2.
            Self::TruncatedNegativeBinomial { shape, gamma } => Choice::Fixed {
                of_selection: selection_cost(curve, rough, shape, gamma),
                log_mean: self.mean().ln(),
            },
            Self::Poisson { mean } => Choice::Poisson { mean },
        }
    }

    fn check(&self) -> Result<(), AccountError> {
        match *self {
            Self::TruncatedNegativeBinomial { shape, gamma } => {
                check_shape(shape)?;
                if gamma > 0.0 && gamma < 1.0 {
                    return Ok(());
                }
                Err(AccountError::Argument {
                    what: "gamma",
                    range: "in (0, 1)",
                    value: gamma,
                })
            }
            Self::Poisson { mean } if mean > 0.0 && mean.is_finite() => Ok(()),
            Self::Poisson { mean } => Err(AccountError::Argument {
                what: "expected number of runs",
                range: "a finite number above 0",
                value: mean,
            }),
        }
    }
}

fn check_shape(shape: f64) -> Result<(), AccountError> {
    if shape > -1.0 && shape.is_finite() {
        return Ok(());
    }
    Err(AccountError::Argument {
        what: "shape of the number of runs",
        range: "a finite number above -1",
        value: shape,
    })
}

/// What a random number that is drawn to a relative 10⁻¹¹ of its probabilities may add to the divergence, per
/// α/(α − 1), with much room.
const DRAWN: f64 = 1e-9;

/// What choosing the best run adds, as far as it depends on the order.
enum Choice {
    /// Theorem 2: a part that does not depend on the order of the result, and ln E[K]/(α − 1).
    Fixed { of_selection: f64, log_mean: f64 },
    /// Theorem 6.
    Poisson { mean: f64 },
}

impl Choice {
    /// (α − 1) times what is added to the divergence.
    fn log_moment(&self, curve: &MostExpensive, order: f64) -> Result<f64, AccountError> {
        let above = order - 1.0;
        match *self {
            Self::Fixed {
                of_selection,
                log_mean,
            } => Ok(above * of_selection + log_mean),
            Self::Poisson { mean } => {
                // D + μ δ̂ + ln μ/(α−1), with each run (ε̂, δ̂)-DP, e^ε̂ = 1 + 1/(α−1). Rounded down: δ̂ at a
                // smaller ε̂ is larger.
                let hat = above.recip().ln_1p() * (1.0 - 4.0 * f64::EPSILON);
                Ok(above * mean * curve.delta_up(hat)? + mean.ln())
            }
        }
    }
}

/// The pointwise largest of several curves; convex in the order as each of them is.
struct MostExpensive(Vec<RdpCurve>);

impl MostExpensive {
    fn of(runs: &[Ledger]) -> Result<Self, AccountError> {
        if runs.is_empty() {
            return Err(crate::ledger::LedgerError::Empty.into());
        }
        // One relation and one unit for all.
        whole_grid(runs)?;
        Ok(Self(
            runs.iter().map(RdpCurve::of).collect::<Result<_, _>>()?,
        ))
    }

    fn rough(&self) -> Self {
        Self(self.0.iter().map(RdpCurve::rough).collect())
    }

    fn log_moment_up(&self, order: f64) -> f64 {
        let moments = self.0.iter().map(|curve| curve.log_moment_up(order));
        moments.fold(f64::NEG_INFINITY, f64::max)
    }

    fn delta_up(&self, epsilon: f64) -> Result<f64, AccountError> {
        let mut delta = 0.0_f64;
        for curve in &self.0 {
            delta = delta.max(curve.delta_up(epsilon)?);
        }
        Ok(delta)
    }
}

/// Theorem 2: (1+η)((1 − 1/β)D_β + ln(1/γ)/β) at the best β ≥ 1, the part that does not depend on
/// the order of the result. (K(β) + ln(1/γ))/β is quasi-convex, K being convex.
fn selection_cost(curve: &MostExpensive, rough: &MostExpensive, shape: f64, gamma: f64) -> f64 {
    let log_inverse = -gamma.ln();
    let at = |curve: &MostExpensive, order: f64| (curve.log_moment_up(order) + log_inverse) / order;
    let beta = 1.0 + minimise(|t| at(rough, 1.0 + t.exp()), -14.0, 14.0, 1e-5).exp();
    // β = 1 gives ln(1/γ).
    up((1.0 + shape) * at(curve, beta).min(log_inverse), 16.0)
}
