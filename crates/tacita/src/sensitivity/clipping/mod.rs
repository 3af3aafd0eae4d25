//! From norms to clip factors.

mod clipper;
mod online;
mod over_ranks;
mod quantile;
mod room;
mod rule;
mod threshold;
mod tracker;

pub use crate::sensitivity::grouping::{Grouping, GroupingError, Groups, NamedGroup};
pub(crate) use clipper::{
    ClippedSums, Clipper, FiniteGradients, RoundingsByRecords, SideQuery, SideSums, UsualBatch,
};
pub(crate) use online::sign;
pub use online::{DirectionNoise, Online, OnlineRule};
pub(crate) use over_ranks::StepLayout;
pub use quantile::Quantile;
pub(crate) use room::{MOST_SHARE, largest_share};
#[cfg(test)]
pub(crate) use room::{Room, room};
pub use rule::ClipRule;
pub use threshold::Threshold;
pub use tracker::ThresholdState;
pub(crate) use tracker::{RANGE, Released, ThresholdTracker, products};
