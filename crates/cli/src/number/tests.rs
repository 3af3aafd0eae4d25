//! Rounding is against us.

use crate::number;

/// Numbers of many sizes from a fixed linear congruence.
fn many() -> impl Iterator<Item = f64> {
    let mut state = 7_u64;
    (0..20_000).map(move |_| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        let unit = (state >> 11) as f64 / (1_u64 << 53) as f64;
        10_f64.powf(24.0 * unit - 14.0)
    })
}

fn read(shown: &str) -> f64 {
    let plain: String = shown
        .replace(" × 10", "e")
        .replace([',', ' ', '%'], "")
        .chars()
        .map(
            |letter| match "⁰¹²³⁴⁵⁶⁷⁸⁹".chars().position(|raised| raised == letter)
            {
                Some(digit) => char::from_digit(digit as u32, 10).unwrap(),
                None if letter == '⁻' => '-',
                None => letter,
            },
        )
        .collect();
    plain
        .parse()
        .unwrap_or_else(|_| panic!("{shown} → {plain}"))
}

#[test]
fn shown_bounds_are_never_below_and_lower_ends_never_above() {
    for value in many().chain([8.0, 0.1, 0.3, 7.999_999_9, 99_999.999, 1e-5]) {
        for digits in [3, 4, 5, 6] {
            let tolerance = 2.0 * 10_f64.powi(1 - digits);
            let shown = read(&number::up(value, digits));
            assert!(
                shown >= value && shown <= value * (1.0 + tolerance),
                "{shown} for {value}"
            );
            let shown = read(&number::down(value, digits));
            assert!(
                shown <= value && shown >= value * (1.0 - tolerance),
                "{shown} for {value}"
            );
        }
        if value <= 1.0 {
            let shown = read(&number::percent_up(value)) / 100.0;
            assert!(
                shown >= value * (1.0 - 1e-15) && shown <= value + 0.001_1,
                "{shown} for {value}"
            );
        }
    }
    assert_eq!(number::up(7.999_943, 5), "8");
    assert_eq!(number::up(12_345.61, 5), "12,346");
    assert_eq!(number::down(3.409e-9, 3), "3.4 × 10⁻⁹");
    assert_eq!(number::exact(2.6e-5), "2.6 × 10⁻⁵");
    assert_eq!(number::percent_up(0.999_985_49), "99.9986 %");
}
