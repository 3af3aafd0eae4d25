#![allow(clippy::unwrap_used)]

use super::*;
use crate::random::SplitMix;
use proptest::prelude::*;

#[test]
fn a_number_lies_in_its_bin() {
    for value in [
        0.0, -0.0, 1e-9, -1e-9, 1e-6, 0.3, -0.3, 1.0, -1.0, 2.0, 7.5, -1e11, 1e12,
    ] {
        let bin = bin(value);
        assert!(
            edge(bin) <= value && value <= edge(bin + 1),
            "{value} {bin}"
        );
    }
    assert_eq!(bin(1e300), BINS - 1);
    assert_eq!(bin(f64::NEG_INFINITY), 0);
    assert!((0..BINS).all(|bin| edge(bin) < edge(bin + 1)));
}

proptest! {
    #[test]
    fn a_record_adds_a_vector_of_norm_at_most_one(
        record in prop::collection::vec(prop::num::f64::ANY, 1..200),
    ) {
        let squares: f64 = contributions(&record).iter().map(|&entry| f64::from(entry).powi(2)).sum();
        prop_assert!(squares <= 1.0, "{squares}");
        let known = record.iter().filter(|value| !value.is_nan()).count() as f64;
        prop_assert!(squares > 0.999 * known / record.len() as f64 || known == 0.0);
    }

    #[test]
    fn bounds_never_panic(
        histogram in prop::collection::vec(prop::num::f32::ANY, 0..2 * BINS + 2),
        noise_std in prop::num::f64::ANY,
    ) {
        for (min, max) in bounds(&histogram, noise_std).unwrap_or_default().into_iter().flatten() {
            prop_assert!(min < max);
        }
    }
}

/// 10,000 values of two columns with noise of standard deviation 20 on each entry: the bounds must
/// leave out about 1 % of the values at either end, and be near: within an octave (a bin and its
/// neighbour) of the true quantile. The noise would have to be 7 standard deviations off to fail.
#[test]
fn noisy_bounds_are_near_the_quantiles() {
    let mut random = SplitMix(7);
    let records: Vec<[f64; 2]> = (0..10_000)
        .map(|_| {
            let unit = random.below(1 << 30) as f64 / (1u64 << 30) as f64;
            [20.0 + 60.0 * unit, -1e5 * unit * unit]
        })
        .collect();
    let noise_std = 20.0;
    let mut sum = vec![0.0f32; 2 * BINS];
    for record in &records {
        for (total, entry) in sum.iter_mut().zip(contributions(record)) {
            *total += entry;
        }
    }
    for entry in &mut sum {
        *entry += (noise_std * f64::from(random.standard())) as f32;
    }
    let bounds = bounds(&sum, noise_std).unwrap();
    let (age, debt) = (bounds[0].unwrap(), bounds[1].unwrap());
    assert!(
        (10.0..=21.0).contains(&age.0) && (79.0..=160.0).contains(&age.1),
        "{age:?}"
    );
    assert!(
        (-2e5..=-0.95e5).contains(&debt.0) && (-1e3..=0.1).contains(&debt.1),
        "{debt:?}"
    );
}

#[test]
fn noise_alone_gives_no_bounds() {
    let mut random = SplitMix(1);
    let noise: Vec<f32> = (0..BINS).map(|_| random.standard()).collect();
    assert_eq!(bounds(&noise, 1.0).unwrap(), [None]);
}
