//! Repeatable values for tests.

/// `count` values in (-1, 1), the same for the same seed.
pub(crate) fn values(count: usize, seed: u64) -> Vec<f32> {
    let mut state = seed ^ 0x9e37_79b9_7f4a_7c15;
    (0..count)
        .map(|_| {
            state = state
                .wrapping_mul(6364136223846793005)
                .wrapping_add(1442695040888963407);
            (state >> 40) as f32 / 8_388_608.0 - 1.0
        })
        .collect()
}

/// `count` whole numbers in `0..below`, the same for the same seed.
pub(crate) fn indices(count: usize, below: usize, seed: u64) -> Vec<i64> {
    values(count, seed)
        .iter()
        .map(|v| ((v * 0.5 + 0.5) * below as f32) as i64 % below as i64)
        .collect()
}
