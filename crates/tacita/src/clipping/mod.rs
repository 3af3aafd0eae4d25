//! From norms to clip factors.

mod clipper;
mod grouping;
mod online;
mod quantile;
mod rounding;
mod rule;
mod threshold;
mod tracker;

pub(crate) use clipper::{ClippedSums, Clipper, SideQuery};
pub use grouping::{Grouping, GroupingError, Groups, NamedGroup};
pub(crate) use online::sign;
pub use online::{DirectionNoise, Online, OnlineRule};
pub use quantile::Quantile;
pub(crate) use rounding::{MOST_SHARE, largest_share};
#[cfg(test)]
pub(crate) use rounding::{Room, room};
pub use rule::ClipRule;
pub use threshold::Threshold;
pub use tracker::ThresholdState;
pub(crate) use tracker::{RANGE, Released, ThresholdTracker, products};
