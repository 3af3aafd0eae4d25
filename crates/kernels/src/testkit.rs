//! What the tests share: numbers from a seed, and closeness.

use proptest::prelude::*;
use proptest::test_runner::TestCaseError;

/// A source of slices of numbers in `[−1, 1)`.
pub(crate) fn source(seed: u64) -> impl FnMut(usize) -> Vec<f32> {
    let mut state = seed ^ 0x9e37_79b9_7f4a_7c15;
    move |count| {
        let mut next = || {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (state >> 40) as f32 / 8_388_608.0 - 1.0
        };
        (0..count).map(|_| next()).collect()
    }
}

/// `count` values in `[−1, 1)`, the same for the same seed.
pub(crate) fn values(count: usize, seed: u64) -> Vec<f32> {
    source(seed)(count)
}

/// `count` whole numbers in `0..below`, the same for the same seed.
pub(crate) fn indices(count: usize, below: usize, seed: u64) -> Vec<i64> {
    values(count, seed)
        .iter()
        .map(|v| ((v * 0.5 + 0.5) * below as f32) as i64 % below as i64)
        .collect()
}

/// Every value within 10⁻⁴ of what the loop in f64 expects: sums of at most some hundred terms below 1.
pub(crate) fn close(got: &[f32], expected: &[f64]) -> Result<(), TestCaseError> {
    prop_assert_eq!(got.len(), expected.len());
    for (at, (&got, &expected)) in got.iter().zip(expected).enumerate() {
        prop_assert!(
            (f64::from(got) - expected).abs() <= 1e-4,
            "{at}: {got}, not {expected}"
        );
    }
    Ok(())
}
