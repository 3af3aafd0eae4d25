use super::*;
use proptest::prelude::*;

fn sum_of(length: usize, count: u64, records: &[Vec<f64>]) -> ExactSum {
    let mut sum = ExactSum::new(length, count);
    for record in records {
        sum.add(record).unwrap();
    }
    sum
}

/// Whether two totals are at most 1 apart, in whole numbers.
fn at_most_one_apart(one: &ExactSum, other: &ExactSum) -> bool {
    let differences = one.totals.iter().zip(&other.totals).map(|(a, b)| a - b);
    differences
        .map(|difference| difference * difference)
        .sum::<i128>()
        <= 1_i128 << (2 * one.grid)
}

/// The same of the values noise is added to, which are multiples of the grid.
fn values_at_most_one_apart(one: &ExactSum, other: &ExactSum) -> bool {
    let steps = |sum: &ExactSum| -> Vec<i128> {
        let unit = (1_u64 << sum.grid) as f64;
        let values = sum.clone().into_values();
        (values.into_iter())
            .map(|value| {
                assert_eq!((value * unit).fract(), 0.0);
                (value * unit) as i128
            })
            .collect()
    };
    let differences = steps(one).into_iter().zip(steps(other)).map(|(a, b)| a - b);
    differences
        .map(|difference| difference * difference)
        .sum::<i128>()
        <= 1_i128 << (2 * one.grid)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn removing_a_record_moves_the_total_by_at_most_one(
        (length, records) in (1_usize..9).prop_flat_map(|length| {
            let value = prop_oneof![
                prop::num::f64::ANY,
                -1.5_f64..1.5,
                Just(1.0),
                Just(f64::MAX),
                Just(5e-324),
            ];
            let record = prop::collection::vec(value, length);
            (Just(length), prop::collection::vec(record, 1..20))
        }),
        at in any::<prop::sample::Index>(),
        count in prop_oneof![Just(1), Just(60_000), Just(u64::MAX), any::<u64>()],
    ) {
        let all = sum_of(length, count, &records);
        let mut neighbour = records.clone();
        neighbour.remove(at.index(records.len()));
        let without = sum_of(length, count, &neighbour);
        prop_assert!(at_most_one_apart(&all, &without));
        prop_assert!(values_at_most_one_apart(&all, &without));
        let mut turned = records;
        turned.reverse();
        prop_assert_eq!(sum_of(length, count, &turned).into_values(), all.into_values());
    }
}

/// What Casacuberta et al. 2022 do to a running total in f64: it is made large, and then each small
/// value is rounded away or up, until a large one is removed. A million records, added in two orders and
/// without one of them.
#[test]
fn a_million_hostile_records_move_the_sum_by_no_more_than_one() {
    const RECORDS: usize = 1_000_000;
    let record = |index: usize| match index % 4 {
        0 | 1 => 1.0,
        2 => 0.5 + 1.0 / 1024.0 + f64::EPSILON,
        _ => -1.0 / 3.0,
    };
    let sum = |order: &mut dyn Iterator<Item = usize>| {
        let mut sum = ExactSum::new(1, RECORDS as u64);
        order.for_each(|index| sum.add(&[record(index)]).unwrap());
        sum
    };
    let all = sum(&mut (0..RECORDS));
    assert_eq!(all, sum(&mut (0..RECORDS).rev()));
    let shuffled = sum(&mut (0..RECORDS).map(|index| index * 7919 % RECORDS));
    assert_eq!(all.clone().into_values(), shuffled.into_values());
    for removed in [0, 2, 3, RECORDS / 2, RECORDS - 1] {
        let without = sum(&mut (0..RECORDS).filter(|index| *index != removed));
        assert!(at_most_one_apart(&all, &without));
        assert!(values_at_most_one_apart(&all, &without));
    }
}

/// The sum as it was: scaled to a norm of 1 less 1e-9 against rounding, and added in f64.
fn running_total(records: impl Iterator<Item = f64>) -> f64 {
    let factor = 1.0 - 1e-9;
    records.fold(0.0, |sum, value| {
        sum + factor / value.abs().max(1.0) * value
    })
}

/// A first record that lifts the total over a power of two coarsens every later rounding: a million tiny
/// values are each rounded up to twice their size, and the running total moves by more than 1.
#[test]
fn a_running_total_in_floating_point_moves_by_more_than_one_and_this_sum_does_not() {
    // From 2²⁰ on, totals are multiples of 2⁻³²; half of that and a little is rounded up to it. Below,
    // half of that is itself a multiple.
    let (many, tiny) = (1 << 20, 1.02 * 2_f64.powi(-33));
    let records = |with_first: bool| {
        let ones = std::iter::repeat_n(1.0, many + usize::from(with_first));
        ones.chain(std::iter::repeat_n(tiny, 1_000_000))
    };
    let moved = running_total(records(true)) - running_total(records(false));
    assert!(moved > 1.0 + 1e-4, "the running total moved by {moved}");
    let exact = |with_first| {
        let mut sum = ExactSum::new(1, many as u64);
        records(with_first).for_each(|value| sum.add(&[value]).unwrap());
        sum
    };
    assert!(at_most_one_apart(&exact(true), &exact(false)));
}

#[test]
fn a_value_that_is_not_finite_adds_nothing() {
    for value in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        let sum = sum_of(2, 100, &[vec![value, 0.5], vec![0.25, 0.0]]);
        assert_eq!(sum.into_values(), [0.25, 0.0]);
    }
}

#[test]
fn ordinary_vectors_are_added_as_they_are_and_long_ones_scaled_to_norm_one() {
    let sum = sum_of(
        2,
        1000,
        &[vec![1.0, 0.0], vec![0.0, -0.5], vec![3e200, -4e200]],
    );
    let values = sum.into_values();
    assert!((values[0] - 1.6).abs() < 1e-8 && (values[1] + 1.3).abs() < 1e-8);
    // A count is a count, whatever the grid.
    for count in [1, 60_000, u64::MAX] {
        let ones = sum_of(1, count, &vec![vec![1.0]; 1000]);
        assert_eq!(ones.into_values(), [1000.0]);
    }
}

#[test]
fn the_grid_leaves_room_for_a_thousand_times_the_public_count_or_a_trillion_records() {
    for count in [1, 1000, 60_000, 1 << 30, 1 << 40] {
        let grid = ExactSum::new(1, count).grid;
        let room = (1_u64 << EXACT) >> grid;
        assert!(
            room >= (count.saturating_mul(1 << ROOM)).min(1 << 40),
            "{count}"
        );
        assert!((COARSEST..=FINEST).contains(&grid));
    }
    // A total beyond is held at the end of its range, and never wraps.
    let mut sum = ExactSum::new(1, 1 << 40);
    sum.totals[0] = i128::MAX / 2;
    assert_eq!(sum.into_values(), [2_f64.powi(40)]);
}

#[test]
fn a_long_vector_of_many_values_has_norm_at_most_one() {
    for length in [10, 1000, 1 << 17] {
        let record: Vec<f64> = (0..length).map(|index| (index % 7) as f64 - 3.0).collect();
        let sum = sum_of(length, 1000, &[record]);
        let norm: f64 = sum.totals.iter().map(|total| (*total as f64).powi(2)).sum();
        let relative = norm.sqrt() / (1_u64 << sum.grid) as f64;
        assert!(at_most_one_apart(&sum, &ExactSum::new(length, 1000)));
        assert!(relative > 0.999, "{length}: {relative}");
    }
}
