//! What the canaries of a run prove, as its folder keeps it.

use serde::{Deserialize, Serialize};
use tacita_accounting::decimal::{down, exact, up};

/// The only format there is.
pub const FORMAT: u32 = 1;

/// The audit of one run, stored as `audit.json` in its folder once the canaries are opened.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AuditFacts {
    /// [`FORMAT`].
    pub tacita_audit: u32,
    /// Whether the run is private at all; not with a fixed seed.
    pub private: bool,
    /// SHA-256 of the model that was attacked.
    pub model_sha256: String,
    /// The secret number that made the canaries and sealed the coins, in hexadecimal.
    pub secret: String,
    /// A 1 for each canary that was in, a 0 for each that was not.
    pub coins: String,
    /// What a score is, in words.
    pub score: String,
    /// What the attack thinks of each canary, larger for "in"; null where the model says nothing.
    pub scores: Vec<Option<f64>>,
    /// ε of the guarantee, proved from above; none if there is none.
    pub epsilon_upper: Option<f64>,
    /// ε as measured, from below: every bound at once holds with [`confidence`](Self::confidence).
    pub epsilon_lower: f64,
    /// Roughly the ε of a Gaussian that fits: an estimate.
    pub epsilon_estimate: f64,
    /// δ of all these.
    pub delta: f64,
    /// Probability that no bound exceeds the truth.
    pub confidence: f64,
    /// Every bound.
    pub bounds: Vec<AuditBound>,
    /// What the attack finds, beside what is proved of every attack.
    pub attack: Vec<AttackPoint>,
    /// Whether the guarantee is refuted.
    pub alarm: Alarm,
}

/// What an attack finds at a rate of false alarms. Membership was decided by coins, so it may be compared with what is
/// proved.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AttackPoint {
    /// Share of the canaries left out that it names.
    pub false_alarms: f64,
    /// Share of the canaries put in that it names.
    pub found: f64,
    /// 95 % band for chance in the coins, if canaries do not depend on each other: from here …
    pub found_from: f64,
    /// … to here.
    pub found_to: f64,
    /// No attack finds more on average, by the certified curve.
    pub proved_upper: Option<f64>,
}

/// One bound on ε from below.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AuditBound {
    /// `one-run` or `f-dp`.
    pub method: String,
    /// Canaries of which the attack said "in" or "out".
    pub guesses: u64,
    /// Those of which it said so rightly.
    pub right: u64,
    /// The bound is wrong with at most this probability.
    pub error: f64,
    /// The bound.
    pub epsilon_lower: f64,
}

/// Whether the guarantee is refuted.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Alarm {
    /// How likely such an audit is at most, if the guarantee holds.
    pub chance_upper: f64,
    /// An alarm is raised at this probability.
    pub false_alarm_rate: f64,
    /// Whether it is.
    pub raised: bool,
}

impl AuditFacts {
    /// How many canaries were in, and how many there were.
    pub fn canaries(&self) -> (usize, usize) {
        let inside = self.coins.bytes().filter(|coin| *coin == b'1').count();
        (inside, self.coins.len())
    }

    /// Both ends in one line.
    pub fn summary(&self) -> String {
        let proved = match self.epsilon_upper {
            Some(upper) => format!("proved ≤ {}", up(upper, 3)),
            None => "nothing proved".to_string(),
        };
        let confidence = exact((1e4 * self.confidence).round() / 100.0);
        let measured = format!(
            "{proved}, measured ≥ {} ({confidence} %, all methods together)",
            down(self.epsilon_lower, 3)
        );
        match self.private {
            true => measured,
            false => format!("NOT PRIVATE: {measured}, of a run whose keys came from a fixed seed"),
        }
    }

    /// The alarm, or that there is none.
    pub fn verdict(&self) -> String {
        let Alarm {
            chance_upper,
            false_alarm_rate,
            raised,
        } = self.alarm;
        let chance = up(chance_upper, 2);
        match raised {
            true => format!(
                "ALARM: the guarantee is refuted. If it held, so many right guesses would have a probability of at most {chance}. \
                 Do not release the model, and report what you did"
            ),
            false => format!(
                "no alarm: under the guarantee, right guesses like these have a probability of up to {chance}; an alarm is raised \
                 at {}",
                exact(false_alarm_rate)
            ),
        }
    }
}

/// What an audit does not say.
pub const CAVEAT: &str = "An audit never proves that a run is private. It fails to break it, and a better attack may come \
                          closer to what is proved. Someone who sees the released model alone, as this attack does, usually \
                          finds far less than the proof allows.";
