//! The records of one rank.

use burn::tensor::Device;
use tacita::ranks::Ranks;
use tacita::{ReadRecords, Records, Units, UnreadableRecords};

/// Every record of a data set whose number is one of this rank's; the others are never looked at.
pub(crate) struct Shard<'a, R> {
    records: &'a R,
    ranks: &'a dyn Ranks,
}

impl<'a, R: Records> Shard<'a, R> {
    /// The share of this rank.
    pub fn of(records: &'a R, ranks: &'a dyn Ranks) -> Self {
        Self { records, ranks }
    }

    /// The numbers of own records in the whole data set.
    fn numbers(&self, own: &[usize]) -> Vec<usize> {
        own.iter().map(|at| self.ranks.number_of(*at)).collect()
    }
}

impl<R: Records> Records for Shard<'_, R> {
    type Batch = R::Batch;

    fn count(&self) -> usize {
        // Those below the count among rank, rank + size, …
        let (rank, size) = (self.ranks.rank(), self.ranks.size());
        (self.records.count() + size - 1 - rank) / size
    }

    fn batch(&self, own: &[usize], device: &Device) -> R::Batch {
        self.records.batch(&self.numbers(own), device)
    }

    fn read(
        &self,
        own: &[usize],
        device: &Device,
    ) -> Result<ReadRecords<R::Batch>, UnreadableRecords> {
        self.records.read(&self.numbers(own), device)
    }

    fn read_ahead(&self, next: &mut dyn FnMut() -> Vec<usize>) {
        self.records.read_ahead(&mut || self.numbers(&next()));
    }

    fn weight(&self, own: usize) -> f32 {
        self.records.weight(self.ranks.number_of(own))
    }

    /// A run whose unit has several records is refused on several ranks.
    fn units(&self) -> Option<&Units> {
        self.records.units().filter(|_| self.ranks.is_alone())
    }

    fn synthetic(&self, seeds: &[u64], device: &Device) -> R::Batch {
        self.records.synthetic(seeds, device)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tacita::ranks::in_threads;

    /// Records whose rows are their numbers.
    struct Numbers(usize);

    impl Records for Numbers {
        type Batch = Vec<usize>;

        fn count(&self) -> usize {
            self.0
        }

        fn batch(&self, indices: &[usize], _: &Device) -> Vec<usize> {
            assert!(indices.iter().all(|index| *index < self.0));
            indices.to_vec()
        }

        fn weight(&self, index: usize) -> f32 {
            index as f32
        }

        fn synthetic(&self, _: &[u64], _: &Device) -> Vec<usize> {
            Vec::new()
        }
    }

    #[test]
    fn shards_have_every_record_once() {
        for size in 1..5 {
            for count in 0..12 {
                let mut all: Vec<usize> = Vec::new();
                for ranks in in_threads(size) {
                    let numbers = Numbers(count);
                    let shard = Shard::of(&numbers, &*ranks);
                    let own: Vec<usize> = (0..shard.count()).collect();
                    let batch = shard.batch(&own, &Device::default());
                    for (own, number) in own.iter().zip(&batch) {
                        assert_eq!(shard.weight(*own), *number as f32);
                    }
                    all.extend(batch);
                }
                all.sort_unstable();
                assert_eq!(all, (0..count).collect::<Vec<_>>(), "{size} ranks");
            }
        }
    }
}
