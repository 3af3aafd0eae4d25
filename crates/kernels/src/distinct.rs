//! Numbers the distinct indices of one sample.

/// A hash table of at most `capacity` indices, each numbered in order of appearance.
///
/// Its size follows the sample and not the table of rows, so it stays in the nearest cache.
pub(crate) struct Distinct {
    /// Number of the index that lives here, or `EMPTY`.
    slots: Vec<u32>,
    indices: Vec<i64>,
    shift: u32,
}

const EMPTY: u32 = u32::MAX;

impl Distinct {
    pub(crate) fn new(capacity: usize) -> Self {
        // At most an eighth full, so that a search seldom meets another index.
        let size = (8 * capacity).next_power_of_two().max(2);
        Self {
            slots: vec![EMPTY; size],
            indices: Vec::with_capacity(capacity),
            shift: 64 - size.trailing_zeros(),
        }
    }

    pub(crate) fn clear(&mut self) {
        self.slots.fill(EMPTY);
        self.indices.clear();
    }

    pub(crate) fn count(&self) -> usize {
        self.indices.len()
    }

    /// The number of `index`, which is the next free one if it is new.
    #[inline(always)]
    pub(crate) fn slot(&mut self, index: i64) -> usize {
        // Multiplicative hashing by 2⁶⁴/golden ratio (Knuth, The Art of Computer Programming 3, §6.4).
        let hash = (index as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> self.shift;
        let mut at = hash as usize;
        loop {
            match self.slots[at] {
                EMPTY => {
                    let number = self.indices.len();
                    self.slots[at] = number as u32;
                    self.indices.push(index);
                    return number;
                }
                number if self.indices[number as usize] == index => return number as usize,
                _ => at = (at + 1) & (self.slots.len() - 1),
            }
        }
    }
}
