//! From norms to clip factors.

mod grouping;
mod rule;

pub use grouping::{Grouping, Groups};
pub use rule::ClipRule;
pub(crate) use rule::direction_factors;
