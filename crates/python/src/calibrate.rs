//! The least noise for a budget, and the most steps.

use crate::border::detached;
use crate::errors::Failure;
use crate::ledger::{Ends, Ledger, accountant_named, ends};
use pyo3::prelude::*;
use tacita_accounting::calibrate::{self, Budget, QueryNoise, Shape};
use tacita_accounting::{AccountError, Round, Sampling};

/// The smallest scale of a schedule that keeps the budget after what was spent: the scale, the ends of ε, and the ledger
/// of all of it. `shape` holds the relative noise of each step; without it noise is constant, or falls as μ grows.
#[pyfunction]
#[allow(clippy::too_many_arguments)] // The package names them.
pub fn smallest_noise(
    py: Python<'_>,
    spent: &Ledger,
    rate: f64,
    steps: u64,
    epsilon: f64,
    delta: f64,
    accountant: &str,
    growing_mu: Option<f64>,
    shape: Option<Vec<f64>>,
    side_noise: Option<f64>,
    side_increase: Option<f64>,
) -> PyResult<(f64, Ends, Ledger)> {
    let spent = spent.now();
    detached(py, || {
        let budget = Budget::new(epsilon, delta)?;
        let sampling = Sampling::Poisson { rate };
        let mut rounds = match (growing_mu, shape) {
            (_, Some(table)) => (table.into_iter()).fold(Shape::new(), |shape, relative| {
                shape.then(sampling, QueryNoise::Scaled(relative), 1)
            }),
            (Some(growth), None) => Shape::growing_mu(sampling, steps, growth)?,
            (None, None) => Shape::constant(sampling, steps),
        };
        if let Some(share) = side_increase {
            rounds = rounds.with_noise_increase(share)?;
        }
        if let Some(noise_multiplier) = side_noise {
            rounds = rounds.with_side_query(noise_multiplier);
        }
        let shape = Shape::after(&spent).followed_by(&rounds);
        let accountant = accountant_named(accountant)?;
        let found = calibrate::smallest_noise(&shape, budget, accountant.as_ref())?;
        let ledger = Ledger::from(found.ledger);
        Ok::<_, Failure>((found.noise_multiplier, ends(found.epsilon)?, ledger))
    })
}

/// The most steps of these noise multipliers that keep the budget after what was spent.
#[pyfunction]
pub fn most_steps(
    py: Python<'_>,
    spent: &Ledger,
    rate: f64,
    noise_multipliers: Vec<f64>,
    epsilon: f64,
    delta: f64,
    accountant: &str,
) -> PyResult<u64> {
    let spent = spent.now();
    detached(py, || {
        let round = Round::new(Sampling::Poisson { rate }, noise_multipliers)
            .map_err(AccountError::from)?;
        let budget = Budget::new(epsilon, delta)?;
        let accountant = accountant_named(accountant)?;
        let steps = calibrate::most_steps(&spent, &round, budget, accountant.as_ref())?;
        Ok::<_, Failure>(steps)
    })
}
