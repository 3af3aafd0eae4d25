//! Numbers as people read them. Bounds are rounded outward, and the names say which way.
//!
//! Every program prints its bounds with this module, so that there is one place to check. What
//! counts is the number a reader reads: [`up`] never prints a decimal that is parsed as less than
//! the value, and [`down`] never one that is parsed as more.
//!
//! ```
//! use tacita_accounting::decimal::{down, up};
//!
//! assert_eq!(up(1.662_194_9, 5), "1.6622");
//! assert_eq!(down(1.662_194_9, 5), "1.6621");
//! // One unit in the last place above a short decimal is more than that decimal.
//! assert_eq!(up(0.000_900_000_000_000_000_1, 5), "9.0001 × 10⁻⁴");
//! assert_eq!(up(0.000_9, 5), "9 × 10⁻⁴");
//! ```

use std::ops::Range;

/// Powers of ten that [`up`], [`down`] and [`exact`] write out in full.
const WRITTEN_OUT: Range<i32> = -3..9;

/// A double has no more decimal digits than this to tell it from its neighbours.
const MOST_DIGITS: i32 = 17;

/// The side of the value on which a printed number lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rounding {
    /// Not below the value: for upper bounds.
    Up,
    /// Not above the value: for lower bounds.
    Down,
}

impl Rounding {
    /// Whether `shown` lies on this side of `value`.
    fn allows(self, shown: f64, value: f64) -> bool {
        match self {
            Self::Up => shown >= value,
            Self::Down => shown <= value,
        }
    }

    /// The same side, seen by the absolute value of a negative number.
    fn of_magnitude(self, value: f64) -> Self {
        match (self, value < 0.0) {
            (Self::Up, false) | (Self::Down, true) => Self::Up,
            (Self::Down, false) | (Self::Up, true) => Self::Down,
        }
    }
}

/// A number in at least `digits` significant digits, never below the value.
pub fn up(value: f64, digits: i32) -> String {
    rounded(value, digits, Rounding::Up)
}

/// A number in at least `digits` significant digits, never above the value.
pub fn down(value: f64, digits: i32) -> String {
    rounded(value, digits, Rounding::Down)
}

fn rounded(value: f64, digits: i32, rounding: Rounding) -> String {
    match decimal(value, digits, rounding, WRITTEN_OUT) {
        None => exact(value),
        Some((text, 0)) => with_commas(&text),
        Some((text, exponent)) => format!("{text} × {}", power_of_ten(exponent)),
    }
}

/// The digits of [`up`] or [`down`], and the power of ten they are to be multiplied by: 0 if the
/// value's own power is in `written_out`.
///
/// Digits before the point are always printed, so large numbers may have more than `digits`.
/// None for zero, infinities and NaN, which need no rounding.
pub fn decimal(
    value: f64,
    digits: i32,
    rounding: Rounding,
    written_out: Range<i32>,
) -> Option<(String, i32)> {
    if value == 0.0 || !value.is_finite() {
        return None;
    }
    let magnitude = value.abs();
    let (_, own) = shortest(magnitude)?;
    let plain = written_out.contains(&own);
    let last_place = own + 1 - digits.clamp(1, MOST_DIGITS);
    let last_place = if plain { last_place.min(0) } else { last_place };
    let units = whole_units(magnitude, last_place, rounding.of_magnitude(value))?.to_string();
    let (text, exponent) = match plain {
        true => (with_point(&units, -last_place), 0),
        false => {
            let after_point = units.len() as i32 - 1;
            (with_point(&units, after_point), last_place + after_point)
        }
    };
    let sign = if value < 0.0 { "-" } else { "" };
    Some((format!("{sign}{text}"), exponent))
}

/// The multiple of 10^`last_place` next to a positive number, on the side asked for.
fn whole_units(magnitude: f64, last_place: i32, rounding: Rounding) -> Option<u128> {
    // The standard library prints exactly and parses correctly rounded; scaling by a power of ten
    // in floating point would do neither.
    let decimals = usize::try_from(-last_place).unwrap_or(0);
    let printed = format!("{magnitude:.decimals$}").replace('.', "");
    let dropped = usize::try_from(last_place).unwrap_or(0);
    let near: u128 = printed.get(..printed.len() - dropped)?.parse().ok()?;
    let read = |units: u128| format!("{units}e{last_place}").parse::<f64>();
    let allowed = |units: &u128| read(*units).is_ok_and(|shown| rounding.allows(shown, magnitude));
    match rounding {
        Rounding::Up => (near..=near + 1).find(allowed),
        Rounding::Down => (near.saturating_sub(1)..=near + 1).rev().find(allowed),
    }
}

/// The shortest decimal that is parsed as this number: its digits and its power of ten.
fn shortest(value: f64) -> Option<(String, i32)> {
    let text = format!("{value:e}");
    let (digits, exponent) = text.split_once('e')?;
    Some((digits.to_string(), exponent.parse().ok()?))
}

/// Whole units with a point before the last `decimals` digits, without trailing zeros after it.
fn with_point(units: &str, decimals: i32) -> String {
    let decimals = usize::try_from(decimals).unwrap_or(0);
    let padded = format!("{units:0>width$}", width = decimals + 1);
    let (whole, fraction) = padded.split_at(padded.len() - decimals);
    match fraction.trim_end_matches('0') {
        "" => whole.to_string(),
        fraction => format!("{whole}.{fraction}"),
    }
}

/// With commas between thousands.
fn with_commas(text: &str) -> String {
    let (sign, digits) = match text.strip_prefix('-') {
        Some(digits) => ("-", digits),
        None => ("", text),
    };
    let whole = digits.split_once('.').map_or(digits, |(whole, _)| whole);
    let mut out = sign.to_string();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && index < whole.len() && (whole.len() - index).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// 10⁻⁵ for −5.
pub fn power_of_ten(exponent: i32) -> String {
    const RAISED: [char; 10] = ['⁰', '¹', '²', '³', '⁴', '⁵', '⁶', '⁷', '⁸', '⁹'];
    let raised = |digit: char| match digit.to_digit(10) {
        Some(digit) => RAISED[digit as usize],
        None => '⁻',
    };
    let digits: String = exponent.to_string().chars().map(raised).collect();
    format!("10{digits}")
}

/// A count with commas between thousands.
pub fn count(value: u64) -> String {
    with_commas(&value.to_string())
}

/// A number someone chose, exactly: `0.5`, `2.6 × 10⁻⁵`.
pub fn exact(value: f64) -> String {
    match shortest(value) {
        Some((digits, exponent)) if value != 0.0 && !WRITTEN_OUT.contains(&exponent) => {
            let power = power_of_ten(exponent);
            match digits.as_str() {
                "1" => power,
                _ => format!("{digits} × {power}"),
            }
        }
        _ => value.to_string(),
    }
}

/// A measured number in about four digits, to nearest: neither a bound nor a choice.
pub fn plain(value: f64) -> String {
    if value == 0.0 || (1e-3..1e6).contains(&value.abs()) {
        let exponent = shortest(value).map_or(0, |(_, exponent)| exponent);
        let decimals = (3 - exponent).clamp(0, 7) as usize;
        let text = format!("{value:.decimals$}");
        return match text.contains('.') {
            true => text.trim_end_matches('0').trim_end_matches('.').to_string(),
            false => text,
        };
    }
    exact(format!("{value:.3e}").parse().unwrap_or(value))
}

/// A bound on a probability in percent, never below it. Close to certainty it gets more digits.
pub fn percent_up(share: f64) -> String {
    let doubt = (100.0 * (1.0 - share)).max(1e-6);
    let decimals = (1.0 - doubt.log10().floor()).clamp(1.0, 6.0) as i32;
    // Two places more than are shown: moving the point by two makes it percent, exactly.
    let units = match share {
        0.0..1.0 => whole_units(share, -2 - decimals, Rounding::Up),
        _ => None,
    };
    match units {
        Some(units) => format!("{} %", with_point(&units.to_string(), decimals)),
        None => "100 %".to_string(),
    }
}
