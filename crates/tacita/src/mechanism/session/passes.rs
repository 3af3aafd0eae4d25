//! How a draw is cut into passes over the model.
//!
//! On the CPU a record has the same bits in a batch of any size, so a pass has as many rows as there are
//! records. A GPU chooses kernels, and with them the order of additions, by the shapes of tensors. There every
//! pass of a run has one size, which is public; a draw that does not fill its last pass is filled up with rows
//! that count for nothing.
//!
//! A unit of several records is one sample, and its records stay together. Samples are put in order of how many
//! records they have, so that a pass falls into few parts of equal ones. On the CPU nothing is filled up. On a GPU a
//! pass holds samples of one size, a power of two or the most records that a unit has: a unit of fewer repeats one of
//! its own, whose loss counts for nothing, so that its gradient depends on the unit alone.

use crate::sensitivity::clipping::UsualBatch;
use crate::sensitivity::pass_shape::{PartShape, PassRows, PassShape};
use std::borrow::Cow;

/// The passes of every step of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Passes {
    most_rows: usize,
    usual_rows: usize,
    one_size: bool,
    /// Records of a unit, at most.
    most_records: usize,
}

/// The records of one pass by their indices, in the order of its rows.
pub(crate) struct Pass<'a> {
    pub indices: Cow<'a, [usize]>,
    pub shape: PassShape,
    /// Rows of each sample, in their order; empty if one for each.
    of_samples: Vec<usize>,
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
            usual_rows: usually,
            one_size: false,
            most_records: 1,
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
            most_records: 1,
        }
    }

    /// The same for units of at most so many records. A pass has room for one of them, whatever memory there is.
    pub fn of_units(self, most_records: usize) -> Self {
        let most_records = most_records.max(1);
        Self {
            most_records,
            ..self
        }
    }

    /// Rows of a pass at most, where every unit has one record.
    pub fn most_rows(&self) -> usize {
        self.most_rows
    }

    /// Rows of every pass, if all have one size.
    pub fn one_size(&self) -> Option<usize> {
        self.one_size.then_some(self.most_rows)
    }

    /// Samples of a pass as a rule: public, unlike how many there are.
    pub fn usual_batch(&self) -> UsualBatch {
        UsualBatch {
            samples: self.usual_rows,
            rows: self.most_rows,
        }
    }

    /// How many records a sample of a pass may have: public.
    pub fn records_of_samples(&self) -> Vec<usize> {
        if !self.one_size {
            return (1..=self.most_records).collect();
        }
        let powers = (0..usize::BITS).map(|power| 1 << power);
        let mut sizes: Vec<usize> = powers
            .take_while(|size| *size < self.most_records)
            .collect();
        sizes.push(self.most_records);
        sizes
    }

    /// Samples of every pass of samples of so many records, if all have one size.
    pub fn samples_of_one_size(&self, records: usize) -> usize {
        (self.most_rows / records.max(1)).max(1)
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
                shape: PassRows { all, counted }.into(),
                of_samples: Vec::new(),
            }
        })
    }

    /// The passes over units that were drawn, of each of which these records take part; none if there are none.
    pub fn over_units(&self, mut units: Vec<Vec<usize>>) -> Vec<Pass<'static>> {
        units.retain(|records| !records.is_empty());
        units.sort_by_key(Vec::len);
        match self.one_size {
            true => self.filled_up(&units),
            false => self.cut(&units),
        }
    }

    /// As many units to a pass as its rows allow, one at least.
    fn cut(&self, mut units: &[Vec<usize>]) -> Vec<Pass<'static>> {
        let mut passes = Vec::new();
        while !units.is_empty() {
            let mut rows = 0;
            let fitting = units.iter().take_while(|records| {
                rows += records.len();
                rows <= self.most_rows
            });
            let (here, rest) = units.split_at(fitting.count().max(1));
            units = rest;
            let parts = here.chunk_by(|a, b| a.len() == b.len());
            let parts = parts.map(|part| PartShape {
                samples: part.len().into(),
                records: part[0].len(),
            });
            passes.push(Pass {
                shape: PassShape::new(parts.collect()),
                indices: Cow::Owned(here.concat()),
                of_samples: here.iter().map(Vec::len).collect(),
            });
        }
        passes
    }

    /// Passes of samples of one of a few sizes.
    fn filled_up(&self, mut units: &[Vec<usize>]) -> Vec<Pass<'static>> {
        let mut passes = Vec::new();
        for records in self.records_of_samples() {
            let fitting = units.partition_point(|unit| unit.len() <= records);
            let (here, rest) = units.split_at(fitting);
            units = rest;
            let all = self.samples_of_one_size(records);
            for counted in here.chunks(all) {
                let repeated = std::iter::repeat_n(&counted[0], all - counted.len());
                let samples = counted.iter().chain(repeated);
                let (mut indices, mut shares) = (Vec::new(), Vec::new());
                for unit in samples.clone() {
                    let beyond = records - unit.len();
                    indices.extend(unit.iter().chain(std::iter::repeat_n(&unit[0], beyond)));
                    shares.extend(std::iter::repeat_n(1.0 / unit.len() as f32, unit.len()));
                    shares.extend(std::iter::repeat_n(0.0, beyond));
                }
                let rows = PassRows {
                    all,
                    counted: counted.len(),
                };
                let part = PartShape {
                    samples: rows,
                    records,
                };
                let shape = PassShape::new(vec![part]);
                passes.push(Pass {
                    shape: match records {
                        1 => shape,
                        _ => shape.with_shares(shares),
                    },
                    indices: Cow::Owned(indices),
                    of_samples: vec![records; all],
                });
            }
        }
        passes
    }
}

impl Pass<'_> {
    /// The pass with the weight of each sample: the mean over its rows.
    pub fn weighted(self, of_rows: Vec<f32>) -> Self {
        let weights: Vec<f32> = match self.of_samples.is_empty() {
            true => of_rows,
            false => {
                let mut rows = of_rows.into_iter();
                let mean = |count: &usize| {
                    let own = rows.by_ref().take(*count);
                    match *count {
                        1 => own.sum(),
                        _ => own.sum::<f32>() / *count as f32,
                    }
                };
                self.of_samples.iter().map(mean).collect()
            }
        };
        Self {
            shape: self.shape.with_weights(weights),
            ..self
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn samples(pass: &Pass<'_>) -> PassRows {
        assert_eq!(pass.shape.parts().len(), 1);
        pass.shape.parts()[0].samples
    }

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
                let rows = samples(&pass);
                prop_assert_eq!(rows.all, size);
                prop_assert!(rows.counted > 0);
                let (records, rest) = pass.indices.split_at(rows.counted);
                counted.extend_from_slice(records);
                prop_assert!(rest.iter().all(|index| *index == records[0]));
            }
            prop_assert_eq!(counted, drawn);
        }

        #[test]
        fn passes_over_units_count_every_unit_once_and_keep_its_records_together(
            sizes in prop::collection::vec(0usize..8, 0..40), memory in 1usize..40, one_size: bool,
        ) {
            let passes = match one_size {
                true => Passes::of_one_size(20.0, 0.5, memory),
                false => Passes::as_drawn(20.0, memory),
            }
            .of_units(7);
            let units: Vec<Vec<usize>> = (sizes.iter().enumerate())
                .map(|(unit, size)| (100 * unit..100 * unit + size).collect())
                .collect();
            let mut expected: Vec<Vec<usize>> = units.iter().filter(|unit| !unit.is_empty()).cloned().collect();
            expected.sort_by_key(Vec::len);
            let mut seen = Vec::new();
            for pass in passes.over_units(units) {
                prop_assert_eq!(pass.shape.rows(), pass.indices.len());
                prop_assert!(one_size || pass.indices.len() <= memory.max(7));
                let shares = match pass.shape.shares() {
                    [] => vec![1.0; pass.indices.len()],
                    shares => shares.to_vec(),
                };
                prop_assert_eq!(shares.len(), pass.indices.len());
                let mut row = 0;
                for part in pass.shape.parts() {
                    prop_assert!(passes.records_of_samples().contains(&part.records));
                    if one_size {
                        prop_assert_eq!(part.samples.all, passes.samples_of_one_size(part.records));
                    }
                    for sample in 0..part.samples.all {
                        let rows = row..row + part.records;
                        row = rows.end;
                        let sum: f32 = shares[rows.clone()].iter().sum();
                        prop_assert!((sum - 1.0).abs() < 1e-6);
                        if sample < part.samples.counted {
                            let own = rows.filter(|row| shares[*row] > 0.0);
                            seen.push(own.map(|row| pass.indices[row]).collect::<Vec<_>>());
                        }
                    }
                }
            }
            prop_assert_eq!(seen, expected);
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
        let units = Passes::of_one_size(256.0, 0.0, 200).of_units(10);
        assert_eq!(units.records_of_samples(), [1, 2, 4, 8, 10]);
        assert_eq!(units.samples_of_one_size(10), 14);
        assert_eq!(
            Passes::as_drawn(1.0, 1).of_units(3).records_of_samples(),
            [1, 2, 3]
        );
    }

    #[test]
    fn a_unit_weighs_what_its_records_weigh_on_average() {
        let passes = Passes::as_drawn(10.0, 100).of_units(3);
        let pass = passes.over_units(vec![vec![4], vec![1, 2, 3]]).remove(0);
        let weights = pass
            .indices
            .iter()
            .map(|record| *record as f32 / 4.0)
            .collect();
        let pass = pass.weighted(weights);
        assert_eq!(pass.shape.weights(0, 2), [1.0, 0.5]);
    }
}
