//! Seeds are fixed; "false alarm" is the chance that a perfect sampler would have failed for a
//! seed picked blindly. 5 standard deviations are 5.7e-7.

#![allow(clippy::unwrap_used)]

use num_bigint::BigUint;

use super::*;

fn sampler(rate: f64, records: usize) -> PoissonSampler {
    PoissonSampler::new(rate, records).unwrap()
}

/// P(K = k) and P(K ≥ k) of a skip within a whole length, both times 2^(64 (digits + 1)), exactly
/// as `Skips::draw` makes them.
fn exact_distribution(skips: &Skips, k: u64) -> (BigUint, BigUint) {
    let all = || BigUint::from(1u128 << 64);
    let then = all() - skips.whole;
    let mut equal = BigUint::from(1u8);
    let mut above = BigUint::from(0u8);
    for (digit, &one) in skips.digits.iter().enumerate().rev() {
        above *= all();
        if k >> digit & 1 == 1 {
            equal *= one;
        } else {
            above += &equal * one;
            equal *= all() - one;
        }
    }
    let whole = BigUint::from(skips.whole) << (64 * skips.digits.len());
    let at_least = (above + &equal) * &then + whole;
    (equal * then, at_least)
}

/// The rate as a whole number divided by 2^1074.
fn exact_rate(rate: f64) -> BigUint {
    let bits = rate.to_bits();
    let (exponent, mantissa) = (bits >> 52, bits & ((1 << 52) - 1));
    BigUint::from(mantissa | 1 << 52) << (exponent - 1)
}

#[test]
fn inclusion_probability_never_exceeds_the_rate() {
    // The probability that the next record takes part, after k that did not since the last one
    // that did, is P(K = k) / P(K ≥ k). Exact arithmetic, no tolerance.
    let smallest = 1.0 / (1u64 << 32) as f64;
    let rates = [
        1.0,
        0.999_999,
        0.75,
        0.500_000_1,
        0.5,
        0.499_999_9,
        1.0 / 3.0,
        0.1,
        0.01,
        512.0 / 60_000.0,
        1e-3,
        1.0 / 4096.0,
        1e-4,
        1e-5,
        1e-7,
        3.3e-10,
        smallest,
    ];
    for rate in rates {
        let skips = Skips::new(rate).unwrap();
        let length = 1u64 << skips.digits.len();
        // Every position of short lengths; of long ones the corners and a spread.
        let stride = (length / 1021).max(1);
        let corners =
            (0..skips.digits.len()).flat_map(|i| [(1 << i) - 1, 1 << i, length - (1 << i)]);
        for k in (0..length)
            .step_by(stride as usize)
            .chain(corners)
            .chain([length - 1])
        {
            let (exactly, at_least) = exact_distribution(&skips, k);
            let included = exactly << 1074;
            let allowed = exact_rate(rate) * at_least;
            assert!(included <= allowed, "rate {rate}, after {k}");
            let nearly = &allowed - (&allowed >> 49);
            assert!(included >= nearly, "rate {rate}, after {k}: too low");
        }
    }
}

#[test]
fn records_take_part_equally_often() {
    // Chi-squared with 1000 degrees of freedom, 5 deviations. False alarm below 3e-6.
    let (records, rate, steps) = (1000, 0.05, 20_000);
    let (sampler, keys) = (sampler(rate, records), Keys::fixed_seed(1));
    let mut counts = vec![0.0; records];
    for step in 0..steps {
        for &index in sampler.draw(&keys, step).indices() {
            counts[index] += 1.0;
        }
    }
    let expected = rate * steps as f64;
    let chi_squared: f64 = counts
        .iter()
        .map(|seen| (seen - expected) * (seen - expected))
        .sum();
    let off = (chi_squared / (expected * (1.0 - rate)) - 1000.0) / 2000f64.sqrt();
    assert!(off.abs() < 5.0, "{off} deviations");
}

#[test]
fn records_take_part_independently() {
    // For each lag, Σ (xᵢ − q)(xᵢ₊ₗ − q) has mean 0 and variance q²(1 − q)² per pair; one lag at
    // several steps too. False alarm 70 · 5.7e-7 = 4e-5.
    let (records, steps) = (2000usize, 1500);
    for rate in [0.03, 0.4, 0.8] {
        let (sampler, keys) = (sampler(rate, records), Keys::fixed_seed(2));
        let lags = [
            1, 2, 3, 4, 7, 8, 15, 16, 31, 32, 33, 64, 100, 128, 256, 511, 512, 513, 1024,
        ];
        let mut sums = vec![0.0; lags.len() + 1];
        let mut before = vec![0.0; records];
        for step in 0..steps {
            let mut present = vec![-rate; records];
            for &index in sampler.draw(&keys, step).indices() {
                present[index] += 1.0;
            }
            let product = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(x, y)| x * y).sum::<f64>();
            for (sum, &lag) in sums.iter_mut().zip(&lags) {
                *sum += product(&present, &present[lag..]) / ((records - lag) as f64).sqrt();
            }
            sums[lags.len()] += product(&present, &before) / (records as f64).sqrt();
            before = present;
        }
        for (index, sum) in sums.iter().enumerate() {
            let off = sum / (f64::from(steps as u32).sqrt() * rate * (1.0 - rate));
            assert!(
                off.abs() < 5.0,
                "rate {rate}, lag {:?}: {off}",
                lags.get(index)
            );
        }
    }
}

#[test]
fn batch_sizes_are_binomial() {
    // Mean and variance of the size: 5 deviations each. False alarm 1.2e-6.
    let (records, rate, steps) = (5000, 0.01, 20_000);
    let (sampler, keys) = (sampler(rate, records), Keys::fixed_seed(3));
    let (mean, variance) = (50.0, 49.5f64);
    let (mut sum, mut squares) = (0.0, 0.0);
    for step in 0..steps {
        let off = sampler.draw(&keys, step).indices().len() as f64 - mean;
        sum += off;
        squares += off * off - variance;
    }
    let steps = steps as f64;
    assert!(
        sum.abs() < 5.0 * (steps * variance).sqrt(),
        "mean off by {}",
        sum / steps
    );
    assert!(
        squares.abs() < 5.0 * (2.0 * steps).sqrt() * variance,
        "variance off by {}",
        squares / steps
    );
}

#[test]
fn empty_samples_occur_as_often_as_they_should() {
    // (1 − 0.1)^10 = 0.3487 of 20 000, 5 deviations. False alarm 5.7e-7.
    let (sampler, keys) = (sampler(0.1, 10), Keys::fixed_seed(4));
    let empty = (0..20_000)
        .filter(|&step| sampler.draw(&keys, step).indices().is_empty())
        .count();
    let (expected, deviation) = (6973.6, 67.4);
    assert!((empty as f64 - expected).abs() < 5.0 * deviation, "{empty}");
}

#[test]
fn rate_one_takes_every_record_and_no_records_give_an_empty_sample() {
    let keys = Keys::fixed_seed(5);
    assert_eq!(
        sampler(1.0, 1000).draw(&keys, 0).indices(),
        (0..1000).collect::<Vec<_>>()
    );
    assert!(sampler(1.0, 0).draw(&keys, 0).indices().is_empty());
    assert!(sampler(0.01, 0).draw(&keys, 0).indices().is_empty());
}

#[test]
fn indices_increase_and_stay_within_the_records() {
    let keys = Keys::fixed_seed(6);
    for (rate, records) in [(0.9, 500), (0.3, 777), (0.01, 12_345), (1e-4, 1_000_000)] {
        for step in 0..50 {
            let sample = sampler(rate, records).draw(&keys, step);
            assert!(sample.indices().windows(2).all(|pair| pair[0] < pair[1]));
            assert!(sample.indices().last().is_none_or(|&last| last < records));
        }
    }
}

#[test]
fn cost_follows_the_sample_and_not_the_records() {
    // Ten of a hundred million expected in each of 40 steps: a skip takes at most 25 uniforms and
    // at most every second one is whole.
    let (sampler, keys) = (sampler(1e-7, 100_000_000), Keys::fixed_seed(7));
    let (mut drawn, mut size) = (0, 0);
    for step in 0..40 {
        let mut uniforms = Uniforms::new(&keys, step);
        size += sampler.draw_from(&mut uniforms).indices().len();
        drawn += uniforms.drawn;
    }
    // Poisson of mean 400: 5 deviations are 100. False alarm 5.7e-7.
    assert!((300..500).contains(&size), "{size}");
    assert!(
        drawn < 30 * (size as u64 + 40),
        "{drawn} uniforms for {size} records"
    );
}

#[test]
fn a_sample_depends_on_key_and_step_only() {
    let sampler = sampler(0.1, 1000);
    let draw = |seed, step| {
        sampler
            .draw(&Keys::fixed_seed(seed), step)
            .indices()
            .to_vec()
    };
    assert_eq!(draw(8, 3), draw(8, 3));
    assert_ne!(draw(8, 3), draw(8, 4));
    assert_ne!(draw(8, 3), draw(8, 3 + (1 << 32)));
    assert_ne!(draw(8, 3), draw(9, 3));
}

#[test]
fn rates_that_are_no_probabilities_are_refused() {
    for rate in [0.0, -0.1, 1.000_001, f64::NAN, f64::INFINITY, 1e-10] {
        assert!(
            matches!(Skips::new(rate), Err(SamplingError::Rate { .. })),
            "{rate}"
        );
    }
}

#[test]
fn printing_a_sample_shows_nothing() {
    let sample = sampler(1.0, 10).draw(&Keys::fixed_seed(1), 0);
    assert_eq!(format!("{sample:?}"), "Sample(private)");
}
