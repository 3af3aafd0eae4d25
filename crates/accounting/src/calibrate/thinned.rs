//! A shape of fewer kinds of rounds that costs about as much: it steers a search, and proves nothing.

use super::shape::{QueryNoise, Shape, ShapedRound};
use crate::ledger::{LedgerError, Round};

/// Kinds of rounds kept, of those that were made before and of those to come.
const KINDS: usize = 256;

impl Shape {
    /// A shape of few kinds of rounds.
    pub(super) fn thinned(&self) -> Result<Self, LedgerError> {
        let mut spent = self.spent.prefix(0);
        for round in thinned(self.spent.rounds(), kind_of_round, |round| round.times) {
            spent.push(round.0.clone().times(round.1))?;
        }
        let rounds = thinned(&self.rounds, kind_of_shape, |round| round.2)
            .map(|((sampling, queries, _), times)| (*sampling, queries.clone(), times))
            .collect();
        Ok(Self { spent, rounds })
    }
}

/// Rounds of one kind are compared by their noise.
fn kind_of_round(round: &Round) -> (String, f64) {
    let kind = format!("{:?} {}", round.sampling, round.noise_multipliers.len());
    (kind, round.effective_noise_multiplier())
}

fn kind_of_shape((sampling, queries, _): &ShapedRound) -> (String, f64) {
    let kind = format!("{sampling:?} {}", queries.len());
    let noise = queries.first().map_or(0.0, |query| match query {
        QueryNoise::Scaled(noise) | QueryNoise::Fixed(noise) => *noise,
    });
    (kind, noise)
}

/// The middle one of each run of neighbouring noise, and how many rounds it stands for.
fn thinned<R>(
    rounds: &[R],
    kind: impl Fn(&R) -> (String, f64),
    times: impl Fn(&R) -> u64,
) -> impl Iterator<Item = (&R, u64)> {
    let mut sorted: Vec<(String, f64, &R)> = (rounds.iter())
        .map(|round| {
            let (kind, noise) = kind(round);
            (kind, noise, round)
        })
        .collect();
    sorted.sort_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)));
    let length = rounds.len().div_ceil(KINDS).max(1);
    let mut kept = Vec::new();
    for alike in sorted.chunk_by(|a, b| a.0 == b.0) {
        for run in alike.chunks(length) {
            let all = run.iter().map(|(_, _, round)| times(round)).sum();
            kept.push((run[run.len() / 2].2, all));
        }
    }
    kept.into_iter()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::{Accountant, Ledger, Pld, Sampling};

    #[test]
    fn a_thinned_shape_costs_about_as_much() {
        let sampling = Sampling::Poisson { rate: 0.01 };
        let growing = Shape::growing_mu(sampling, 5000, 4.0).unwrap();
        let spent = growing.ledger(20.0).unwrap();
        let shape = Shape::after(&spent).followed_by(&growing);
        let (all, few) = (shape.ledger(8.0), shape.thinned().unwrap().ledger(8.0));
        let (all, few): (Ledger, Ledger) = (all.unwrap(), few.unwrap());
        assert!(few.rounds().len() <= 2 * KINDS && few.rounds_made() == all.rounds_made());
        let pld = Pld::default();
        let cost = |ledger| pld.epsilon(ledger, 1e-5).unwrap().upper_bound().unwrap();
        let (all, few) = (cost(&all), cost(&few));
        assert!((few / all - 1.0).abs() < 1e-3, "{few} {all}");
    }
}
