//! Records by the unit they belong to, and which records of a drawn unit take part in a round.
//!
//! A unit is what the guarantee is for: a person with many records, say. A round draws *units*, and of a unit
//! that has more than the plan's `most` records it takes that many, drawn anew in every round.
//!
//! # Guarantee
//! Which records of a unit take part is a function of the key, the round and the positions of that unit's records
//! alone: each of them is given a number, and the least numbers win. Adding or removing another unit may shift
//! positions; numbers at different positions are independent and alike, so both runs can be coupled unit by unit,
//! as `sensitivity/PROOF.md` does for draws and dropout. Checked by
//! `a_units_records_do_not_depend_on_other_units`.

use crate::chacha::{LANES, Subkey};
use crate::keys::Keys;
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::fmt;
use std::hash::Hash;

/// The third word from which the subkey of these draws is derived; that of the draw of units is 0.
const RECORDS_OF_UNITS: u32 = 1;

/// Which records belong to which unit of privacy.
///
/// Identifiers are dropped once they have been compared: a unit is a number. Who belongs together is as sensitive
/// as the records, so printing shows nothing.
///
/// ```
/// use tacita_mechanism::sampling::Units;
/// let units = Units::of([Some("ann"), Some("bob"), None, Some("ann")]);
/// assert_eq!(units.count(), 2);
/// assert_eq!(units.records(0), [0, 3]);
/// assert_eq!(units.records(1), [1]);
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct Units {
    /// Where each unit begins in `records`, and the end.
    starts: Vec<usize>,
    records: Vec<usize>,
}

impl Units {
    /// Records with equal identifiers belong together. A record without one belongs to nobody: it is in no unit, so
    /// it takes part in nothing.
    pub fn of<I: Hash + Eq>(identifiers: impl IntoIterator<Item = Option<I>>) -> Self {
        let mut numbers: HashMap<I, usize> = HashMap::new();
        let mut counts: Vec<usize> = Vec::new();
        let of_record: Vec<Option<usize>> = identifiers
            .into_iter()
            .map(|identifier| {
                let next = counts.len();
                let unit = match numbers.entry(identifier?) {
                    Entry::Occupied(known) => *known.get(),
                    Entry::Vacant(new) => {
                        counts.push(0);
                        *new.insert(next)
                    }
                };
                counts[unit] += 1;
                Some(unit)
            })
            .collect();
        let mut starts = vec![0];
        let mut end = 0;
        for count in counts {
            end += count;
            starts.push(end);
        }
        let mut next = starts.clone();
        let mut records = vec![0; end];
        for (record, unit) in of_record.into_iter().enumerate() {
            if let Some(unit) = unit {
                records[next[unit]] = record;
                next[unit] += 1;
            }
        }
        Self { starts, records }
    }

    /// How many units there are. Private, as the number of records is.
    pub fn count(&self) -> usize {
        self.starts.len() - 1
    }

    /// The records of a unit, in increasing order. Sensitive.
    pub fn records(&self, unit: usize) -> &[usize] {
        &self.records[self.starts[unit]..self.starts[unit + 1]]
    }
}

impl fmt::Debug for Units {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Units(private)")
    }
}

/// Chooses records of the units of one round.
pub struct RecordChoice {
    subkey: Subkey,
    most: usize,
}

impl RecordChoice {
    /// For the round of `step`, at most `most` records of each unit.
    pub fn new(keys: &Keys, step: u64, most: usize) -> Self {
        let position = [step as u32, (step >> 32) as u32, RECORDS_OF_UNITS, 0];
        Self {
            subkey: Subkey::derive(&keys.sampling, position),
            most,
        }
    }

    /// Those of a unit's records that take part, in increasing order: all of them, or `most` of them, every choice
    /// as likely as any other. A pure function of the key, the step and these records.
    pub fn of(&self, records: &[usize]) -> Vec<usize> {
        if records.len() <= self.most {
            return records.to_vec();
        }
        let mut numbered = self.numbered(records);
        numbered.select_nth_unstable(self.most);
        numbered.truncate(self.most);
        let mut chosen: Vec<usize> = numbered.into_iter().map(|(_, record)| record).collect();
        chosen.sort_unstable();
        chosen
    }

    /// Each record with 64 random bits of its own.
    fn numbered(&self, records: &[usize]) -> Vec<(u64, usize)> {
        let mut numbered = Vec::with_capacity(records.len());
        for some in records.chunks(LANES) {
            let mut positions = [[0; LANES]; 4];
            for (lane, record) in some.iter().enumerate() {
                let record = *record as u64;
                positions[0][lane] = record as u32;
                positions[1][lane] = (record >> 32) as u32;
            }
            let made = self.subkey.blocks(&positions);
            let numbers = some.iter().enumerate();
            numbered.extend(numbers.map(|(lane, record)| (made.number(0, lane), *record)));
        }
        numbered
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_are_numbered_by_their_first_record_and_nobody_is_no_unit() {
        let units = Units::of([Some(7), None, Some(3), Some(7), Some(7), None]);
        assert_eq!(units.count(), 2);
        assert_eq!(units.records(0), [0, 3, 4]);
        assert_eq!(units.records(1), [2]);
        assert_eq!(Units::of([None::<u8>; 3]).count(), 0);
        assert_eq!(Units::of(std::iter::empty::<Option<u8>>()).count(), 0);
        assert_eq!(format!("{units:?}"), "Units(private)");
    }

    #[test]
    fn all_records_of_a_small_unit_take_part() {
        let choice = RecordChoice::new(&Keys::fixed_seed(1), 0, 3);
        assert_eq!(choice.of(&[4, 9, 11]), [4, 9, 11]);
        assert!(choice.of(&[]).is_empty());
    }

    #[test]
    fn a_units_records_do_not_depend_on_other_units() {
        let keys = Keys::fixed_seed(1);
        let records: Vec<usize> = (0..500).map(|record| 3 * record).collect();
        let one = RecordChoice::new(&keys, 7, 20);
        let chosen = one.of(&records);
        assert_eq!(chosen.len(), 20);
        assert!(chosen.windows(2).all(|pair| pair[0] < pair[1]));
        assert!(chosen.iter().all(|record| records.contains(record)));
        // Others were asked for before, and the same again after.
        one.of(&(1000..3000).collect::<Vec<_>>());
        assert_eq!(one.of(&records), chosen);
        // Another step, another key.
        assert_ne!(RecordChoice::new(&keys, 8, 20).of(&records), chosen);
        let step = 7 + (1 << 32);
        assert_ne!(RecordChoice::new(&keys, step, 20).of(&records), chosen);
        let other = RecordChoice::new(&Keys::fixed_seed(2), 7, 20);
        assert_ne!(other.of(&records), chosen);
    }

    /// 40,000 choices of 2 of 5: each of the ten pairs as often as any other. Six standard errors of a share of
    /// 0.1, a false alarm in 10^8 seeds.
    #[test]
    fn every_choice_is_as_likely_as_any_other() {
        let keys = Keys::fixed_seed(3);
        let mut seen: HashMap<Vec<usize>, f64> = HashMap::new();
        for step in 0..40_000 {
            let chosen = RecordChoice::new(&keys, step, 2).of(&[1, 2, 5, 8, 70]);
            *seen.entry(chosen).or_default() += 1.0;
        }
        assert_eq!(seen.len(), 10);
        let error = (0.1 * 0.9 / 40_000.0_f64).sqrt();
        for (pair, count) in seen {
            assert!(
                (count / 40_000.0 - 0.1).abs() < 6.0 * error,
                "{pair:?}: {count}"
            );
        }
    }
}
