//! What of a network is trained.

mod apply;
mod choice;
mod layers;
mod learns;
mod projection;

pub use choice::Adapt;
pub use layers::{Kind, Layer, Network, Place};
pub use learns::check_learns;
pub use projection::{LowRank, Projection};
