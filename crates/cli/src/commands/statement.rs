//! How figures are shown: rounded against us, `≤` for bounds, `≈` for estimates.

use anyhow::{Result, ensure};
use serde_json::{Value, json};
use tacita_accounting::decimal::{Rounding, decimal};
use tacita_accounting::{Ledger, Neighbours, Reading, Sampling};

/// Digits shown to people; JSON carries all.
const DIGITS: i32 = 5;

/// A positive number with five significant digits, rounded up.
pub fn up(value: f64) -> String {
    rounded(value, Rounding::Up)
}

/// A positive number with five significant digits, rounded down.
pub fn down(value: f64) -> String {
    rounded(value, Rounding::Down)
}

/// As it would be typed, so without commas and raised digits.
fn rounded(value: f64, rounding: Rounding) -> String {
    match decimal(value, DIGITS, rounding, -4..7) {
        None => value.to_string(),
        Some((text, 0)) => text,
        Some((text, exponent)) => format!("{text}e{exponent}"),
    }
}

/// A value that the user gave, as it would be typed.
pub fn short(value: f64) -> String {
    if value != 0.0 && value.abs() < 1e-2 {
        format!("{value:e}")
    } else {
        value.to_string()
    }
}

/// `≤ x` or `≈ x`, the sign saying what it is worth.
pub fn figure(reading: Reading) -> String {
    match reading {
        Reading::UpperBound(upper) | Reading::Bracket { upper, .. } => format!("≤ {}", up(upper)),
        Reading::Estimate(value) => format!("≈ {}", up(value)),
    }
}

/// What stands behind a figure.
pub fn warrant(reading: Reading) -> String {
    match reading {
        Reading::UpperBound(_) => "proved".to_string(),
        Reading::Bracket { lower, upper } => {
            format!(
                "proved; the truth lies between {} and {}",
                down(lower),
                up(upper)
            )
        }
        Reading::Estimate(_) => "an estimate, NO GUARANTEE: the truth may be larger".to_string(),
    }
}

/// A reading as JSON: `{"lower","upper"}`, `{"upper"}` or `{"estimate"}`.
pub fn to_json(reading: Reading) -> Value {
    match reading {
        Reading::UpperBound(upper) => json!({ "upper": upper }),
        Reading::Bracket { lower, upper } => json!({ "lower": lower, "upper": upper }),
        Reading::Estimate(estimate) => json!({ "estimate": estimate }),
    }
}

/// An error unless the reading is finite (a JSON number cannot be infinite, and ∞ promises nothing).
pub fn check_finite(reading: Reading) -> Result<Reading> {
    let value = match reading {
        Reading::UpperBound(value) | Reading::Estimate(value) => value,
        Reading::Bracket { upper, .. } => upper,
    };
    ensure!(
        value.is_finite(),
        "no finite bound exists for this ledger; use more noise"
    );
    Ok(reading)
}

/// Unit, relation, sampling and noise of a ledger, one line each.
pub fn circumstances(ledger: &Ledger) -> String {
    let neighbours = match ledger.neighbours() {
        Neighbours::AddOrRemoveOne => "add-or-remove-one (the unit is present or absent)",
        Neighbours::ReplaceOne => "replace-one (the unit has other values)",
    };
    let mut kinds: Vec<&str> = Vec::new();
    for round in ledger.rounds() {
        let name = round.sampling.name();
        if !kinds.contains(&name) {
            kinds.push(name);
        }
    }
    let unit = match ledger.records_per_unit() {
        1 => "one record".to_string(),
        records => format!("one user with up to {records} records"),
    };
    let mut text = format!("  unit        {unit}\n  neighbours  {neighbours}\n");
    for kind in kinds {
        text += &format!("  sampling    {}\n", sampling_line(ledger, kind));
    }
    text + &format!("  noise       {}\n", noise_line(ledger))
}

fn sampling_line(ledger: &Ledger, kind: &str) -> String {
    let rounds = ledger.rounds().iter().filter(|r| r.sampling.name() == kind);
    let steps: u64 = rounds.clone().map(|round| round.times).sum();
    let shares: Vec<f64> = rounds
        .map(|round| match round.sampling {
            Sampling::Poisson { rate } => rate,
            Sampling::FixedSize { batch, of } => batch as f64 / of as f64,
            Sampling::Partition { batches } => (batches as f64).recip(),
            Sampling::Full {} => 1.0,
        })
        .collect();
    let share = range(&shares);
    match kind {
        "poisson" => format!(
            "Poisson at rate {share}, {steps} steps; each record drawn on its own each step.\n              \
             Not valid for shuffled epochs"
        ),
        "fixed-size" => {
            format!("a random subset, {share} of the records, without replacement, {steps} steps")
        }
        "partition" => format!(
            "{steps} passes over disjoint batches, {share} of the records each; a record's\n              \
             batch must not depend on other records"
        ),
        // Statistics and scores as a rule, which are rounds and no steps.
        _ => format!("every record in each of {steps} rounds"),
    }
}

fn noise_line(ledger: &Ledger) -> String {
    let effective: Vec<f64> = ledger
        .rounds()
        .iter()
        .map(|round| round.effective_noise_multiplier())
        .collect();
    let several = ledger
        .rounds()
        .iter()
        .any(|r| r.noise_multipliers.len() > 1);
    let joint = if several {
        ", all queries of a round together"
    } else {
        ""
    };
    format!(
        "multiplier {} (noise std / sensitivity{joint})",
        range(&effective)
    )
}

fn range(values: &[f64]) -> String {
    let least = values.iter().copied().fold(f64::INFINITY, f64::min);
    let greatest = values.iter().copied().fold(0.0, f64::max);
    if least == greatest {
        return down(least);
    }
    format!("{} to {}", down(least), up(greatest))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testkit::{awkward, bounds};

    #[test]
    fn printed_bounds_never_lie_below_the_value() {
        for value in [
            1.662_194_9,
            0.000_123_456_7,
            3.4e-9,
            12_345.678,
            1.0,
            0.1,
            99_999.99,
            1e-5,
        ] {
            let shown: f64 = up(value).parse().unwrap_or(f64::NAN);
            assert!(shown >= value, "{shown} for {value}");
            assert!(shown <= value * 1.000_2, "{shown} for {value}");
            let shown: f64 = down(value).parse().unwrap_or(f64::NAN);
            assert!(shown <= value && shown >= value * 0.999_8);
        }
        assert_eq!(up(1.662_194_9), "1.6622");
        assert_eq!(up(3.0), "3");
        assert_eq!(down(1e-9), "1e-9");
    }

    #[test]
    fn no_statement_prints_a_bound_below_the_proved_one() {
        for epsilon in awkward() {
            let bracket = Reading::Bracket {
                lower: epsilon,
                upper: epsilon,
            };
            for reading in [bracket, Reading::UpperBound(epsilon)] {
                assert!(bounds(&figure(reading), "≤ ")[0] >= epsilon, "{epsilon:e}");
            }
            let words = warrant(bracket);
            assert!(
                bounds(&words, "between ")[0] <= epsilon,
                "{epsilon:e}: {words}"
            );
            assert!(
                bounds(&words, " and ")[0] >= epsilon,
                "{epsilon:e}: {words}"
            );
            assert_eq!(to_json(bracket)["upper"], epsilon);
        }
    }

    #[test]
    fn estimates_are_never_shown_as_bounds() {
        assert!(figure(Reading::Estimate(1.0)).starts_with('≈'));
        assert!(warrant(Reading::Estimate(1.0)).contains("NO GUARANTEE"));
        assert!(figure(Reading::UpperBound(1.0)).starts_with('≤'));
    }
}
