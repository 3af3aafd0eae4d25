//! Tacita.

mod chacha;
mod keys;
pub mod noise;

pub use keys::{KeyError, Keys};
