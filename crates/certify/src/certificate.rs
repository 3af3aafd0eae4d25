//! The proved ε beside the reported one.

use crate::finding::{Finding, Kind, Weight, of_circumstances};
use crate::history::{Batches, Divisor, Events, History, HistoryError};
use crate::shuffled;
use serde::Serialize;
use serde_json::{Value, json};
use std::fmt;
use tacita_accounting::decimal::{down, exact, up};
use tacita_accounting::{
    Accountant, Gdp, Ledger, Neighbours, Pld, Rdp, Reading, Sampling, check_delta,
};

/// What is known of a run beside its history; takes precedence over what the history says.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Claims {
    /// The ε that was reported.
    pub epsilon: Option<f64>,
    /// The δ that it was reported for.
    pub delta: Option<f64>,
    /// How batches were drawn.
    pub batches: Option<Batches>,
    /// What gradients were divided by.
    pub divisor: Option<Divisor>,
}

/// What is to be thought of the reported ε.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// Below the proved lower end: the run does not have it.
    False,
    /// Below what is proved, and not refuted.
    Unproved,
    /// In the bracket, or at most 1 % above it.
    Consistent,
    /// True, and more than 1 % above the proved ε.
    Loose,
    /// Nothing is private here, whatever was reported.
    NotPrivate,
    /// No ε was reported.
    NotCompared,
}

impl Verdict {
    /// In capitals where it is bad news.
    fn said(self) -> &'static str {
        match self {
            Self::False => "FALSE",
            Self::Unproved => "NOT PROVED",
            Self::Consistent => "consistent",
            Self::Loose => "true, but loose",
            Self::NotPrivate => "NOT PRIVATE",
            Self::NotCompared => "nothing was reported to compare with",
        }
    }
}

/// A proved ε, the reported one, and what does not match or cannot be known.
#[derive(Debug, Clone, PartialEq)]
pub struct Certificate {
    /// Whose history it is.
    pub source: String,
    /// δ.
    pub delta: f64,
    /// What is proved of ε; none if nothing is private.
    pub epsilon: Option<Reading>,
    /// The ε that was reported.
    pub reported: Option<f64>,
    /// What is to be thought of it.
    pub verdict: Verdict,
    /// The most serious first.
    pub findings: Vec<Finding>,
    /// The rounds of which ε was proved.
    pub ledger: Option<Ledger>,
}

/// A reported ε may lie this far above the proved one before it is called loose.
const LOOSE: f64 = 0.01;

/// Proves ε of a history and compares it with the reported one.
///
/// # Errors
/// Rounds that no accountant has a proof for, and a δ or ε that is none.
pub fn certify(history: &History, claims: &Claims) -> Result<Certificate, HistoryError> {
    let history = &History {
        epsilon: claims.epsilon.or(history.epsilon),
        delta: claims.delta.or(history.delta),
        batches: claims.batches.unwrap_or(history.batches),
        divisor: claims.divisor.unwrap_or(history.divisor),
        ..history.clone()
    };
    let delta = history.delta.ok_or(HistoryError::NoDelta)?;
    check_delta(delta)?;
    if let Some(epsilon) = history.epsilon
        && epsilon.is_nan()
    {
        return Err(HistoryError::field("epsilon", "must be a number, got NaN"));
    }
    let ledger = match &history.events {
        Events::NotPrivate(why) => return Ok(not_private(history, delta, why)),
        Events::Rounds(ledger) => ledger,
    };
    let is_sampled =
        (ledger.rounds().iter()).any(|round| matches!(round.sampling, Sampling::Poisson { .. }));
    let ledger = match history.batches {
        Batches::Shuffled if is_sampled => shuffled::passes(ledger)?,
        _ => ledger.clone(),
    };
    let reading = match history.selection {
        Some(runs) => runs.epsilon(&ledger, delta)?,
        None => proved(&ledger, delta)?,
    };
    let (verdict, finding) = compared(reading, history.epsilon);
    let mut findings: Vec<Finding> = finding.into_iter().collect();
    let replace_one = ledger.neighbours() == Neighbours::ReplaceOne;
    findings.extend(of_circumstances(history, is_sampled, replace_one));
    findings.sort_by_key(|finding| finding.weight);
    Ok(Certificate {
        source: history.source.clone(),
        delta,
        epsilon: Some(reading),
        reported: history.epsilon,
        verdict,
        findings,
        ledger: Some(ledger),
    })
}

/// The bracket, or the least of the upper bounds where there is none.
fn proved(ledger: &Ledger, delta: f64) -> Result<Reading, HistoryError> {
    ledger.check_not_empty()?;
    let pld = Pld::default();
    if pld.supports(ledger).is_ok() {
        return Ok(pld.epsilon(ledger, delta)?);
    }
    // An estimate has no upper bound and is left out here.
    let exact = Gdp
        .epsilon(ledger, delta)
        .ok()
        .and_then(Reading::upper_bound);
    match (Rdp.epsilon(ledger, delta), exact) {
        (Ok(reading), exact) => {
            let bound = reading.upper_bound().unwrap_or(f64::INFINITY);
            Ok(Reading::UpperBound(bound.min(exact.unwrap_or(bound))))
        }
        (Err(_), Some(exact)) => Ok(Reading::UpperBound(exact)),
        (Err(error), None) => Err(error.into()),
    }
}

fn not_private(history: &History, delta: f64, why: &str) -> Certificate {
    let text = format!("Nothing is private: {why}.");
    Certificate {
        source: history.source.clone(),
        delta,
        epsilon: None,
        reported: history.epsilon,
        verdict: Verdict::NotPrivate,
        findings: vec![Finding::new(Kind::NotPrivate, Weight::Wrong, text)],
        ledger: None,
    }
}

fn compared(proved: Reading, reported: Option<f64>) -> (Verdict, Option<Finding>) {
    let Some(reported) = reported else {
        return (Verdict::NotCompared, None);
    };
    let upper = proved.upper_bound().unwrap_or(f64::INFINITY);
    let lower = proved.lower_bound().unwrap_or(0.0);
    let finding = |kind, weight, text| Some(Finding::new(kind, weight, text));
    if reported < lower {
        let text = format!(
            "The reported ε = {} is below the proved lower end {}: there are data sets for which the history's noise \
             gives less privacy than that.",
            up(reported, 5),
            down(lower, 5)
        );
        (
            Verdict::False,
            finding(Kind::EpsilonTooSmall, Weight::Wrong, text),
        )
    } else if reported < upper && proved.lower_bound().is_none() {
        let text = format!(
            "The reported ε = {} is below {}, the least that is proved here; it is not refuted either.",
            up(reported, 5),
            up(upper, 5)
        );
        (
            Verdict::Unproved,
            finding(Kind::EpsilonUnproved, Weight::Wrong, text),
        )
    } else if reported > upper * (1.0 + LOOSE) {
        let text = format!(
            "The reported ε = {} holds, and is {:.0} % above what is proved: ε ≤ {} may be stated, or less noise used.",
            up(reported, 5),
            100.0 * (reported / upper - 1.0),
            up(upper, 5)
        );
        (
            Verdict::Loose,
            finding(Kind::EpsilonLoose, Weight::Caution, text),
        )
    } else {
        (Verdict::Consistent, None)
    }
}

impl Certificate {
    /// The certificate as a JSON object.
    pub fn to_json(&self) -> Value {
        let epsilon = match self.epsilon {
            Some(Reading::Bracket { lower, upper }) => json!({ "lower": lower, "upper": upper }),
            Some(reading) => json!({ "upper": reading.upper_bound() }),
            None => Value::Null,
        };
        json!({
            "source": self.source,
            "delta": self.delta,
            "epsilon": epsilon,
            "reported": self.reported,
            "verdict": self.verdict,
            "findings": self.findings,
            "ledger": self.ledger,
        })
    }
}

impl fmt::Display for Certificate {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let rounds = self.ledger.as_ref().map_or(0, Ledger::rounds_made);
        writeln!(
            out,
            "{}, {rounds} rounds, δ = {}",
            self.source,
            exact(self.delta)
        )?;
        match self.reported {
            Some(reported) => writeln!(
                out,
                "  ε reported  {}: {}",
                up(reported, 5),
                self.verdict.said()
            )?,
            None => writeln!(out, "  ε reported  none: {}", self.verdict.said())?,
        }
        match self.epsilon {
            Some(Reading::Bracket { lower, upper }) => {
                writeln!(
                    out,
                    "  ε proved    between {} and {}",
                    down(lower, 5),
                    up(upper, 5)
                )?;
            }
            Some(reading) => {
                let upper = reading.upper_bound().unwrap_or(f64::INFINITY);
                writeln!(out, "  ε proved    at most {}; no lower end", up(upper, 5))?;
            }
            None => writeln!(out, "  ε proved    none: it is infinite")?,
        }
        for finding in &self.findings {
            let weight = match finding.weight {
                Weight::Wrong => "WRONG  ",
                Weight::Caution => "caution",
                Weight::Unknown => "unknown",
            };
            writeln!(out, "  {weight}     {}", finding.text)?;
        }
        Ok(())
    }
}
