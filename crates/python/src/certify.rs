//! Certificates for histories of other libraries.

use crate::border::detached;
use crate::errors::{Class, Failure};
use pyo3::prelude::*;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::path::PathBuf;
use tacita_certify::{Claims, History, HistoryError};

/// The certificate of a history in JSON: as JSON, and as text.
#[pyfunction]
pub fn certify(py: Python<'_>, history: &str) -> PyResult<(String, String)> {
    detached(py, || {
        certificate(&tacita_certify::read(history)?, &Claims::default())
    })
}

/// The certificate of the history in a file.
#[pyfunction]
pub fn certify_file(
    py: Python<'_>,
    path: PathBuf,
    epsilon: Option<f64>,
    delta: Option<f64>,
    batches: Option<&str>,
    divisor: Option<&str>,
) -> PyResult<(String, String)> {
    detached(py, || {
        let claims = Claims {
            epsilon,
            delta,
            batches: named(batches)?,
            divisor: named(divisor)?,
        };
        certificate(&tacita_certify::read_file(&path)?, &claims)
    })
}

fn certificate(history: &History, claims: &Claims) -> Result<(String, String), Failure> {
    let certificate = tacita_certify::certify(history, claims)?;
    Ok((certificate.to_json().to_string(), certificate.to_string()))
}

/// A choice by its name.
fn named<T: DeserializeOwned>(name: Option<&str>) -> Result<Option<T>, Failure> {
    let read = |name: &str| serde_json::from_value(Value::from(name));
    (name.map(read).transpose()).map_err(|error| Failure::new(Class::Argument, error.to_string()))
}

impl From<HistoryError> for Failure {
    fn from(error: HistoryError) -> Self {
        match error {
            HistoryError::Account(error) => error.into(),
            HistoryError::Ledger(error) => error.into(),
            HistoryError::NoDelta => Self::new(Class::Argument, error.to_string()),
            error => Self::new(Class::History, error.to_string()),
        }
    }
}
