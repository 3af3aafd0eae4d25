//! What may be said of a run's privacy, in words a data-protection officer can check.

use crate::session::Session;
use serde::Serialize;
use std::fmt;
use tacita_accounting::Reading;

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

const CAVEATS: [&str; 4] = [
    "Holds for one record; a person with several records is protected less.",
    "Covers the released gradients and everything computed from them; not choices made by looking at \
     the data otherwise (tuning, preprocessing, early stopping on private scores).",
    "Rate and divisor come from the declared record count, which is taken as public.",
    "Assumes that nobody observes the memory or the timing of the training machine.",
];

/// What the guarantee does not cover on this device.
fn caveats(on_gpu: bool) -> Vec<&'static str> {
    let gpu = on_gpu.then_some(Report::GPU_CAVEAT);
    CAVEATS.into_iter().chain(gpu).collect()
}

impl Report {
    /// The caveat of runs on a GPU.
    pub const GPU_CAVEAT: &str = "Trained on a GPU: sums are exact, but a record's own gradient may differ in its last bits \
                                  with the batch it is in. The certificate assumes that it does not.";

    /// The statement of a session's whole plan.
    pub fn new(session: &Session) -> Self {
        let plan = session.plan();
        let (epsilon_lower, epsilon_upper) = match session.epsilon() {
            Reading::Bracket { lower, upper } => (lower, upper),
            Reading::UpperBound(upper) => (0.0, upper),
            Reading::Estimate(_) => (0.0, f64::INFINITY),
        };
        Self {
            private: session.is_private(),
            not_private_because: session.reasons_against(),
            unit: "one record",
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
            caveats: caveats(session.on_gpu()),
        }
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let guarantee = if self.epsilon_upper.is_finite() {
            let upper = rounded(self.epsilon_upper, 1e4, f64::ceil);
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
        let [lower, upper] = [
            rounded(self.epsilon_lower, 1e6, f64::floor),
            rounded(self.epsilon_upper, 1e6, f64::ceil),
        ];
        let lines = [
            ("unit", format!("{} ({})", self.unit, self.neighbours)),
            (
                "sampling",
                format!(
                    "{}, rate {} of {} declared records, {} steps",
                    self.sampling,
                    four_digits(self.rate),
                    self.public_record_count,
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

/// A bound with a few decimals, rounded in its own direction.
fn rounded(epsilon: f64, scale: f64, direction: fn(f64) -> f64) -> f64 {
    direction(epsilon * scale) / scale
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

    #[test]
    fn a_run_on_a_gpu_carries_the_caveat_of_gpus() {
        assert_eq!(caveats(false), CAVEATS);
        assert_eq!(caveats(true).last(), Some(&Report::GPU_CAVEAT));
    }
}
