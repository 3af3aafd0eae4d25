//! Numbers as people read them. Bounds round against us, and the names say which way.

use crate::plot::power_of_ten;

/// A positive number in at least `digits` significant digits, never below it.
pub fn up(value: f64, digits: i32) -> String {
    rounded(value, digits, 1.0)
}

/// A positive number in at least `digits` significant digits, never above it.
pub fn down(value: f64, digits: i32) -> String {
    rounded(value, digits, -1.0)
}

fn rounded(value: f64, digits: i32, direction: f64) -> String {
    if value == 0.0 || !value.is_finite() {
        return value.to_string();
    }
    let exponent = value.abs().log10().floor() as i32;
    let (scale_exponent, shown_exponent) = match exponent {
        -3..9 => ((digits - 1 - exponent).max(0), 0),
        _ => (digits - 1, exponent),
    };
    let decimals = scale_exponent as usize;
    let mantissa = value / 10_f64.powi(shown_exponent);
    let scale = 10_f64.powi(scale_exponent);
    let whole = (mantissa * scale * direction).ceil() * direction;
    // Scaling may itself have rounded the wrong way: what counts is what the reader reads.
    for whole in [whole, whole + direction] {
        let text = format!("{:.decimals$}", whole / scale);
        let back: f64 = format!("{text}e{shown_exponent}").parse().unwrap_or(value);
        if (back - value) * direction >= 0.0 {
            return if shown_exponent == 0 {
                trimmed(&text)
            } else {
                format!("{} × {}", trimmed(&text), power_of_ten(shown_exponent))
            };
        }
    }
    // Only where neighbouring decimals are no neighbours in f64; then all digits are short.
    exact(value)
}

/// Without trailing zeros, with commas between thousands.
fn trimmed(text: &str) -> String {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let fraction = fraction.trim_end_matches('0');
    let point = if fraction.is_empty() { "" } else { "." };
    format!("{}{point}{fraction}", grouped(whole))
}

fn grouped(digits: &str) -> String {
    let mut out = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
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
        let text = format!("{value:.decimals$}");
        return match text.contains('.') {
            true => text.trim_end_matches('0').trim_end_matches('.').to_string(),
            false => text,
        };
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
