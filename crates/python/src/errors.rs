//! From Rust's errors to the exceptions of `tacita.errors`.

use crate::border::detached;
use pyo3::prelude::*;
use pyo3::types::PyType;
use tacita_accounting::{AccountError, LedgerError, RunSizeError};

/// A class of `tacita.errors`. They are defined in Python, where one may be both a `TacitaError` and a `ValueError`.
#[derive(Debug, Clone, Copy)]
pub enum Class {
    /// An argument outside its range.
    Argument,
    /// A round or a relation for which there is no proof.
    Unsupported,
    /// A budget that cannot be kept.
    Budget,
    /// A ledger that cannot be read.
    Ledger,
    /// A history of another library that cannot be read.
    History,
    /// A defect of this program.
    Internal,
}

/// Why something failed, ready to become an exception.
#[derive(Debug)]
pub struct Failure {
    class: Class,
    message: String,
}

impl Failure {
    /// A failure with this message.
    pub fn new(class: Class, message: impl Into<String>) -> Self {
        let message = message.into();
        Self { class, message }
    }

    /// The exception. If even its class cannot be had, the error that says so.
    pub fn into_exception(self, py: Python<'_>) -> PyErr {
        let name = match self.class {
            Class::Argument => "ArgumentError",
            Class::Unsupported => "UnsupportedError",
            Class::Budget => "BudgetError",
            Class::Ledger => "LedgerError",
            Class::History => "HistoryError",
            Class::Internal => "InternalError",
        };
        let class = (py.import("tacita.errors"))
            .and_then(|module| module.getattr(name))
            .and_then(|class| Ok(class.cast_into::<PyType>()?));
        match class {
            Ok(class) => PyErr::from_type(class, self.message),
            Err(error) => error,
        }
    }
}

impl From<AccountError> for Failure {
    fn from(error: AccountError) -> Self {
        let class = match error {
            AccountError::Ledger(error) => return error.into(),
            AccountError::Unsupported { .. } => Class::Unsupported,
            AccountError::NothingLeft { .. }
            | AccountError::OutOfReach { .. }
            | AccountError::TooMuchWork { .. } => Class::Budget,
            _ => Class::Argument,
        };
        Self::new(class, error.to_string())
    }
}

impl From<RunSizeError> for Failure {
    fn from(error: RunSizeError) -> Self {
        Self::new(Class::Argument, error.to_string())
    }
}

impl From<LedgerError> for Failure {
    fn from(error: LedgerError) -> Self {
        let class = match error {
            LedgerError::Json(_) | LedgerError::Empty | LedgerError::TooManyRounds { .. } => {
                Class::Ledger
            }
            _ => Class::Argument,
        };
        Self::new(class, error.to_string())
    }
}

/// Panics inside Rust, so that the test suite sees what a caller would.
#[pyfunction]
pub fn panic_for_tests(py: Python<'_>) -> PyResult<()> {
    detached(py, || -> Result<(), Failure> { panic!("on purpose") })
}
