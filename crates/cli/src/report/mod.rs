//! The privacy report of a run: one HTML page that needs nothing else, and the same as JSON.
//!
//! A run leaves [`Facts`]; every figure is computed here from its plan, so that a report shows no
//! number on trust that it can check.

mod about_run;
mod account_facts;
pub mod audit_facts;
pub mod caveats;
mod charts;
mod check;
pub mod facts;
pub(crate) mod figures;
mod files;
mod folder;
pub mod groups;
mod nist;
mod odds;
mod one_record;
pub mod page;
mod registry;
pub mod risk;
mod utility_charts;
pub mod words;

#[cfg(test)]
mod tests;

pub use folder::{audit_of, read, write, write_all, write_registry};

use anyhow::Result;
use audit_facts::AuditFacts;
use facts::{Facts, Tuning};
use figures::{Figures, SideCost};
use files::FileHashes;
use groups::GroupCost;
use odds::Attack;
use one_record::OneRecord;
use risk::Risk;
use serde_json::{Value, json};
use tacita::LedgerRecord;

/// False-alarm rates of the attacks that are bounded.
const FALSE_ALARMS: [f64; 3] = [0.001, 0.01, 0.1];

/// Facts and figures of one run.
#[derive(Debug, Clone)]
pub struct Report {
    facts: Facts,
    figures: Figures,
    side_costs: Vec<SideCost>,
    /// See [`odds::odds_exponent`]; none if ε is too large to mean anything, or if its curve is not known.
    odds_exponent: Option<f64>,
    attacks: Vec<Attack>,
    curve: Vec<figures::CurvePoint>,
    coin_guess_upper: f64,
    /// The same as risks; none if ε is too large to mean anything.
    risk: Option<Risk>,
    /// ε of people with several records; empty of a run of a search, and where it means nothing.
    groups: Vec<GroupCost>,
    /// What is promised about one record, where the unit of privacy is a person.
    one_record: Option<OneRecord>,
    /// The files of the run, if there is a folder.
    files: Option<FileHashes>,
    /// What its canaries prove, if it had any and they were opened.
    audit: Option<AuditFacts>,
}

impl Report {
    /// Checks the facts and computes the figures.
    pub fn new(facts: Facts) -> Result<Self> {
        check::check(&facts)?;
        let (figures, curve) = match facts.tuning {
            Tuning::PartOfSearch {
                epsilon_upper,
                delta,
            } => (
                Figures::of_search(epsilon_upper, delta),
                odds::curve_through(epsilon_upper, delta),
            ),
            _ => {
                let figures = figures::figures(&facts.plan, facts.delta, facts.delta_reserved)?;
                let curve = figures.curve.clone();
                (figures, curve)
            }
        };
        let attack = |false_alarms| odds::attack(&curve, false_alarms);
        Ok(Self {
            side_costs: figures::side_costs(&facts)?,
            odds_exponent: odds::odds_exponent(&curve, facts.delta),
            attacks: FALSE_ALARMS.map(attack).to_vec(),
            risk: match facts.private() {
                true => risk::risk(&curve, facts.delta),
                false => None,
            },
            coin_guess_upper: odds::coin_guess_upper(&curve),
            groups: groups::of(&facts)?,
            one_record: one_record::of(&facts)?,
            curve,
            files: None,
            audit: None,
            figures,
            facts,
        })
    }

    /// The same with the run's ledger beside it: what the ledger holds must be what the facts say.
    /// The ledger decides how many rounds were released.
    pub fn with_ledger(mut facts: Facts, ledger: &LedgerRecord) -> Result<Self> {
        check::check(&facts)?;
        check::agree(&facts, ledger)?;
        facts.rounds_made = ledger.released.rounds_made();
        Self::new(facts)
    }

    /// The same with the hashes of the files of the run.
    #[must_use]
    pub fn with_files(mut self, files: FileHashes) -> Self {
        self.files = Some(files);
        self
    }

    /// The same with what the canaries of the run prove.
    #[must_use]
    pub fn with_audit(mut self, audit: Option<AuditFacts>) -> Self {
        self.audit = audit;
        self
    }

    /// What the canaries of the run prove.
    pub fn audit(&self) -> Option<&AuditFacts> {
        self.audit.as_ref()
    }

    /// ε and δ of the guarantee, or of what would be one with secret keys.
    pub fn bound(&self) -> (Option<f64>, f64) {
        (self.figures.certified.upper, self.figures.delta)
    }

    /// Points of the certified curve; of a run of a search those that follow from the guarantee.
    pub fn curve(&self) -> &[figures::CurvePoint] {
        &self.curve
    }

    /// The guarantee as risks.
    pub fn risk(&self) -> Option<&Risk> {
        self.risk.as_ref()
    }

    /// Whether there is a guarantee.
    pub fn is_private(&self) -> bool {
        self.facts.private()
    }

    /// The report as one HTML page.
    pub fn html(&self) -> String {
        page::render(self)
    }

    /// The guarantee in one line, or that there is none.
    pub fn summary(&self) -> String {
        let bound = words::bound(&self.figures);
        if self.facts.private() {
            match words::search(&self.facts) {
                Some(search) => format!("Privacy: {bound}. {search}"),
                None => format!("Privacy: {bound}"),
            }
        } else {
            format!(
                "NOT PRIVATE. With secret keys and no diagnostics the same plan would give {bound}"
            )
        }
    }

    /// What a public registry of uses of differential privacy asks for, as JSON.
    pub fn registry(&self) -> Value {
        registry::entry(self)
    }

    /// The report as JSON.
    pub fn json(&self) -> Value {
        let (facts, figures) = (&self.facts, &self.figures);
        let guarantee = facts.private().then(|| {
            json!({
                "epsilon_upper": figures.certified.upper,
                "epsilon_lower": figures.certified.lower,
                "delta": figures.delta,
                "text": words::bound(figures),
            })
        });
        let statements = [
            words::promise(facts),
            words::mechanism(facts),
            words::coverage(facts),
            words::all_runs(facts.account.as_ref()),
            words::machinery(facts, figures),
            words::identity(facts, None),
        ]
        .concat();
        let mut report = json!({
            "tacita_report": 1,
            "private": facts.private(),
            "not_private_because": words::faults(facts),
            "guarantee": guarantee,
            "stopped_early": words::stopped_early(facts),
            "budget": words::budget(facts, figures),
            "statements": statements,
            "figures": figures,
            "several_records": self.groups,
            "files": self.files,
            "side_costs": self.side_costs,
            "attacks": {
                "odds_exponent_upper": self.odds_exponent,
                "coin_guess_upper": self.coin_guess_upper,
                "membership": self.attacks,
            },
            "risk": self.risk,
            "audit": self.audit.as_ref().map(audit_in_short),
            "caveats": caveats::caveats(facts),
            "facts": facts,
        });
        if let Some(one_record) = self.one_record {
            report["one_record"] = json!(one_record);
        }
        report
    }
}

/// An audit without the score and the coin of every canary.
fn audit_in_short(audit: &AuditFacts) -> Value {
    let (inside, canaries) = audit.canaries();
    json!({
        "text": audit.summary(),
        "verdict": audit.verdict(),
        "canaries": canaries,
        "included": inside,
        "epsilon_lower": audit.epsilon_lower,
        "epsilon_estimate": audit.epsilon_estimate,
        "confidence": audit.confidence,
        "bounds": audit.bounds,
        "attack": audit.attack,
        "alarm": audit.alarm,
        "private": audit.private,
    })
}
