//! Tacita.

mod chacha;
mod keys;
pub mod noise;
#[allow(dead_code)] // until the session draws
mod sampling;

pub use keys::{KeyError, Keys};
pub use sampling::{Sample, SamplingError};
