//! Numbers the distinct indices of one sample.

/// Numbers the indices of one sample after another, each in order of appearance.
///
/// An index looks itself up in a table of four bytes per row; an entry counts only if it is not older
/// than the sample, so nothing is cleared between samples. For 256 of 10 000 rows this takes an eighth
/// of the time of sorting them.
pub(crate) struct Distinct {
    /// `base` + number of the index, or less than `base` if this sample has not met it.
    entries: Vec<u32>,
    base: u32,
    count: u32,
}

impl Distinct {
    /// For indices below `bound`.
    pub(crate) fn new(bound: usize) -> Self {
        Self {
            entries: vec![0; bound],
            base: 1,
            count: 0,
        }
    }

    /// Forgets all indices.
    pub(crate) fn clear(&mut self) {
        // Half the range is left for the next sample's numbers.
        if self.base > u32::MAX / 2 {
            self.entries.fill(0);
            self.base = 1;
        } else {
            self.base += self.count;
        }
        self.count = 0;
    }

    /// How many indices this sample has.
    pub(crate) fn count(&self) -> usize {
        self.count as usize
    }

    /// The number of `index`, which is the next free one if it is new.
    #[inline(always)]
    pub(crate) fn number(&mut self, index: usize) -> usize {
        let entry = &mut self.entries[index];
        if *entry < self.base {
            *entry = self.base + self.count;
            self.count += 1;
        }
        (*entry - self.base) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_start_anew_with_each_sample_even_when_they_run_out() {
        let mut distinct = Distinct::new(5);
        for base in [1, u32::MAX / 2, u32::MAX / 2 + 1] {
            distinct.base = base;
            distinct.clear();
            for _ in 0..3 {
                let numbers: Vec<usize> = [4, 2, 4, 0, 2].map(|i| distinct.number(i)).into();
                assert_eq!(numbers, [0, 1, 0, 2, 1]);
                assert_eq!(distinct.count(), 3);
                distinct.clear();
            }
        }
    }
}
