//! The privacy statement of a run, in words a data-protection officer can check.

use crate::mechanism::session::Session;
use serde::Serialize;
use std::fmt;
use tacita_accounting::Reading;
use tacita_accounting::decimal::{down, up};

/// The privacy statement of a run.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Report {
    /// False if keys came from a fixed seed or raw quantities were shown: then nothing here is a
    /// guarantee.
    pub private: bool,
    /// Why not, if not.
    pub not_private_because: Vec<&'static str>,
    /// What one unit of privacy is.
    pub unit: &'static str,
    /// How neighbouring data sets differ.
    pub neighbours: &'static str,
    /// How records were drawn.
    pub sampling: &'static str,
    /// The probability with which a record took part in a step.
    pub rate: f64,
    /// Records as declared.
    pub public_record_count: u64,
    /// Steps of the plan.
    pub steps: u64,
    /// Noise multiplier of each query of a round: the gradient first.
    pub noise_multipliers: Vec<f64>,
    /// Certified lower end of ε of the whole plan.
    pub epsilon_lower: f64,
    /// Certified upper end of ε of the whole plan: the guarantee.
    pub epsilon_upper: f64,
    /// δ of the guarantee.
    pub delta: f64,
    /// The accountant that certified it.
    pub accountant: &'static str,
    /// The version of this library.
    pub version: &'static str,
    /// What the guarantee does not cover.
    pub caveats: Vec<&'static str>,
}

const ONE_RECORD: &str = "Holds for one record; a person with several records is protected less.";
const SOME_RECORDS: &str =
    "Holds for owners of a bounded number of records; whoever has more is protected less.";
const ONE_UNIT: &str =
    "Holds for one person with all their records, as far as equal identifiers say who is one.";

const CAVEATS: [&str; 3] = [
    "Covers the released gradients and everything computed from them; not choices made by looking at \
     the data otherwise (tuning, preprocessing, early stopping on private scores).",
    "Rate and divisor come from the declared record count, which is taken as public.",
    "Assumes that nobody observes the memory or the timing of the training machine.",
];

/// What the guarantee does not cover on this device.
fn caveats(unit: &'static str, on_gpu: bool) -> Vec<&'static str> {
    let gpu = on_gpu.then_some(Report::GPU_CAVEAT);
    let unit = std::iter::once(unit);
    unit.chain(CAVEATS).chain(gpu).collect()
}

impl Report {
    /// The caveat of runs on a GPU.
    pub const GPU_CAVEAT: &str = "Trained on a GPU, in passes of one public size. That it gives a record's own gradient the \
                                  same bits at every place of such a pass was checked on synthetic records when the run \
                                  began; it is not proved.";

    /// The statement of a session's whole plan.
    pub fn new(session: &Session) -> Self {
        let plan = session.plan();
        let (epsilon_lower, epsilon_upper) = match session.epsilon() {
            Reading::Bracket { lower, upper } => (lower, upper),
            Reading::UpperBound(upper) => (0.0, upper),
            Reading::Estimate(_) => (0.0, f64::INFINITY),
        };
        let (unit, caveat) = match (plan.records_per_unit(), plan.ledger().records_per_unit()) {
            (Some(_), _) => ("one person", ONE_UNIT),
            (None, 1) => ("one record", ONE_RECORD),
            (None, _) => ("one owner of a bounded number of records", SOME_RECORDS),
        };
        Self {
            private: session.is_private(),
            not_private_because: session.why_not_private(),
            unit,
            neighbours: plan.ledger().neighbours().name(),
            sampling: "Poisson",
            rate: plan.rate(),
            public_record_count: plan.public_record_count(),
            steps: plan.steps(),
            noise_multipliers: plan.noise_multipliers(0),
            epsilon_lower,
            epsilon_upper,
            delta: plan.delta(),
            accountant: "privacy loss distribution (certified bracket)",
            version: env!("CARGO_PKG_VERSION"),
            caveats: caveats(caveat, session.on_gpu()),
        }
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let guarantee = if self.epsilon_upper.is_finite() {
            let upper = up(self.epsilon_upper, 5);
            format!("ε ≤ {upper} at δ = {:e}", self.delta)
        } else {
            format!(
                "no finite ε at δ = {:e}: there is too little noise",
                self.delta
            )
        };
        if self.private {
            writeln!(f, "Privacy: {guarantee}")?;
        } else {
            for reason in &self.not_private_because {
                writeln!(f, "NOT PRIVATE: {reason}.")?;
            }
            writeln!(
                f,
                "With secret keys and no diagnostics the same plan would give {guarantee}"
            )?;
        }
        let multipliers: Vec<_> = self
            .noise_multipliers
            .iter()
            .map(|z| format!("{z:.4}"))
            .collect();
        let (lower, upper) = (down(self.epsilon_lower, 7), up(self.epsilon_upper, 7));
        let lines = [
            ("unit", format!("{} ({})", self.unit, self.neighbours)),
            (
                "sampling",
                format!(
                    "{}, rate {} of {} declared {}, {} steps",
                    self.sampling,
                    four_digits(self.rate),
                    self.public_record_count,
                    if self.unit == "one person" {
                        "people"
                    } else {
                        "records"
                    },
                    self.steps
                ),
            ),
            ("noise", format!("multiplier {}", multipliers.join(", "))),
            (
                "accountant",
                format!("{}, ε in [{lower}, {upper}]", self.accountant),
            ),
        ];
        for (name, text) in lines {
            writeln!(f, "  {name:<12}{text}")?;
        }
        for caveat in &self.caveats {
            let mut name = "caveat";
            for line in wrapped(caveat) {
                writeln!(f, "  {name:<12}{line}")?;
                name = "";
            }
        }
        Ok(())
    }
}

/// A rate with about four digits; the ledger holds all of them.
fn four_digits(rate: f64) -> String {
    if rate >= 1e-2 {
        format!("{rate:.4}")
    } else {
        format!("{rate:.3e}")
    }
}

/// The text in lines of at most 80 characters.
fn wrapped(text: &str) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split(' ') {
        match lines.last_mut() {
            Some(line) if line.len() + 1 + word.len() <= 80 => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_string()),
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_run_on_a_gpu_carries_the_caveat_of_gpus() {
        assert_eq!(caveats(ONE_RECORD, false)[0], ONE_RECORD);
        assert_eq!(caveats(ONE_RECORD, false)[1..], CAVEATS);
        assert_eq!(caveats(ONE_UNIT, true).last(), Some(&Report::GPU_CAVEAT));
    }

    fn report(epsilon: f64) -> Report {
        Report {
            private: true,
            not_private_because: Vec::new(),
            unit: "one record",
            neighbours: "add-or-remove-one",
            sampling: "Poisson",
            rate: 0.01,
            public_record_count: 1000,
            steps: 10,
            noise_multipliers: vec![1.0],
            epsilon_lower: epsilon,
            epsilon_upper: epsilon,
            delta: 1e-5,
            accountant: "none",
            version: "0",
            caveats: Vec::new(),
        }
    }

    /// The number after some words of the printed report.
    fn printed(report: &str, words: &str) -> f64 {
        let after = report.split(words).nth(1).unwrap_or_default();
        let end = after.find([' ', ',', ']']).unwrap_or(after.len());
        after[..end].parse().unwrap_or(f64::NAN)
    }

    fn assert_outward(epsilon: f64) {
        let text = report(epsilon).to_string();
        assert!(printed(&text, "ε ≤ ") >= epsilon, "{epsilon:e}: {text}");
        assert!(printed(&text, "ε in [") <= epsilon, "{epsilon:e}: {text}");
        let bracket = text.split("ε in [").nth(1).unwrap_or_default();
        assert!(printed(bracket, ", ") >= epsilon, "{epsilon:e}: {text}");
    }

    proptest! {
        #[test]
        fn printed_bounds_lie_outside_the_proved_ones(epsilon in 1e-3f64..999.0, decimals in 1u32..7) {
            assert_outward(epsilon);
            // Next to a short decimal a careless rounding would lose the last bit.
            let scale = 10f64.powi(decimals as i32);
            let short = ((epsilon * scale).round() / scale).max(1e-3);
            for near in [short, short.next_up(), short.next_down().max(1e-3)] {
                assert_outward(near);
            }
        }
    }
}
