//! Which kinds of rounds are looked at to choose tilt and window.
//!
//! Nothing here is certified and nothing needs to be; a poor choice gives a wide bracket, never a
//! wrong one.

use super::pair::Direction;
use super::profile::{Profile, Schedule};
use super::steps::{Side, Step, Steps};
use crate::effort::Effort;

/// Kinds of rounds looked at first.
const SAMPLED_KINDS: usize = 24;
/// Kinds looked at if the window chosen from those has proved too short.
const MOST_KINDS: usize = 500;

/// How closely a schedule is looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Detail {
    /// A few kinds stand for their neighbours: quick, and enough for most schedules.
    Sample,
    /// Hundreds of kinds, each standing for noisier ones only. High moments of the loss are those
    /// of the least noisy rounds, which a sample may pass over.
    Close,
}

impl Detail {
    /// A closer look would see more of these rounds.
    pub(super) fn misses_some_of(self, steps: &Steps) -> bool {
        self == Self::Sample && steps.kinds.len() > SAMPLED_KINDS
    }
}

/// Approximate cumulants of a schedule; none if that is more work than is left.
pub(super) fn survey(
    steps: &Steps,
    direction: Direction,
    tail: f64,
    detail: Detail,
    effort: &Effort,
) -> Option<Schedule> {
    effort.spend(steps.work())?;
    let look = |chunk: &[Step], chosen: &Step| {
        let times: f64 = chunk.iter().map(|step| step.times as f64).sum();
        let pair = chosen.pair(Side::Upper, steps.records);
        effort.spend(3.0 * pair.work())?;
        Some((times, Profile::new(&pair, direction, tail, effort)?))
    };
    let rounds = match detail {
        Detail::Sample => {
            let stride = steps.kinds.len().div_ceil(SAMPLED_KINDS).max(1);
            (steps.kinds.chunks(stride))
                .map(|chunk| look(chunk, &chunk[chunk.len() / 2]))
                .collect::<Option<Vec<_>>>()?
        }
        Detail::Close => {
            let limited = steps.limited(Side::Upper);
            let stride = limited.kinds.len().div_ceil(MOST_KINDS).max(1);
            (limited.by_rate())
                .flat_map(|alike| alike.chunks(stride))
                // Sorted by noise, so the first of a chunk has the least.
                .map(|chunk| look(chunk, &chunk[0]))
                .collect::<Option<Vec<_>>>()?
        }
    };
    Some(Schedule::new(rounds))
}
