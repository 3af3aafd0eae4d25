//! The border between Python and Rust: work is done without holding the interpreter, and no panic crosses.

use crate::errors::{Class, Failure};
use pyo3::prelude::*;
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Does the work while other Python threads run.
pub fn detached<T, E>(py: Python<'_>, work: impl FnOnce() -> Result<T, E> + Send) -> PyResult<T>
where
    T: Send,
    E: Into<Failure> + Send,
{
    // What the work borrowed mutably is its own, so nothing half-changed is left to be seen.
    let outcome = py.detach(|| catch_unwind(AssertUnwindSafe(work)));
    let failure = match outcome {
        Ok(Ok(value)) => return Ok(value),
        Ok(Err(error)) => error.into(),
        Err(panic) => Failure::new(
            Class::Internal,
            format!(
                "a defect of tacita, not of your call: {}; nothing was released",
                said_by(panic.as_ref())
            ),
        ),
    };
    Err(failure.into_exception(py))
}

/// The message of a panic.
fn said_by(panic: &(dyn Any + Send)) -> &str {
    if let Some(text) = panic.downcast_ref::<&str>() {
        return text;
    }
    (panic.downcast_ref::<String>()).map_or("a panic without a message", String::as_str)
}
