//! What is proved of shuffled batches.
//!
//! A run of T steps over shuffled batches of a share q of the records makes ⌈qT⌉ passes at most, and a record is in one
//! batch of a pass. Which one does not depend on the records' values. Given the permutations, two data sets that differ
//! in the value of one record differ in at most ⌈qT⌉ sums, each by at most twice the threshold: a composition of as many
//! Gaussians of half the multiplier, at worst of the least noisy steps. A mixture over permutations reveals no more
//! (joint convexity). How many batches there are, and so the number of records, must be public.

use crate::history::HistoryError;
use tacita_accounting::{Ledger, Neighbours, Round, Sampling};

/// The sampled rounds of a ledger as passes over disjoint batches, under replace-one.
pub(crate) fn passes(ledger: &Ledger) -> Result<Ledger, HistoryError> {
    let refused = |why: &str| HistoryError::Event {
        name: "shuffled batches".to_string(),
        why: why.to_string(),
    };
    let mut shared_rate = None;
    let mut sampled: Vec<(f64, u64)> = Vec::new();
    let mut passes =
        Ledger::new(Neighbours::ReplaceOne).with_records_per_unit(ledger.records_per_unit())?;
    for round in ledger.rounds() {
        let noise = half(round.effective_noise_multiplier());
        match round.sampling {
            Sampling::Poisson { rate } if *shared_rate.get_or_insert(rate) == rate => {
                sampled.push((noise, round.times));
            }
            Sampling::Poisson { .. } => {
                return Err(refused("there is no proof for batches whose size changes"));
            }
            Sampling::Full {} => {
                passes.push(Round::new(round.sampling, vec![noise])?.times(round.times))?
            }
            Sampling::FixedSize { .. } | Sampling::Partition { .. } => {
                return Err(refused(
                    "the history says that batches were drawn otherwise",
                ));
            }
        }
    }
    let Some(rate) = shared_rate else {
        return Ok(passes);
    };
    // Batches of a pass, downwards: passes that are too short are too many.
    let batches = (rate.recip() * (1.0 + 1e-9)).floor().max(1.0) as u64;
    let steps: u64 = sampled.iter().map(|(_, times)| times).sum();
    let mut left = steps.div_ceil(batches);
    sampled.sort_by(|a, b| a.0.total_cmp(&b.0));
    for (noise, times) in sampled {
        let times = times.min(left);
        if times == 0 {
            break;
        }
        left -= times;
        passes.push(Round::new(Sampling::Partition { batches }, vec![noise])?.times(times))?;
    }
    Ok(passes)
}

/// Exact: a power of two.
fn half(noise: f64) -> f64 {
    0.5 * noise
}
