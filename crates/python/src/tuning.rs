//! What choosing among runs costs, and μ of Gaussian differential privacy.

use crate::border::detached;
use crate::errors::{Class, Failure};
use crate::ledger::{Ends, Ledger, ends};
use pyo3::prelude::*;
use tacita_accounting as accounting;
use tacita_accounting::RandomRuns;

/// The ledger of all runs together.
#[pyfunction]
pub fn whole_grid(py: Python<'_>, runs: Vec<PyRef<'_, Ledger>>) -> PyResult<Ledger> {
    let runs: Vec<accounting::Ledger> = runs.iter().map(|run| (*run.now()).clone()).collect();
    detached(py, || accounting::whole_grid(&runs).map(Ledger::from))
}

/// ε of publishing the best of a random number of runs.
#[pyfunction]
pub fn best_of(
    py: Python<'_>,
    runs: Vec<PyRef<'_, Ledger>>,
    distribution: &str,
    mean: f64,
    shape: f64,
    delta: f64,
) -> PyResult<Ends> {
    let runs: Vec<accounting::Ledger> = runs.iter().map(|run| (*run.now()).clone()).collect();
    detached(py, || {
        let number = match distribution {
            "poisson" => RandomRuns::poisson(mean)?,
            "negative-binomial" => RandomRuns::negative_binomial(shape, mean)?,
            other => {
                let message = format!("unknown distribution of the number of runs: \"{other}\"");
                return Err(Failure::new(Class::Argument, message));
            }
        };
        ends(number.epsilon_of_any(&runs, delta)?)
    })
}

/// ε of μ-GDP, rounded up.
#[pyfunction]
pub fn epsilon_of_mu(py: Python<'_>, mu: f64, delta: f64) -> PyResult<f64> {
    detached(py, || accounting::epsilon_of_mu(mu, delta))
}

/// δ of μ-GDP, rounded up.
#[pyfunction]
pub fn delta_of_mu(py: Python<'_>, mu: f64, epsilon: f64) -> PyResult<f64> {
    detached(py, || accounting::delta_of_mu(mu, epsilon))
}

/// The largest μ of a budget.
#[pyfunction]
pub fn mu_of_budget(py: Python<'_>, epsilon: f64, delta: f64) -> PyResult<f64> {
    detached(py, || accounting::mu_of_budget(epsilon, delta))
}
