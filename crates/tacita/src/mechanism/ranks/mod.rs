//! Several processes that train one model together, each on its own records.
//!
//! ```text
//! every rank     draws with the run's key, clips its own records, sums them as whole numbers
//! all ranks      agree that none of them failed, and add their sums on the first
//! first rank     writes the ledger, then draws noise and tells everyone the noisy values
//! ```
//!
//! A *rank* is one of them, numbered from 0; the first is rank 0. Only the first has the key of the noise, the ledger and
//! the sum over all ranks. Sums are whole numbers on a public grid, so their total is that of one process, bit by bit,
//! whatever the number of ranks and the order in which they are added: `PROOF.md`, "Several machines".
//!
//! | file | what it is |
//! |---|---|
//! | `mod.rs` | what is asked of ranks, and what the engine makes of it |
//! | `threads.rs` | ranks that are threads of one process |
//!
//! Ranks that are processes of MPI are in the program (`crates/cli/src/ranks/mpi.rs`): this crate needs no MPI.

mod threads;

pub use threads::in_threads;

use std::fmt::Debug;
use thiserror::Error;

/// Why ranks could not work together.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum RanksError {
    /// Another rank reported an error; it says which.
    #[error(
        "another rank of the run failed and said why; all ranks stop, and nothing was released by this round"
    )]
    OtherRank,
    /// A rank is gone, or the network is.
    #[error(
        "another rank of the run is gone ({what}); what the ledger holds stays spent, and `tacita resume` continues with \
         any number of ranks"
    )]
    Lost {
        /// What did not arrive.
        what: String,
    },
    /// Ranks that were started differently.
    #[error(
        "the ranks of the run have different {what}; start all of them with the same program, settings and data. Nothing \
         was released"
    )]
    Differ {
        /// What differs.
        what: &'static str,
    },
    /// Something that only one process may do.
    #[error("{what} works on one rank only, and there are {size}; nothing was released")]
    OneRankOnly {
        /// What was asked for.
        what: &'static str,
        /// How many there are.
        size: usize,
    },
}

/// The processes of a run, as one of them sees them.
///
/// All ranks call the same methods in the same order, like the collective operations of MPI. Links between them must be
/// trusted or encrypted: what they carry is as private as the records.
pub trait Ranks: Debug + Send + Sync {
    /// Which of them this one is, from 0.
    fn rank(&self) -> usize;

    /// How many there are.
    fn size(&self) -> usize;

    /// Adds up whole numbers over all ranks. The first gets the sums; what the others have after it means nothing.
    fn sum_to_first(&self, values: &mut [i64]) -> Result<(), RanksError>;

    /// Replaces the bytes of every rank by those of the first.
    fn receive_from_first(&self, bytes: &mut Vec<u8>) -> Result<(), RanksError>;

    /// Whether this holds on every rank.
    fn all(&self, fine: bool) -> Result<bool, RanksError>;
}

/// One process, which is all there are: costs nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct OneRank;

impl Ranks for OneRank {
    fn rank(&self) -> usize {
        0
    }

    fn size(&self) -> usize {
        1
    }

    fn sum_to_first(&self, _: &mut [i64]) -> Result<(), RanksError> {
        Ok(())
    }

    fn receive_from_first(&self, _: &mut Vec<u8>) -> Result<(), RanksError> {
        Ok(())
    }

    fn all(&self, fine: bool) -> Result<bool, RanksError> {
        Ok(fine)
    }
}

impl dyn Ranks + '_ {
    /// Whether this is rank 0.
    pub fn is_first(&self) -> bool {
        self.rank() == 0
    }

    /// Whether there is no other rank.
    pub fn is_alone(&self) -> bool {
        self.size() == 1
    }

    /// Refuses something that only one process may do.
    pub fn only_alone(&self, what: &'static str) -> Result<(), RanksError> {
        match self.is_alone() {
            true => Ok(()),
            false => Err(RanksError::OneRankOnly {
                what,
                size: self.size(),
            }),
        }
    }

    /// The result of this rank if none of the ranks failed. Those that did not fail learn that another did.
    pub fn agreed<T, E: From<RanksError>>(&self, result: Result<T, E>) -> Result<T, E> {
        let all = self.all(result.is_ok())?;
        match result {
            Ok(_) if !all => Err(RanksError::OtherRank.into()),
            result => result,
        }
    }

    /// What the first rank makes, on all of them; none of them has it if the first fails.
    pub fn bytes_of_first<E: From<RanksError>>(
        &self,
        make: impl FnOnce() -> Result<Vec<u8>, E>,
    ) -> Result<Vec<u8>, E> {
        let made = match self.is_first() {
            true => make(),
            false => Ok(Vec::new()),
        };
        let mut bytes = self.agreed(made)?;
        self.receive_from_first(&mut bytes)?;
        Ok(bytes)
    }

    /// Refuses ranks that do not have the same bytes.
    pub fn same(&self, what: &'static str, bytes: &[u8]) -> Result<(), RanksError> {
        let mut of_first = bytes.to_vec();
        self.receive_from_first(&mut of_first)?;
        match self.all(of_first == bytes)? {
            true => Ok(()),
            false => Err(RanksError::Differ { what }),
        }
    }

    /// The number in the whole data set of a record of this rank: its records are numbered in turn with those of the
    /// others, so that adding a record to one rank renumbers none of another.
    pub fn number_of(&self, own: usize) -> usize {
        own * self.size() + self.rank()
    }

    /// The record of this rank with that number in the whole data set, if it is one of its own.
    pub fn own(&self, number: usize) -> Option<usize> {
        (number % self.size() == self.rank()).then_some(number / self.size())
    }

    /// Those of the items of a whole data set that are of this rank.
    pub fn share_of<I: Iterator>(&self, items: I) -> impl Iterator<Item = I::Item> + use<I> {
        items.skip(self.rank()).step_by(self.size())
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use std::sync::Arc;

    /// What each of `size` ranks returns.
    fn on_ranks<T: Send + 'static>(
        size: usize,
        work: impl Fn(&dyn Ranks) -> T + Send + Sync + 'static,
    ) -> Vec<T> {
        let work = Arc::new(work);
        let threads = in_threads(size).into_iter().map(|rank| {
            let work = work.clone();
            std::thread::spawn(move || work(&*rank))
        });
        let threads: Vec<_> = threads.collect();
        threads
            .into_iter()
            .map(|thread| thread.join().unwrap())
            .collect()
    }

    #[test]
    fn every_record_is_of_exactly_one_rank() {
        for size in 1..5 {
            let owners = on_ranks(size, |ranks| {
                (0..30)
                    .filter_map(|n| ranks.own(n).map(|own| (n, own)))
                    .collect::<Vec<_>>()
            });
            let mut numbers: Vec<usize> = owners.iter().flatten().map(|(n, _)| *n).collect();
            numbers.sort_unstable();
            assert_eq!(numbers, (0..30).collect::<Vec<_>>());
            let back = on_ranks(size, |ranks| {
                (0..10).all(|own| ranks.own(ranks.number_of(own)) == Some(own))
            });
            assert!(back.into_iter().all(|holds| holds));
            let shares = on_ranks(size, |ranks| ranks.share_of(0..30).collect::<Vec<_>>());
            for (share, owner) in shares.iter().zip(&owners) {
                assert_eq!(*share, owner.iter().map(|(n, _)| *n).collect::<Vec<_>>());
            }
        }
    }

    #[test]
    fn sums_and_bytes_are_those_of_all_and_of_the_first() {
        for size in 1..5 {
            let results = on_ranks(size, |ranks| {
                let mut values = [1, i64::from(u32::MAX) * ranks.rank() as i64, -1];
                ranks.sum_to_first(&mut values).unwrap();
                let mut bytes = vec![ranks.rank() as u8; 3 + ranks.rank()];
                ranks.receive_from_first(&mut bytes).unwrap();
                (values, bytes)
            });
            let all = size as i64;
            let numbers = all * (all - 1) / 2;
            assert_eq!(results[0].0, [all, i64::from(u32::MAX) * numbers, -all]);
            assert!(results.iter().all(|(_, bytes)| *bytes == [0, 0, 0]));
        }
    }

    #[test]
    fn a_failure_of_one_rank_is_one_of_all() {
        for size in 1..5 {
            for failing in 0..size {
                let results = on_ranks(size, move |ranks| {
                    let own = match ranks.rank() == failing {
                        true => Err(RanksError::Lost { what: "own".into() }),
                        false => Ok(()),
                    };
                    match ranks.agreed(own) {
                        Err(RanksError::Lost { .. }) => 1,
                        Err(RanksError::OtherRank) => 2,
                        _ => 3,
                    }
                });
                let expected = (0..size).map(|rank| if rank == failing { 1 } else { 2 });
                assert_eq!(results, expected.collect::<Vec<_>>());
            }
        }
    }

    #[test]
    fn ranks_that_differ_are_refused_on_all_of_them() {
        let same = on_ranks(3, |ranks| ranks.same("plans", &[7]).is_ok());
        assert_eq!(same, [true; 3]);
        let differ = on_ranks(3, |ranks| {
            ranks.same("plans", &[ranks.rank() as u8 / 2]).is_ok()
        });
        assert_eq!(differ, [false; 3]);
    }

    #[test]
    fn a_rank_that_is_gone_ends_the_others() {
        for gone in 0..3 {
            let results = on_ranks(3, move |ranks| {
                if ranks.rank() == gone {
                    return true;
                }
                // A rank may learn of it in this collective operation or in the next.
                let mut sums = [0];
                let summed = ranks.sum_to_first(&mut sums).and_then(|()| ranks.all(true));
                summed.is_err()
            });
            assert_eq!(results, [true; 3]);
        }
    }
}
