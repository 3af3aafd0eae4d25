use super::*;
use crate::testkit::source;
use proptest::prelude::*;

fn by_position(values: &[f32], width: usize) -> Factor<'_> {
    Factor::ByPosition { values, width }
}

fn transposed(values: &[f32], width: usize) -> Vec<f32> {
    let count = values.len() / width;
    (0..width * count)
        .map(|at| values[at % count * width + at / count])
        .collect()
}

fn sum(outer: Outer<'_>, parts: Parts, workers: Workers) -> Vec<u32> {
    let mut into = vec![0; outer.left.width() * outer.right.width()];
    add_outer(
        &mut into,
        outer,
        Grid::for_bound(1.0).unwrap(),
        parts,
        workers,
    );
    into
}

proptest! {
    #[test]
    fn a_sum_is_exactly_that_of_its_records(
        batch in 0usize..40, positions in prop_oneof![1usize..5, 14usize..20],
        d in 1usize..40, p in 1usize..120, digits in 0i32..5, parts_one: bool, seed: u64,
    ) {
        let mut values = source(seed);
        let scale = 10f32.powi(-digits) / (positions as f32);
        let left = values(batch * positions * d);
        let right: Vec<f32> = values(batch * positions * p).iter().map(|v| v * scale).collect();
        let mut factors = values(batch);
        if let Some(factor) = factors.first_mut() { *factor = 0.0; }
        let parts = if parts_one { Parts::One } else { Parts::Whole };
        let outer = Outer {
            left: by_position(&left, d), right: by_position(&right, p), positions, factors: &factors,
        };
        let whole = sum(outer, parts, Workers::All);

        // Record by record, in any order: the same integers.
        let mut apart = vec![0u32; d * p];
        for sample in (0..batch).rev() {
            let alone = Outer {
                left: by_position(&left[sample * positions * d..][..positions * d], d),
                right: by_position(&right[sample * positions * p..][..positions * p], p),
                positions, factors: &factors[sample..=sample],
            };
            for (sum, steps) in apart.iter_mut().zip(sum(alone, parts, Workers::One)) {
                *sum = sum.wrapping_add(steps);
            }
        }
        prop_assert!(whole == apart);

        // Laid out the other way: the same integers.
        let (across_left, across_right) = (transposed(&left, d), transposed(&right, p));
        let pitch = batch * positions;
        let across = Outer {
            left: Factor::ByFeature { values: &across_left, width: d, pitch },
            right: Factor::ByFeature { values: &across_right, width: p, pitch },
            ..outer
        };
        prop_assert!(batch == 0 || whole == sum(across, parts, Workers::One));

        // And what they stand for: within half a step a rounding, and an f32 rounding a position.
        let spacing = Grid::for_bound(1.0).unwrap().spacing();
        for (at, &steps) in whole.iter().enumerate() {
            let (mut exact, mut reach) = (0.0f64, 0.0f64);
            for row in 0..batch * positions {
                let product = f64::from(left[row * d + at / p]) * f64::from(right[row * p + at % p])
                    * f64::from(factors[row / positions]);
                exact += product;
                reach += product.abs();
            }
            let allowed = (batch * positions) as f64 * 0.5
                + reach / spacing * (positions + 3) as f64 / 16_777_216.0;
            let seen = f64::from(steps as i32);
            prop_assert!((seen - exact / spacing).abs() <= allowed + 1e-6, "{seen} {exact}");
        }
    }
}

#[test]
fn records_that_fill_the_room_of_a_run_are_those_of_each_alone() {
    // Each the longest product that is rounded by itself, or next to it, all of one sign: a run that took one
    // record too many would leave the numbers that are one spacing apart.
    for (d, p) in [(1, 1), (8, 48), (9, 50)] {
        for sign in [1.0f32, -1.0] {
            for length in [0.5, 0.499_999_97, 0.25, 1.0 / 64.0, 1.0 / 1024.0] {
                let batch = 600;
                let left = vec![1.0; batch * d];
                let right = vec![sign * length; batch * p];
                let factors = vec![1.0; batch];
                let outer = Outer {
                    left: by_position(&left, d),
                    right: by_position(&right, p),
                    positions: 1,
                    factors: &factors,
                };
                let alone = Outer {
                    left: by_position(&left[..d], d),
                    right: by_position(&right[..p], p),
                    factors: &factors[..1],
                    ..outer
                };
                let once = sum(alone, Parts::Whole, Workers::One);
                let whole = sum(outer, Parts::Whole, Workers::All);
                for (whole, once) in whole.into_iter().zip(once) {
                    assert_eq!(whole, once.wrapping_mul(batch as u32));
                }
            }
        }
    }
}

#[test]
fn products_that_cancel_within_a_record_are_exact_where_it_is_one_part() {
    // 1e5 − 1e5 + 0.25, each far beyond the grid's bound.
    let (left, right) = ([1e5, 1e5, 1.0], [1.0, -1.0, 0.25]);
    let outer = Outer {
        left: by_position(&left, 1),
        right: by_position(&right, 1),
        positions: 3,
        factors: &[1.0],
    };
    let seen = sum(outer, Parts::One, Workers::One);
    assert_eq!(seen, [Grid::UNIT.steps(0.25)]);
}

#[test]
fn nan_sample_of_factor_zero_contributes_nothing() {
    for positions in [1, 20] {
        let mut left = vec![0.1; 3 * positions];
        left[positions..2 * positions].fill(f32::NAN);
        let right = vec![0.1; 3 * positions * 2];
        let outer = |factors| Outer {
            left: by_position(&left, 1),
            right: by_position(&right, 2),
            positions,
            factors,
        };
        let kept = Outer {
            left: by_position(&left[..positions], 1),
            ..outer(&[2.0])
        };
        let with = sum(outer(&[1.0, 0.0, 1.0]), Parts::Whole, Workers::One);
        assert_eq!(with.len(), 2);
        let near = |a: u32, b: u32| (i64::from(a) - i64::from(b)).abs() <= 2 * positions as i64;
        let once = sum(kept, Parts::Whole, Workers::One);
        assert!(near(with[0], once[0]), "{with:?} {once:?}");
    }
}
