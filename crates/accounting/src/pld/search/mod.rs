//! What only chooses: where to look for ε, and how finely.
//!
//! Nothing here is certified and nothing needs to be. The choices made here, from approximate cumulants
//! (`approximate_loss`) of some of the rounds (`detail`) to a window (`outlook`) and a number of points
//! (`resolution`), go to [`certified_curve`](super::proof::certified_curve); poor ones give a
//! wide bracket, never a wrong one. What is returned are the brackets that its curves have narrowed.

mod approximate_loss;
mod cells;
mod delta;
mod detail;
mod epsilon;
mod one_direction;
mod outlook;
mod resolution;

use super::proof::{DeltaBracket, Direction, EpsilonBracket, Rounds};
use crate::effort::Effort;
use detail::Detail;
use one_direction::OneDirection;

/// Part of the work that the first direction may take.
const FIRST_DIRECTION: f64 = 0.75;
/// Largest ordinary loss of a sampled round that is composed: ε would be as large.
const MOST_LOSS: f64 = 2e4;

/// Brackets of ε at δ, of removing and of adding a unit; their upper ends are infinite where more work would
/// be needed than is left.
pub(super) fn epsilon(
    rounds: &Rounds,
    delta: f64,
    relative_width: f64,
    effort: &Effort,
) -> (EpsilonBracket, EpsilonBracket) {
    let unknown = |direction| EpsilonBracket::unknown(direction, delta);
    if rounds.largest_sampled_loss() > MOST_LOSS {
        return (unknown(Direction::Remove), unknown(Direction::Add));
    }
    let removal = effort.with_part(FIRST_DIRECTION * effort.left(), |effort| {
        let search = OneDirection::new(rounds, Direction::Remove, delta, Detail::Sample, effort)?;
        Some(search.epsilon(delta, relative_width, 0.0))
    });
    let Some(removal) = removal.filter(|removal| removal.upper().is_finite()) else {
        let removal = removal.unwrap_or(unknown(Direction::Remove));
        return (removal, unknown(Direction::Add));
    };
    // The other direction is seldom the larger one, which may be known without looking at all.
    let known = EpsilonBracket::by_largest_loss_of_addition(rounds, delta);
    if known.upper() <= removal.upper() {
        return (removal, known);
    }
    let search = OneDirection::new(rounds, Direction::Add, delta, Detail::Sample, effort);
    let Some(search) = search else {
        return (removal, unknown(Direction::Add));
    };
    let below = search.proved_at_most(removal.upper(), delta);
    if below.upper() <= removal.upper() {
        return (removal, below);
    }
    let addition = search.epsilon(delta, relative_width, removal.lower());
    (removal, addition)
}

/// Brackets of δ at several ε, of removing and of adding a unit.
pub(super) fn deltas(
    rounds: &Rounds,
    epsilons: &[f64],
    relative_width: f64,
    effort: &Effort,
) -> Vec<(DeltaBracket, DeltaBracket)> {
    let of = |direction: Direction, share: f64| {
        let search = |detail| {
            effort.with_part(share * effort.left(), |effort| {
                let search =
                    OneDirection::looking_for_deltas(rounds, direction, epsilons, detail, effort)?;
                search.deltas(epsilons, relative_width)
            })
        };
        let unknown = |&epsilon: &f64| DeltaBracket::unknown(direction, epsilon);
        (rounds.largest_sampled_loss() <= MOST_LOSS)
            .then(|| [Detail::Sample, Detail::Close].into_iter().find_map(search))
            .flatten()
            .unwrap_or_else(|| epsilons.iter().map(unknown).collect())
    };
    let removal = of(Direction::Remove, FIRST_DIRECTION);
    let addition = of(Direction::Add, 1.0);
    removal.into_iter().zip(addition).collect()
}
