//! Printed bounds lie on their side of the value, and no further from it than their digits say.

#![allow(clippy::unwrap_used)]

use proptest::prelude::*;
use tacita_accounting::decimal::{Rounding, count, decimal, down, exact, percent_up, plain, up};

/// What a reader reads.
fn read(shown: &str) -> f64 {
    let raised = |letter| "⁰¹²³⁴⁵⁶⁷⁸⁹".chars().position(|digit| digit == letter);
    // 10⁻⁵ alone is 1 × 10⁻⁵.
    let power_alone =
        !shown.contains('×') && shown.chars().any(|l| l == '⁻' || raised(l).is_some());
    let letters = match power_alone {
        true => shown.replacen("10", "1e", 1),
        false => shown.replace(" × 10", "e").replace([',', ' ', '%'], ""),
    };
    let typed: String = (letters.chars())
        .map(|letter| match raised(letter) {
            Some(digit) => char::from_digit(digit as u32, 10).unwrap(),
            None if letter == '⁻' => '-',
            None => letter,
        })
        .collect();
    typed
        .parse()
        .unwrap_or_else(|_| panic!("{shown} is read as {typed}"))
}

/// The claim for one value: each side, and how tight.
fn check(value: f64, digits: i32) {
    let (above, below) = (read(&up(value, digits)), read(&down(value, digits)));
    assert!(above >= value, "{value:e} to {digits}: {above:e} is below");
    assert!(below <= value, "{value:e} to {digits}: {below:e} is above");
    // One unit of the last digit; near the end of the range of f64 that unit is one of f64.
    let unit = value * 10_f64.powi(1 - digits) * (1.0 + 1e-9) + f64::from_bits(1);
    assert!(above.is_infinite() || above - value <= unit, "{above:e}");
    assert!(value - below <= unit, "{value:e}, {below:e}");
}

/// Values at which scaling and logarithms go wrong.
fn awkward() -> Vec<f64> {
    let mut values = vec![f64::MIN_POSITIVE, f64::MAX, f64::from_bits(1), 1e23, 1e-323];
    for exponent in -323..309 {
        for digits in ["1", "3", "9", "1.1", "2.5", "9.99", "9.0001", "1.0001"] {
            values.push(format!("{digits}e{exponent}").parse().unwrap());
        }
    }
    let neighbours = |value: &f64| [value.next_down(), *value, value.next_up()];
    let mut values: Vec<f64> = values.iter().flat_map(neighbours).collect();
    values.retain(|value| *value > 0.0 && value.is_finite());
    values
}

#[test]
fn bounds_next_to_short_decimals_lie_on_their_side() {
    for value in awkward() {
        for digits in [1, 2, 3, 4, 5, 6, 9, 12, 15, 16, 17] {
            check(value, digits);
        }
    }
}

#[test]
fn short_decimals_are_shown_as_they_are() {
    for text in [
        "8",
        "0.1",
        "0.3",
        "1.1",
        "3.409",
        "0.001",
        "12,345",
        "999,990,000",
    ] {
        let value = read(text);
        assert_eq!(up(value, 5), text);
        assert_eq!(down(value, 5), text);
    }
}

#[test]
fn examples_are_shown_as_people_write_them() {
    assert_eq!(up(0.000_900_000_000_000_000_1, 5), "9.0001 × 10⁻⁴");
    assert_eq!(up(7.999_943, 5), "8");
    assert_eq!(up(12_345.61, 5), "12,346");
    assert_eq!(up(9.999_99e-6, 3), "1 × 10⁻⁵");
    assert_eq!(down(3.409e-9, 3), "3.4 × 10⁻⁹");
    assert_eq!(up(-1.234_56, 3), "-1.23");
    assert_eq!(down(-1.234_56, 3), "-1.24");
    assert_eq!(up(f64::from_bits(1), 3), "4.94 × 10⁻³²⁴");
    assert_eq!(up(0.0, 3), "0");
    assert_eq!(up(f64::INFINITY, 3), "inf");
    assert_eq!(exact(2.6e-5), "2.6 × 10⁻⁵");
    assert_eq!(exact(1e-5), "10⁻⁵");
    assert_eq!(count(1_234_567), "1,234,567");
    assert_eq!(plain(0.012_345_6), "0.01235");
    assert_eq!(percent_up(0.999_985_49), "99.9986 %");
    assert_eq!(percent_up(1.0), "100 %");
    assert_eq!(
        decimal(1e-9, 5, Rounding::Down, -4..7),
        Some(("1".to_string(), -9))
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(50_000))]

    /// Every positive double, subnormal and huge ones as likely as others.
    #[test]
    fn bounds_of_any_double_lie_on_their_side(
        bits in 1..f64::INFINITY.to_bits(),
        digits in 1..=17,
    ) {
        check(f64::from_bits(bits), digits);
    }

    #[test]
    fn bounds_of_usual_sizes_lie_on_their_side(power in -14.0..10.0, digits in 1..=17) {
        check(10_f64.powf(power), digits);
    }

    #[test]
    fn bounds_of_negative_numbers_mirror(power in -14.0..10.0, digits in 1..=17) {
        let value = 10_f64.powf(power);
        prop_assert_eq!(up(-value, digits), format!("-{}", down(value, digits)));
        prop_assert_eq!(down(-value, digits), format!("-{}", up(value, digits)));
    }

    #[test]
    fn percentages_are_never_below(power in -12.0..0.0, close in any::<bool>()) {
        let share = 10_f64.powf(power);
        let share = if close { 1.0 - share } else { share };
        let shown = percent_up(share);
        // Dividing by a hundred would round; moving the point does not.
        let number = shown.trim_end_matches(" %");
        let read: f64 = format!("{number}e-2").parse().unwrap();
        prop_assert!(read >= share && read <= share + 0.001_1, "{} for {}", shown, share);
    }
}
