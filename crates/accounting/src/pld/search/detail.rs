//! Which kinds of rounds are looked at to approximate the composed loss.

use super::approximate_loss::{ComposedLoss, RoundLoss};
use crate::effort::Effort;
use crate::pld::proof::{Direction, RoundKind, Rounds, Side};

/// Kinds of rounds looked at first.
const SAMPLED_KINDS: usize = 24;
/// Kinds looked at if the window chosen from those has proved too short.
const MOST_KINDS: usize = 500;

/// How closely the rounds are looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Detail {
    /// A few kinds stand for their neighbours: quick, and enough for most ledgers.
    Sample,
    /// Hundreds of kinds, each standing for noisier ones only. High moments of the loss are those
    /// of the least noisy rounds, which a sample may pass over.
    Close,
}

impl Detail {
    /// A closer look would see more of these rounds.
    pub(super) fn misses_some_of(self, rounds: &Rounds) -> bool {
        self == Self::Sample && rounds.kinds.len() > SAMPLED_KINDS
    }
}

/// The approximate loss of all rounds; none if that is more work than is left.
pub(super) fn approximate_loss(
    rounds: &Rounds,
    direction: Direction,
    tail: f64,
    detail: Detail,
    effort: &Effort,
) -> Option<ComposedLoss> {
    effort.spend(rounds.work())?;
    let look = |chunk: &[RoundKind], chosen: &RoundKind| {
        let times: f64 = chunk.iter().map(|kind| kind.times as f64).sum();
        let pair = chosen.pair(Side::Upper, rounds.records);
        effort.spend(3.0 * pair.work())?;
        Some((times, RoundLoss::new(&pair, direction, tail, effort)?))
    };
    let looked_at = match detail {
        Detail::Sample => {
            let stride = rounds.kinds.len().div_ceil(SAMPLED_KINDS).max(1);
            (rounds.kinds.chunks(stride))
                .map(|chunk| look(chunk, &chunk[chunk.len() / 2]))
                .collect::<Option<Vec<_>>>()?
        }
        Detail::Close => {
            let limited = rounds.limited(Side::Upper);
            let stride = limited.kinds.len().div_ceil(MOST_KINDS).max(1);
            (limited.by_rate())
                .flat_map(|alike| alike.chunks(stride))
                // Sorted by noise, so the first of a chunk has the least.
                .map(|chunk| look(chunk, &chunk[0]))
                .collect::<Option<Vec<_>>>()?
        }
    };
    Some(ComposedLoss::new(looked_at))
}
