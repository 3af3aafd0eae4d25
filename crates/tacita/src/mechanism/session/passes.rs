//! How a draw is cut into passes over the model.
//!
//! On the CPU a record has the same bits in a batch of any size, so a pass has as many rows as there are
//! records. A GPU chooses kernels, and with them the order of additions, by the shapes of tensors. There every
//! pass of a run has one size, which is public; a draw that does not fill its last pass is filled up with rows
//! that count for nothing.

use crate::sensitivity::pass::PassRows;
use std::borrow::Cow;

/// The passes of every step of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Passes {
    most_rows: usize,
    usual_rows: usize,
    one_size: bool,
}

/// The records of one pass by their indices, in the order of its rows.
pub(super) struct Pass<'a> {
    pub indices: Cow<'a, [usize]>,
    pub rows: PassRows,
}

/// Standard deviations of the number of records that a pass of one size has room for. Fewer would often take
/// a second pass, more would fill up every one.
const ROOM: f64 = 2.0;

impl Passes {
    /// Passes of as many rows as records, `memory` at most.
    pub fn as_drawn(expected_batch: f64, memory: usize) -> Self {
        let memory = memory.max(1);
        // A draw hardly ever has more.
        let usually = (expected_batch + 4.0 * expected_batch.sqrt()).ceil() as usize + 1;
        Self {
            most_rows: memory,
            usual_rows: usually.min(memory),
            one_size: false,
        }
    }

    /// Passes of one size, `memory` at most: as few as hold most draws, and no larger than that takes.
    pub fn of_one_size(expected_batch: f64, rate: f64, memory: usize) -> Self {
        let deviation = (expected_batch * (1.0 - rate).max(0.0)).sqrt();
        let most_draws = (expected_batch + ROOM * deviation).ceil().max(1.0) as usize;
        let passes = most_draws.div_ceil(memory.max(1));
        let rows = most_draws.div_ceil(passes);
        Self {
            most_rows: rows,
            usual_rows: rows,
            one_size: true,
        }
    }

    /// Rows of a pass at most.
    pub fn most_rows(&self) -> usize {
        self.most_rows
    }

    /// Rows of every pass, if all have one size.
    pub fn one_size(&self) -> Option<usize> {
        self.one_size.then_some(self.most_rows)
    }

    /// Rows of a pass as a rule: public, unlike how many there are.
    pub fn usual_rows(&self) -> usize {
        self.usual_rows
    }

    /// The passes over the records that were drawn; none if there are none.
    pub fn over<'a>(&self, drawn: &'a [usize]) -> impl Iterator<Item = Pass<'a>> {
        let (most_rows, one_size) = (self.most_rows, self.one_size);
        drawn.chunks(most_rows).map(move |indices| {
            let counted = indices.len();
            let mut indices = Cow::Borrowed(indices);
            if one_size && counted < most_rows {
                // Any record would do. One that is there has the shape of the others.
                let first = indices[0];
                indices.to_mut().resize(most_rows, first);
            }
            let all = indices.len();
            Pass {
                indices,
                rows: PassRows { all, counted },
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn passes_of_one_size_count_every_record_once(
            drawn in 0usize..300, expected in 1.0f64..200.0, rate in 0.0f64..=1.0, memory in 0usize..300,
        ) {
            let passes = Passes::of_one_size(expected, rate, memory);
            let size = passes.most_rows();
            prop_assert!(size <= memory.max(1));
            let drawn: Vec<usize> = (7..7 + drawn).collect();
            let mut counted = Vec::new();
            for pass in passes.over(&drawn) {
                prop_assert_eq!(pass.indices.len(), size);
                prop_assert_eq!(pass.rows.all, size);
                prop_assert!(pass.rows.counted > 0);
                let (records, rest) = pass.indices.split_at(pass.rows.counted);
                counted.extend_from_slice(records);
                prop_assert!(rest.iter().all(|index| *index == records[0]));
            }
            prop_assert_eq!(counted, drawn);
        }
    }

    #[test]
    fn the_size_is_chosen_from_public_numbers() {
        // Room for two standard deviations of 16; none where every record takes part.
        assert_eq!(Passes::of_one_size(256.0, 0.0, 1000).most_rows(), 288);
        assert_eq!(Passes::of_one_size(256.0, 1.0, 1000).most_rows(), 256);
        // Two passes of 144 rather than one of 200 and one that is nearly empty.
        assert_eq!(Passes::of_one_size(256.0, 0.0, 200).most_rows(), 144);
        assert_eq!(Passes::of_one_size(0.5, 0.0, 0).most_rows(), 1);
    }
}
