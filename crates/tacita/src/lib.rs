//! Tacita: differentially private deep learning. Start reading at `session`.

pub mod clipping;
pub mod gradient;
pub mod layers;
mod parameters;
mod pass;
pub mod tape;
pub mod testkit;

pub use parameters::{CoverageError, Parameter, Parameters};
pub use pass::PassError;
