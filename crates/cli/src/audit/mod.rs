//! Attacks on a finished run.
//!
//! [`open`] opens the sealed canaries of a run and bounds its ε from below. What is attacked is the released model, so
//! nothing more is spent. [`indicate`] attacks a model without canaries, which proves nothing.

mod attack;
mod scores;

pub use attack::{AttackOn, Indication, indicate};

use crate::files::write_lasting;
use crate::report::audit_facts::{Alarm, AttackPoint, AuditBound, AuditFacts, FORMAT};
use crate::report::{self, Report};
use crate::run::canaries::CanaryCoins;
use crate::run::{RunFolder, RunRecord, workbench};
use crate::run_files::RunFiles;
use crate::{device, files, tune};
use anyhow::{Context, Result, ensure};
use scores::{score_words, scores};
use sha2::{Digest, Sha256};
use std::fs;
use std::path::Path;
use tacita::{LedgerRecord, SealedCanaries};
use tacita_audit::audit::{FALSE_ALARM_RATE, Question, chance_upper, measure};
use tacita_audit::roc::Scores;
use tacita_audit::trade_off::Point;
use tacita_audit::{Coins, Curve};
use tacita_datasets::hex;

/// Probability that no bound of an audit exceeds the truth, unless another is asked for.
pub const CONFIDENCE: f64 = 0.95;

/// Opens the canaries of a finished run, measures what they prove, and writes it into the folder and its report.
pub fn open(path: &Path, confidence: f64) -> Result<AuditFacts> {
    ensure!(
        (0.5..1.0).contains(&confidence),
        "--confidence must be at least 0.5 and below 1, got {confidence}"
    );
    tune::refuse_secret(path)?;
    let (folder, record) = RunFolder::open_to_write(path)?;
    folder.check_ledger()?;
    let ledger = tacita::read_ledger_file(&folder.ledger())?;
    let sealed = sealed(&ledger, path)?;
    check_finished(&folder, &ledger, path)?;
    let coins = CanaryCoins::of(&folder, sealed)?;
    let report = report::read(path)?;
    let audit = measured(&folder, &record, &coins, &report, confidence)?;
    let text = format!("{:#}\n", serde_json::to_value(&audit)?);
    // As with the facts, what is there is always bound.
    tacita::bind_file_to_ledger(&folder.ledger(), RunFiles::AUDIT, text.as_bytes())?;
    write_lasting(&folder.audit(), text.as_bytes())?;
    report::write_all(path)?;
    // They are open now.
    let _ = fs::remove_file(folder.canary_coins());
    files::hide_times(path)?;
    Ok(audit)
}

fn sealed<'a>(ledger: &'a LedgerRecord, path: &Path) -> Result<&'a SealedCanaries> {
    ledger.label.canaries.as_ref().with_context(|| {
        format!(
            "{} has no canaries: they must be in before the first step. Train with --audit 1000; a finished model without \
             them can only be attacked as an indication, by: tacita attack {}",
            path.display(),
            path.display()
        )
    })
}

/// Canaries are opened after the last step only: whoever trains on could make them say anything.
fn check_finished(folder: &RunFolder, ledger: &LedgerRecord, path: &Path) -> Result<()> {
    let (made, planned) = (ledger.released.rounds_made(), ledger.plan.rounds_made());
    ensure!(
        made == planned && folder.model().exists() && folder.facts().exists(),
        "the run has made {made} of {planned} rounds, and its canaries are opened after the last one only; resume it by: \
         tacita resume {}",
        path.display()
    );
    Ok(())
}

fn measured(
    folder: &RunFolder,
    record: &RunRecord,
    coins: &CanaryCoins,
    report: &Report,
    confidence: f64,
) -> Result<AuditFacts> {
    let tossed = coins.coins();
    let all: Vec<u64> = (0..tossed.len() as u64).collect();
    let records = coins.records(&all, &record.preparation, &record.settings)?;
    let mut bench = workbench(record.model_spec(), &device::host())?;
    bench.load(&folder.model())?;
    let scores = scores(&*bench, &records)?;
    let ranked = Coins::new(&scores, &tossed)?;
    let (epsilon_upper, delta) = report.bound();
    let found = measure(&ranked, &Question { delta, confidence });
    let chance = match epsilon_upper {
        Some(_) => chance_upper(&ranked, &curve(report)),
        None => 1.0,
    };
    let model = fs::read(folder.model())
        .with_context(|| format!("cannot read {}", folder.model().display()))?;
    let (secret, opened) = coins.open();
    Ok(AuditFacts {
        tacita_audit: FORMAT,
        private: report.is_private(),
        model_sha256: hex(&Sha256::digest(&model)),
        secret: secret.into(),
        coins: opened.into(),
        score: score_words(&records, &*bench).into(),
        scores: scores.iter().map(|s| s.is_finite().then_some(*s)).collect(),
        epsilon_upper,
        epsilon_lower: found.epsilon_lower,
        epsilon_estimate: found.epsilon_estimate,
        delta,
        confidence,
        bounds: (found.bounds.iter())
            .map(|bound| AuditBound {
                method: bound.method.name().into(),
                guesses: bound.guesses.made,
                right: bound.guesses.right,
                error: bound.error,
                epsilon_lower: bound.epsilon_lower,
            })
            .collect(),
        attack: attack_points(&scores, &tossed, &curve(report)),
        alarm: Alarm {
            chance_upper: chance,
            false_alarm_rate: FALSE_ALARM_RATE,
            raised: chance <= FALSE_ALARM_RATE,
        },
    })
}

/// What the scores find at a few rates of false alarms.
fn attack_points(scores: &[f64], coins: &[bool], curve: &Curve) -> Vec<AttackPoint> {
    let of = |coin: bool| -> Vec<f64> {
        let both = scores.iter().zip(coins);
        both.filter(|(_, is)| **is == coin)
            .map(|(s, _)| *s)
            .collect()
    };
    let Some(roc) = Scores::new(&of(true), &of(false)) else {
        return Vec::new();
    };
    let at = |false_alarms: f64| {
        let found = roc.at(false_alarms);
        AttackPoint {
            false_alarms,
            found: found.found,
            found_from: found.lower,
            found_to: found.upper,
            proved_upper: Some(curve.most_found(false_alarms)),
        }
    };
    [0.01, 0.1, 0.5].map(at).to_vec()
}

/// The certified curve, which is the hypothesis of the alarm.
fn curve(report: &Report) -> Curve {
    let points: Vec<Point> = (report.curve().iter())
        .map(|point| Point {
            epsilon: point.epsilon,
            delta: point.delta_upper,
        })
        .collect();
    Curve::of(&points)
}
