//! The size of a run, and bounds as text.

use crate::border::detached;
use pyo3::prelude::*;
use tacita_accounting::decimal::{Rounding, decimal};
use tacita_accounting::{Length, RunSize};

/// Powers of ten that are written out in full.
const WRITTEN_OUT: std::ops::Range<i32> = -4..7;

/// The number of steps of so many passes over the records.
#[pyfunction]
pub fn steps_of_epochs(py: Python<'_>, records: f64, batch: f64, epochs: f64) -> PyResult<u64> {
    detached(py, || {
        RunSize::new(records, batch, Length::Epochs(epochs)).map(RunSize::steps)
    })
}

/// A number in so many significant digits as it would be typed, not below or not above it.
#[pyfunction]
pub fn rounded(value: f64, digits: i32, upwards: bool) -> String {
    let rounding = match upwards {
        true => Rounding::Up,
        false => Rounding::Down,
    };
    match decimal(value, digits, rounding, WRITTEN_OUT) {
        None => value.to_string(),
        Some((text, 0)) => text,
        Some((text, exponent)) => format!("{text}e{exponent}"),
    }
}
