//! Is it Gaussian, independent, and the same however it is computed?
//!
//! Seeds are fixed, so a passing test always passes. "False alarm" is the chance that a perfect
//! generator would have failed for a seed picked blindly; 5 standard deviations are 5.7e-7.

#![allow(clippy::unwrap_used)]

use super::*;

/// Normals before scaling and rounding.
fn standard_normals(step: u64, query: u32, tensor: u32, count: usize) -> Vec<f64> {
    let stream = NoiseStream::new(&Keys::fixed_seed(2024), step, query, NoiseHardening::Grid);
    (0..count.div_ceil(GROUP))
        .flat_map(|group| {
            normal::normals(&stream.subkey, group as u64, tensor, 0)
                .into_iter()
                .flatten()
        })
        .take(count)
        .collect()
}

fn noisy(seed: u64, hardening: NoiseHardening, noise_std: f64, mut values: Vec<f32>) -> Vec<f32> {
    let mut stream = NoiseStream::new(&Keys::fixed_seed(seed), 3, 1, hardening);
    stream.add_normals(9, noise_std, &mut values).unwrap();
    values
}

fn below(x: f64) -> f64 {
    0.5 * libm::erfc(-x / std::f64::consts::SQRT_2)
}

/// How many standard deviations the sum of `terms` of mean 0 and variance `variance` is off.
fn deviations(variance: f64, terms: impl Iterator<Item = f64>) -> f64 {
    let (mut sum, mut count) = (0.0, 0.0f64);
    for term in terms {
        sum += term;
        count += 1.0;
    }
    sum / (count * variance).sqrt()
}

#[test]
fn moments_up_to_six_are_normal() {
    // False alarm 3.4e-6 (six tests).
    let normals = standard_normals(0, 0, 0, 1 << 24);
    let odd_and_even = [
        (1, 0.0, 1.0),
        (2, 1.0, 2.0),
        (3, 0.0, 15.0),
        (4, 3.0, 96.0),
        (5, 0.0, 945.0),
        (6, 15.0, 10_170.0),
    ];
    for (power, mean, variance) in odd_and_even {
        let off = deviations(variance, normals.iter().map(|z| z.powi(power) - mean));
        assert!(off.abs() < 5.0, "moment {power} is {off} deviations off");
    }
}

#[test]
fn distribution_passes_kolmogorov_smirnov() {
    // False alarm 2 exp(-2 · 2.5²) = 7.5e-6.
    let mut normals = standard_normals(1, 0, 0, 1 << 21);
    normals.sort_by(f64::total_cmp);
    let count = normals.len() as f64;
    let largest = normals
        .iter()
        .enumerate()
        .fold(0.0f64, |largest, (rank, &z)| {
            let expected = below(z);
            largest
                .max(expected - rank as f64 / count)
                .max((rank + 1) as f64 / count - expected)
        });
    assert!(largest * count.sqrt() < 2.5, "distance {largest}");
}

#[test]
fn tails_beyond_four_and_five_deviations_have_their_share() {
    // False alarm about 1e-5: Poisson counts of mean 2125 and 19 per tail, within 5 deviations
    // (the smaller within 22, its quantiles at 1e-6).
    let (mut beyond_four, mut beyond_five) = ([0; 2], [0; 2]);
    for tensor in 0..16 {
        for z in standard_normals(2, 0, tensor, 1 << 22) {
            let tail = usize::from(z < 0.0);
            beyond_four[tail] += i32::from(z.abs() > 4.0);
            beyond_five[tail] += i32::from(z.abs() > 5.0);
        }
    }
    for tail in 0..2 {
        assert!((beyond_four[tail] - 2125).abs() < 230, "{beyond_four:?}");
        assert!((beyond_five[tail] - 19).abs() < 22, "{beyond_five:?}");
        assert!(beyond_five[tail] > 2, "{beyond_five:?}");
    }
}

#[test]
fn positions_of_the_stream_are_uncorrelated() {
    // False alarm 1e-5 (18 tests of 5 deviations).
    let count = 1 << 21;
    let base = standard_normals(5, 0, 0, count + GROUP);
    let others = [
        ("step", standard_normals(6, 0, 0, count)),
        (
            "step, high word",
            standard_normals(5 + (1 << 32), 0, 0, count),
        ),
        ("query", standard_normals(5, 1, 0, count)),
        ("tensor", standard_normals(5, 0, 1, count)),
        ("neighbour", base[1..=count].to_vec()),
        ("Box-Muller pair", base[LANES..count + LANES].to_vec()),
        ("next pair", base[2 * LANES..count + 2 * LANES].to_vec()),
        ("next group", base[GROUP..count + GROUP].to_vec()),
    ];
    for (name, other) in &others {
        let off = deviations(1.0, base.iter().zip(other).map(|(x, y)| x * y));
        assert!(off.abs() < 5.0, "{name}: correlated, {off} deviations");
        // Sizes too: (x² − 1)(y² − 1) has mean 0 and variance 4.
        let sizes = base
            .iter()
            .zip(other)
            .map(|(x, y)| (x * x - 1.0) * (y * y - 1.0));
        let off = deviations(4.0, sizes);
        assert!(
            off.abs() < 5.0,
            "{name}: sizes correlated, {off} deviations"
        );
    }
    let other_key = NoiseStream::new(&Keys::fixed_seed(2025), 5, 0, NoiseHardening::Grid);
    let other = (0..count / GROUP).flat_map(|group| {
        normal::normals(&other_key.subkey, group as u64, 0, 0)
            .into_iter()
            .flatten()
    });
    let off = deviations(1.0, base.iter().zip(other).map(|(x, y)| x * y));
    assert!(off.abs() < 5.0, "key: correlated, {off} deviations");
}

#[test]
fn noisy_values_are_the_sum_rounded_to_the_grid() {
    let noise_std = 1.7; // grid 1/16
    let values: Vec<f32> = (0..5000).map(|i| (i as f32 - 2500.0) * 0.0371).collect();
    for (hardening, parts, scale) in [
        (NoiseHardening::Grid, 0..1, 1.7),
        (NoiseHardening::GridAndSumOfFour, 0..4, 0.85),
    ] {
        let stream = NoiseStream::new(&Keys::fixed_seed(8), 3, 1, hardening);
        let got = noisy(8, hardening, noise_std, values.clone());
        for (group, (values, got)) in values.chunks(GROUP).zip(got.chunks(GROUP)).enumerate() {
            let normals = parts
                .clone()
                .map(|part| normal::normals(&stream.subkey, group as u64, 9, part))
                .collect::<Vec<_>>();
            for (i, (value, got)) in values.iter().zip(got).enumerate() {
                let sum: f64 = normals.iter().map(|part| part.as_flattened()[i]).sum();
                let exact = f64::from(*value) + scale * sum;
                assert_eq!(f64::from(*got), (exact * 16.0).round_ties_even() / 16.0);
            }
        }
    }
}

#[test]
fn every_release_lies_on_a_grid_that_knows_only_the_noise() {
    for hardening in [NoiseHardening::Grid, NoiseHardening::GridAndSumOfFour] {
        for (noise_std, spacing) in [
            (1.0, 0.0625),
            (1.999, 0.0625),
            (2.0, 0.125),
            (3e-8, 1.0 / (1u64 << 30) as f64),
            (1e20, (1u64 << 62) as f64),
        ] {
            let values = (0..3000)
                .map(|i| ((i as f64).sin() * 7.0 * noise_std) as f32)
                .collect();
            for value in noisy(4, hardening, noise_std, values) {
                let cells = f64::from(value) / spacing;
                assert_eq!(cells, cells.round(), "{value} with noise {noise_std}");
            }
        }
    }
}

#[test]
fn rounded_noise_has_the_cell_probabilities_of_the_normal() {
    // Chi-squared over the cells with at least 50 expected values; it has k degrees of freedom,
    // so 5 deviations of √(2k). False alarm about 5e-6 (two tests, the distribution is slightly skew).
    let (noise_std, value, spacing) = (1.0, 0.3f32, 0.0625);
    let count = 1 << 22;
    for hardening in [NoiseHardening::Grid, NoiseHardening::GridAndSumOfFour] {
        let mut cells = std::collections::HashMap::new();
        for noisy in noisy(5, hardening, noise_std, vec![value; count]) {
            *cells
                .entry((f64::from(noisy) / spacing) as i64)
                .or_insert(0u32) += 1;
        }
        let (mut chi_squared, mut freedom, mut rest) = (0.0, 0.0, (1.0, count as f64));
        for cell in -200..200 {
            let edge = |half: f64| ((cell as f64 + half) * spacing - f64::from(value)) / noise_std;
            let probability = below(edge(0.5)) - below(edge(-0.5));
            let expected = probability * count as f64;
            if expected >= 50.0 {
                let seen = f64::from(cells.get(&cell).copied().unwrap_or(0));
                chi_squared += (seen - expected).powi(2) / expected;
                freedom += 1.0;
                rest = (rest.0 - probability, rest.1 - seen);
            }
        }
        let expected = rest.0 * count as f64;
        chi_squared += (rest.1 - expected).powi(2) / expected;
        let off = (chi_squared - freedom) / (2.0 * freedom).sqrt();
        assert!(
            off.abs() < 5.0,
            "{hardening:?}: {chi_squared} for {freedom} cells"
        );
    }
}

#[test]
fn threads_and_instruction_sets_do_not_change_the_noise() {
    let values: Vec<f32> = (0..5 * VALUES_PER_TASK + 321)
        .map(|i| i as f32 * 1e-3)
        .collect();
    for hardening in [NoiseHardening::Grid, NoiseHardening::GridAndSumOfFour] {
        let in_pool = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new()
                .num_threads(threads)
                .build()
                .unwrap();
            pool.install(|| noisy(6, hardening, 0.3, values.clone()))
        };
        let one = in_pool(1);
        assert!(one == in_pool(3), "threads, {hardening:?}");

        let mut plain = values.clone();
        let stream = NoiseStream::new(&Keys::fixed_seed(6), 3, 1, hardening);
        pulp::Arch::Scalar.dispatch(AddNormals {
            stream: &stream.subkey,
            tensor: 9,
            parts: hardening.normals_per_value(),
            first_group: 0,
            grid: Grid::of(0.3, hardening).unwrap(),
            factor: 1.0,
            values: &mut plain,
            exact: &|_: usize, values: &[f32], exact: &mut [f64]| {
                for (exact, value) in exact.iter_mut().zip(values) {
                    *exact = f64::from(*value);
                }
            },
            stored: |noisy: f32| noisy,
        });
        assert!(one == plain, "instruction set, {hardening:?}");

        // The normal at an index does not depend on the tensor's length.
        for length in [0, 1, LANES - 1, GROUP, GROUP + 1, VALUES_PER_TASK + 7] {
            let short = noisy(6, hardening, 0.3, values[..length].to_vec());
            assert!(short[..] == one[..length], "length {length}, {hardening:?}");
        }
    }
}

#[test]
fn no_noise_is_used_twice() {
    let keys = Keys::fixed_seed(1);
    let mut stream = NoiseStream::new(&keys, 0, 0, NoiseHardening::Grid);
    let mut values = [0.0; 8];
    assert_eq!(stream.add_normals(0, 1.0, &mut values), Ok(()));
    let before = values;
    assert_eq!(
        stream.add_normals(0, 1.0, &mut values),
        Err(NoiseError::TensorOrder { tensor: 0, last: 0 })
    );
    assert_eq!(stream.add_normals(2, 1.0, &mut values), Ok(()));
    assert!(stream.add_normals(1, 1.0, &mut values).is_err());
    assert_ne!(before, values);
}

#[test]
fn a_standard_deviation_that_is_no_number_is_refused_and_nothing_changes() {
    let keys = Keys::fixed_seed(1);
    for noise_std in [0.0, -1.0, f64::NAN, f64::INFINITY, 1e-31, 1e31] {
        let mut values = [1.5; 8];
        let drawn = NoiseStream::new(&keys, 0, 0, NoiseHardening::Grid).add_normals(
            0,
            noise_std,
            &mut values,
        );
        assert!(matches!(drawn, Err(NoiseError::StandardDeviation { .. })));
        assert_eq!(values, [1.5; 8]);
    }
}

#[test]
fn missing_tail_is_the_mass_beyond_the_farthest_radius() {
    // The farthest radius √(2 · 128 ln 2) leaves exp(−r²/2) = 2^-128 per pair.
    let radius = (2.0 * 128.0 * std::f64::consts::LN_2).sqrt();
    let per_pair = (-radius * radius / 2.0).exp();
    let delta = missing_tail_delta(2_000_000, 0.0);
    assert!(
        delta >= 2.0 * 1e6 * per_pair && delta < 2.01 * 1e6 * per_pair,
        "{delta}"
    );
    assert!(missing_tail_delta(10, 2.0) > missing_tail_delta(10, 1.0));
}

#[test]
fn scaling_in_the_same_pass_is_scaling_afterwards() {
    let values: Vec<f32> = (0..GROUP + 5).map(|i| i as f32 * 0.1).collect();
    let stream = || NoiseStream::new(&Keys::fixed_seed(8), 0, 0, NoiseHardening::Grid);
    let (mut apart, mut together) = (values.clone(), values);
    stream().add_normals(0, 0.3, &mut apart).unwrap();
    stream()
        .add_normals_then_scale(0, 0.3, 1.0 / 3.0, &mut together)
        .unwrap();
    apart.iter_mut().for_each(|value| *value *= 1.0 / 3.0);
    assert_eq!(apart, together);
}

#[test]
fn a_noisy_sum_is_the_exact_sum_with_the_noise_of_its_place() {
    // As short and as long sums, in one piece and in several, against noise added to the exact values in f64.
    let bound = tacita_kernels::exact::Grid::for_bound(2.0).unwrap();
    for hardening in [NoiseHardening::Grid, NoiseHardening::GridAndSumOfFour] {
        for (records, length) in [(0, 3), (1, 1), (3, 513), (3, 40_000), (1500, 700)] {
            let sum = Sum::of_records(bound, length, records, |some, steps| {
                for record in some {
                    for (at, steps) in steps.iter_mut().enumerate() {
                        let value = ((record * 31 + at * 7) % 2001) as f32 / 1000.0 - 1.0;
                        *steps = steps.wrapping_add(bound.steps(value));
                    }
                }
            });
            let mut expected: Vec<f64> = (0..length).map(|index| sum.value(index)).collect();
            let stream = || NoiseStream::new(&Keys::fixed_seed(7), 5, 0, hardening);
            stream().add_normals_to_f64(4, 0.3, &mut expected).unwrap();
            let noisy = stream().noisy_sum(4, 0.3, sum, 0.01).unwrap();
            let expected: Vec<f32> = expected.iter().map(|noisy| *noisy as f32 * 0.01).collect();
            assert_eq!(noisy, expected, "{records} records of {length}");
        }
    }
}
