//! The audit of a run: whether its canaries are the ones that the ledger sealed, and what they prove.

use crate::bracket::Bracket;
use crate::chain::sha256;
use crate::error::{VerifyError, read};
use crate::finding::{Findings, Standing};
use crate::ledger::RunLedger;
use serde_json::Value;
use std::path::Path;
use tacita_audit::audit::{FALSE_ALARM_RATE, Question, chance_upper, measure};
use tacita_audit::{Coins, Curve};

/// The file.
pub(crate) const AUDIT: &str = "audit.json";

/// How far figures may lie apart that are computed twice by the same program on another machine.
const SAME_UP_TO: f64 = 1e-6;

/// Looks at the canaries, if the run has any.
pub(crate) fn check(
    findings: &mut Findings,
    folder: &Path,
    ledger: &RunLedger,
    proved: &Bracket,
    delta: f64,
    model: &str,
) -> Result<(), VerifyError> {
    let path = folder.join(AUDIT);
    let Some(sealed) = &ledger.canaries else {
        if path.exists() {
            findings.add(
                Standing::Refused,
                "there is an audit, and the ledger sealed no canaries before the first step",
            );
        }
        return Ok(());
    };
    if !path.exists() {
        findings.add(
            Standing::Claimed,
            format!(
                "the coins of {} canaries were sealed before the first step; they are not opened yet",
                sealed.count
            ),
        );
        return Ok(());
    }
    findings.expect(
        ledger.files.contains_key(AUDIT),
        "the ledger binds audit.json",
        "the ledger does not bind audit.json: it was added by somebody, or lines were lost",
    );
    let audit: Value =
        serde_json::from_slice(&read(&path)?).map_err(|source| VerifyError::Json {
            file: AUDIT,
            source,
        })?;
    let Some(opened) = Opened::read(&audit) else {
        findings.add(
            Standing::Refused,
            "audit.json does not hold a secret, coins and scores of as many canaries",
        );
        return Ok(());
    };
    let same = opened.seal() == sealed.sha256 && opened.coins.len() as u64 == sealed.count;
    findings.expect(
        same,
        format!(
            "audit.json opens the {} canaries that the ledger sealed before the first step; {} were in",
            sealed.count,
            opened.coins.iter().filter(|coin| **coin).count()
        ),
        "audit.json opens other canaries than the ledger sealed before the first step: coins were changed afterwards",
    );
    findings.expect(
        audit["model_sha256"].as_str() == Some(&sha256(&read(&folder.join(model))?)),
        format!("the audit is about {model}"),
        format!("the audit is about another model than {model}: the model was replaced"),
    );
    the_figures(findings, &audit, &opened, proved, delta, ledger.private);
    findings.add(
        Standing::Claimed,
        "the scores of the canaries are what the model says of them, and nobody who made the model knew the coins",
    );
    Ok(())
}

/// Whether what is measured follows from the scores, and leaves the guarantee standing.
fn the_figures(
    findings: &mut Findings,
    audit: &Value,
    opened: &Opened,
    proved: &Bracket,
    delta: f64,
    private: bool,
) {
    let confidence = audit["confidence"].as_f64().unwrap_or(f64::NAN);
    let stated = audit["epsilon_lower"].as_f64().unwrap_or(f64::NAN);
    let coins = Coins::new(&opened.scores, &opened.coins);
    let measured = coins
        .as_ref()
        .ok()
        .filter(|_| (0.5..1.0).contains(&confidence));
    let measured = measured.map(|coins| measure(coins, &Question { delta, confidence }));
    let lower = measured.map_or(f64::NAN, |measured| measured.epsilon_lower);
    findings.expect(
        (stated - lower).abs() <= SAME_UP_TO * (1.0 + lower),
        format!("its coins and scores measure ε ≥ {stated} at δ = {delta:e}, as it states ({} % confidence)", 100.0 * confidence),
        format!("its coins and scores measure ε ≥ {lower}, and it states ε ≥ {stated}"),
    );
    // A point of the curve alone: weaker than the whole, so what it refutes is refuted.
    let curve = Curve::through(proved.upper, delta);
    let refuted = coins.is_ok_and(|coins| chance_upper(&coins, &curve) <= FALSE_ALARM_RATE);
    let raised = audit["alarm"]["raised"].as_bool() != Some(false);
    findings.expect(
        !refuted && !raised,
        "the audit does not refute the guarantee",
        "ALARM: the audit refutes the guarantee; right guesses like these are less likely than one in a million under it",
    );
    findings.expect(
        audit["private"].as_bool() == Some(private),
        "the audit and the ledger agree on whether the run is private",
        "the audit and the ledger disagree on whether the run is private",
    );
}

/// What an audit opens.
struct Opened {
    secret: String,
    text: String,
    coins: Vec<bool>,
    scores: Vec<f64>,
}

impl Opened {
    fn read(audit: &Value) -> Option<Self> {
        let secret = audit["secret"].as_str()?.to_string();
        let text = audit["coins"].as_str()?.to_string();
        let coin = |letter| match letter {
            '0' => Some(false),
            '1' => Some(true),
            _ => None,
        };
        let coins: Option<Vec<bool>> = text.chars().map(coin).collect();
        // A model may say nothing of a canary.
        let score = |value: &Value| match value {
            Value::Null => Some(f64::NAN),
            value => value.as_f64(),
        };
        let scores: Option<Vec<f64>> = audit["scores"].as_array()?.iter().map(score).collect();
        let (coins, scores) = (coins?, scores?);
        (!coins.is_empty() && coins.len() == scores.len()).then_some(Self {
            secret,
            text,
            coins,
            scores,
        })
    }

    /// What a ledger seals: `printf 'tacita canaries 1\n%s\n%s\n' SECRET COINS | sha256sum`.
    fn seal(&self) -> String {
        sha256(format!("tacita canaries 1\n{}\n{}\n", self.secret, self.text).as_bytes())
    }
}
