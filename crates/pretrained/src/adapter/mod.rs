//! What of a network is trained.

mod choice;
mod layers;
mod projection;

pub use choice::Adapt;
pub use layers::{Kind, Layer, Network, Place};
pub use projection::{LowRank, Projection};
