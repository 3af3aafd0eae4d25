//! Numbers as people read them. Bounds round against us, and the names say which way.

use std::ops::Range;

/// A positive number in at least `digits` significant digits, never below it.
pub fn up(value: f64, digits: i32) -> String {
    rounded(value, digits, 1.0)
}

/// A positive number in at least `digits` significant digits, never above it.
pub fn down(value: f64, digits: i32) -> String {
    rounded(value, digits, -1.0)
}

fn rounded(value: f64, digits: i32, direction: f64) -> String {
    match decimal(value, digits, direction, -3..9) {
        None => exact(value),
        Some((text, 0)) => grouped(&text),
        Some((text, exponent)) => format!("{} × {}", grouped(&text), power_of_ten(exponent)),
    }
}

/// The digits of [`up`] for `direction` 1, of [`down`] for −1, and the power of ten they are times: 0 if the number's own
/// is in `plain`. None for what has no digits, or where neighbouring decimals are no neighbours in f64.
pub fn decimal(
    value: f64,
    digits: i32,
    direction: f64,
    plain: Range<i32>,
) -> Option<(String, i32)> {
    if value == 0.0 || !value.is_finite() {
        return None;
    }
    let own = value.abs().log10().floor() as i32;
    let (decimals, exponent) = match plain.contains(&own) {
        true => ((digits - 1 - own).max(0), 0),
        false => (digits - 1, own),
    };
    let scale = 10_f64.powi(decimals);
    let whole = (value / 10_f64.powi(exponent) * scale * direction).ceil() * direction;
    // Scaling may itself have rounded the wrong way: what counts is what the reader reads.
    [whole, whole + direction].into_iter().find_map(|whole| {
        let text = format!("{:.*}", decimals as usize, whole / scale);
        let back: f64 = format!("{text}e{exponent}").parse().unwrap_or(value);
        ((back - value) * direction >= 0.0).then(|| (trimmed(&text), exponent))
    })
}

/// Without trailing zeros after the point.
fn trimmed(text: &str) -> String {
    match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_string(),
        false => text.to_string(),
    }
}

/// With commas between thousands.
fn grouped(text: &str) -> String {
    let whole = text.split_once('.').map_or(text, |(whole, _)| whole);
    let mut out = String::new();
    for (index, digit) in text.chars().enumerate() {
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
    grouped(&value.to_string())
}

/// A number someone chose, exactly: `0.5`, `2.6 × 10⁻⁵`.
pub fn exact(value: f64) -> String {
    if value != 0.0 && !(1e-3..1e9).contains(&value.abs()) {
        let text = format!("{value:e}");
        if let Some((mantissa, exponent)) = text.split_once('e') {
            let power = power_of_ten(exponent.parse().unwrap_or(0));
            return match mantissa {
                "1" => power,
                _ => format!("{mantissa} × {power}"),
            };
        }
    }
    value.to_string()
}

/// A measured number in about four digits, to nearest: neither a bound nor a choice.
pub fn plain(value: f64) -> String {
    if value == 0.0 || (1e-3..1e6).contains(&value.abs()) {
        let exponent = if value == 0.0 {
            0
        } else {
            value.abs().log10().floor() as i32
        };
        let decimals = (3 - exponent).clamp(0, 7) as usize;
        return trimmed(&format!("{value:.decimals$}"));
    }
    exact(format!("{value:.3e}").parse().unwrap_or(value))
}

/// A probability bound in percent, never below it. Close to certainty it gets more digits.
pub fn percent_up(share: f64) -> String {
    let doubt = (100.0 * (1.0 - share)).max(1e-6);
    let decimals = (1.0 - doubt.log10().floor()).clamp(1.0, 6.0) as i32;
    let scale = 10_f64.powi(decimals);
    let mut whole = (share * 100.0 * scale).ceil();
    if whole / (100.0 * scale) < share {
        whole += 1.0;
    }
    let text = format!("{:.*}", decimals as usize, (whole / scale).min(100.0));
    format!("{} %", trimmed(&text))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests;
