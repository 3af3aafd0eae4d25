//! The masks of dropout: secret coins, each of one record.
//!
//! The coin at (key, step, record, call, element) is a pure function of those numbers. `record` is the
//! record's index in the data set and `call` counts the dropout layers of one pass, so a record's masks
//! depend neither on who else is in the batch, nor on its place in it, nor on how the batch is cut.
//!
//! # Guarantee
//! Dropout does not raise the sensitivity of a step. Couple the runs on two neighbouring data sets so
//! that every record they share has the same coins in both. That changes neither run's distribution:
//! the key is secret and used for nothing else, so coins of different records, calls and steps are
//! independent and alike whatever the records' indices are, though a record that is added may shift the
//! indices of others. For each value of the coins the clipped sums then differ by one clipped
//! contribution, and a mixture over coins of pairs that satisfy (ε, δ) satisfies it too (the divergence
//! is jointly convex). Public masks, or masks by place in the batch, break the coupling: an added record
//! would change everyone's. Checked by `adding_a_record_moves_the_sum_at_most_the_bound_with_dropout`.
//!
//! What the argument needs of a model is that neither the number of its dropout calls nor the shape of a
//! record's row depends on other records, as [`Records::batch`](crate::Records::batch) asks of the data.

use crate::mechanism::chacha::{Key, LANES, Subkey};
use crate::mechanism::fresh_key::fresh_key;
use crate::mechanism::keys::Keys;
use rayon::prelude::*;
use std::cell::RefCell;

/// Words of a block, each of them one coin.
const WORDS: usize = 16;

/// Values one thread works on at a time.
const VALUES_PER_TASK: usize = 1 << 16;

/// The masks of one forward pass over some records.
pub(crate) struct Masks(Option<Pass>);

struct Pass {
    subkey: Subkey,
    records: Vec<u64>,
    calls: u32,
    misfit: Option<usize>,
}

thread_local! {
    static CURRENT: RefCell<Option<Pass>> = const { RefCell::new(None) };
}

impl Masks {
    /// The masks of `step` for the records at the given indices, in the order of the batch.
    pub(crate) fn of_step(keys: &Keys, step: u64, indices: &[usize]) -> Self {
        let records = indices.iter().map(|index| *index as u64).collect();
        Self::new(keys.masks(), step, records)
    }

    /// Masks that anyone can compute, for checks on synthetic records: nothing private is read there.
    pub(crate) fn public(records: &[u64]) -> Self {
        Self::new(&Key::public(), 0, records.to_vec())
    }

    fn new(key: &Key, step: u64, records: Vec<u64>) -> Self {
        Self(Some(Pass {
            subkey: Subkey::derive(key, [step as u32, (step >> 32) as u32, 0, 0]),
            records,
            calls: 0,
            misfit: None,
        }))
    }

    /// Runs a forward pass on this thread whose dropout layers take these masks.
    pub(crate) fn during<T>(&mut self, forward: impl FnOnce() -> T) -> T {
        /// Takes the masks back and restores the outer ones, after a panic too.
        struct Restore<'a> {
            masks: &'a mut Masks,
            outer: Option<Pass>,
        }
        impl Drop for Restore<'_> {
            fn drop(&mut self) {
                self.masks.0 = CURRENT.replace(self.outer.take());
            }
        }
        let outer = CURRENT.replace(self.0.take());
        let _restore = Restore { masks: self, outer };
        forward()
    }

    /// The rows that a dropout layer saw instead of one for each record, if one did.
    pub(crate) fn misfit(&self) -> Option<usize> {
        self.0.as_ref().and_then(|pass| pass.misfit)
    }
}

/// The mask of the next dropout layer of this pass, `rows` × `width`: 0, or 1/keep with probability
/// `keep`. None if rows are not the records of the pass, so that whose coins to take is unknown.
///
/// Outside a pass, as in training without privacy, the coins come fresh from the operating system.
pub(crate) fn next(keep: f64, rows: usize, width: usize) -> Option<Vec<f32>> {
    CURRENT.with_borrow_mut(|current| match current {
        Some(pass) => pass.next(keep, rows, width),
        None => {
            let Masks(mut pass) = Masks::new(&fresh_key(), 0, (0..rows as u64).collect());
            pass.as_mut()?.next(keep, rows, width)
        }
    })
}

impl Pass {
    fn next(&mut self, keep: f64, rows: usize, width: usize) -> Option<Vec<f32>> {
        let call = self.calls;
        self.calls += 1;
        if rows != self.records.len() {
            self.misfit = Some(rows);
            return None;
        }
        let mut values = vec![0.0; rows * width];
        if values.is_empty() {
            return Some(values);
        }
        let coin = Coin::new(keep);
        let rows_per_task = (VALUES_PER_TASK / width).max(1);
        let tasks = values.par_chunks_mut(rows_per_task * width);
        tasks
            .zip(self.records.par_chunks(rows_per_task))
            .for_each(|(values, records)| {
                let fill = || fill(&self.subkey, call, records, coin, values);
                pulp::Arch::new().dispatch(fill);
            });
        Some(values)
    }
}

/// A coin that keeps a value with probability threshold / 2^32.
#[derive(Clone, Copy)]
struct Coin {
    threshold: u64,
    scale: f32,
}

impl Coin {
    /// The scale is the inverse of the probability that is really used, so that the expectation is
    /// the input.
    fn new(keep: f64) -> Self {
        const TWO_TO_32: f64 = (1u64 << 32) as f64;
        let threshold = (keep * TWO_TO_32).round().clamp(1.0, TWO_TO_32);
        Self {
            threshold: threshold as u64,
            scale: (TWO_TO_32 / threshold) as f32,
        }
    }
}

/// Element e of a record is word e mod 16 of block e / 16 at (call, record). Blocks of all records are
/// made side by side, so that short rows do not waste lanes.
#[inline(always)]
fn fill(subkey: &Subkey, call: u32, records: &[u64], coin: Coin, values: &mut [f32]) {
    let width = values.len() / records.len();
    let blocks = width.div_ceil(WORDS);
    let total = records.len() * blocks;
    for first in (0..total).step_by(LANES) {
        let mut positions = [[0; 4]; LANES];
        for (lane, position) in positions.iter_mut().enumerate() {
            let index = (first + lane).min(total - 1);
            let record = records[index / blocks];
            *position = [
                (index % blocks) as u32,
                call,
                record as u32,
                (record >> 32) as u32,
            ];
        }
        let made = subkey.blocks(&std::array::from_fn(|word| positions.map(|at| at[word])));
        for lane in 0..LANES.min(total - first) {
            let (row, block) = ((first + lane) / blocks, (first + lane) % blocks);
            let end = width.min((block + 1) * WORDS);
            let values = &mut values[row * width + block * WORDS..row * width + end];
            for (word, value) in values.iter_mut().enumerate() {
                let kept = u64::from(made.word(word, lane)) < coin.threshold;
                *value = if kept { coin.scale } else { 0.0 };
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The masks of two calls, `width` values for each record.
    fn masks(keys: &Keys, step: u64, indices: &[usize], width: usize) -> [Vec<f32>; 2] {
        Masks::of_step(keys, step, indices)
            .during(|| [(); 2].map(|()| next(0.5, indices.len(), width).unwrap_or_default()))
    }

    /// The row of a record, whoever else is there.
    #[test]
    fn a_mask_depends_on_its_record_only() {
        let keys = Keys::fixed_seed(1);
        let everyone: Vec<usize> = (0..100).collect();
        for width in [1, 16, 37, 1000] {
            let all = masks(&keys, 3, &everyone, width);
            for some in [vec![7], vec![99, 7, 0], (0..64).rev().collect()] {
                let seen = masks(&keys, 3, &some, width);
                for (seen, all) in seen.iter().zip(&all) {
                    for (row, index) in seen.chunks(width).zip(&some) {
                        assert_eq!(row, &all[index * width..(index + 1) * width]);
                    }
                }
            }
        }
    }

    /// 1000 coins each: equal ones would be an accident of 2^-1000.
    #[test]
    fn masks_differ_between_steps_records_calls_and_keys() {
        let keys = Keys::fixed_seed(1);
        let [first, second] = masks(&keys, 0, &[5, 6], 1000);
        assert_ne!(first, second, "calls");
        assert_ne!(first[..1000], first[1000..], "records");
        assert_ne!(first, masks(&keys, 1, &[5, 6], 1000)[0], "steps");
        assert_ne!(first, masks(&keys, 1 << 32, &[5, 6], 1000)[0], "steps");
        assert_ne!(
            first[..1000],
            masks(&keys, 0, &[5 + (1 << 32)], 1000)[0],
            "records"
        );
        assert_ne!(
            first,
            masks(&Keys::fixed_seed(2), 0, &[5, 6], 1000)[0],
            "keys"
        );
        assert_eq!(
            first,
            masks(&keys, 0, &[5, 6], 1000)[0],
            "the same step again"
        );
        let fresh = || next(0.5, 2, 1000);
        assert_ne!(fresh(), fresh(), "outside a pass");
    }

    /// A million coins: six standard errors, a false alarm in 10^9 seeds.
    #[test]
    fn values_are_kept_at_the_rate_and_keep_their_expectation() {
        let indices: Vec<usize> = (0..1000).collect();
        for keep in [0.1, 0.5, 0.9, 0.999] {
            let mut pass = Masks::of_step(&Keys::fixed_seed(4), 0, &indices);
            let mask = pass.during(|| next(keep, 1000, 1000)).unwrap_or_default();
            let kept = mask.iter().filter(|value| **value > 0.0).count() as f64 / 1e6;
            let error = (keep * (1.0 - keep) / 1e6).sqrt();
            assert!((kept - keep).abs() < 6.0 * error, "{keep}: {kept}");
            let mean = mask.iter().map(|value| f64::from(*value)).sum::<f64>() / 1e6;
            assert!(
                (mean - 1.0).abs() < 6.0 * error / keep + 1e-6,
                "{keep}: {mean}"
            );
        }
    }

    #[test]
    fn a_pass_ends_with_its_closure_and_inner_passes_do_not_disturb_it() {
        let keys = Keys::fixed_seed(1);
        let [_, second] = masks(&keys, 0, &[1], 100);
        Masks::of_step(&keys, 0, &[1]).during(|| {
            next(0.5, 1, 100);
            masks(&keys, 0, &[2], 100);
            let panics = || Masks::public(&[3]).during(|| panic!("a pass may panic"));
            assert!(std::panic::catch_unwind(panics).is_err());
            assert_eq!(next(0.5, 1, 100).unwrap_or_default(), second);
        });
        assert!(CURRENT.with_borrow(Option::is_none));
    }

    #[test]
    fn rows_that_are_not_records_get_no_mask() {
        let mut masks = Masks::public(&[1, 2]);
        assert!(masks.during(|| next(0.5, 2, 3)).is_some());
        assert_eq!(masks.misfit(), None);
        assert!(masks.during(|| next(0.5, 6, 1)).is_none());
        assert_eq!(masks.misfit(), Some(6));
    }
}
