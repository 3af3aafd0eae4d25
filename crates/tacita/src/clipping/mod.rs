//! From norms to clip factors.

mod clipper;
mod grouping;
mod rule;

pub(crate) use clipper::Clipper;
pub use grouping::{Grouping, Groups};
pub use rule::ClipRule;
