//! Tacita: differentially private deep learning. Start reading at `session`.

mod chacha;
pub mod clipping;
pub mod gradient;
mod keys;
pub mod layers;
pub mod noise;
mod parameters;
mod pass;
#[allow(dead_code)] // until the session draws
mod sampling;
pub mod tape;
pub mod testkit;

pub use keys::{KeyError, Keys};
pub use parameters::{CoverageError, Parameter, Parameters};
pub use pass::PassError;
pub use sampling::{Sample, SamplingError};
