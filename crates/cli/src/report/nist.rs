//! Answers by the factors of NIST SP 800-226, *Guidelines for Evaluating Differential Privacy Guarantees* (2025).
//!
//! The publication orders what decides whether a guarantee is worth anything: its parameters and unit, the correctness
//! of the mechanism and of its implementation, and below them the trust model, security and how data were collected.
//! The questions are in our words. What a program cannot know is said to be unknown to it.

use super::Report;
use super::facts::Tuning;
use super::words;
use serde_json::{Value, json};

const UNKNOWN: &str = "Not known to this program: whoever signs the report must say. It is not covered by the guarantee.";

/// One object with `factor`, `question` and `answer` for each.
pub fn answers(report: &Report) -> Value {
    let facts = &report.facts;
    let guarantee = match facts.private() {
        true => words::bound(&report.figures),
        false => "None: the run is NOT PRIVATE.".into(),
    };
    let audited = match report.audit() {
        Some(audit) => format!("Audited by sealed canaries: ε {}.", audit.summary()),
        None => "Not audited by canaries.".into(),
    };
    let tuning = match facts.tuning {
        Tuning::NotCovered => {
            "Runs that were made before to choose settings are not covered, unless an account counts them."
        }
        Tuning::PartOfSearch { .. } => "The guarantee covers the search that chose the settings.",
    };
    let answer = |factor: &str, question: &str, answer: String| json!({ "factor": factor, "question": question, "answer": answer });
    json!([
        answer("privacy parameter", "How large are ε and δ?", guarantee),
        answer(
            "privacy parameter",
            "Under which definition?",
            "Approximate differential privacy; the certified curve of all (ε, δ) is in report.json.".into()
        ),
        answer("unit of privacy", "Who or what is protected?", words::unit(facts)),
        answer(
            "unit of privacy",
            "Which data sets are neighbours?",
            facts.plan.neighbours().name().into()
        ),
        answer(
            "mechanism",
            "By what mechanism?",
            format!("DP-SGD with Poisson sampling and Gaussian noise; {}.", facts.clipping)
        ),
        answer(
            "mechanism",
            "Is the bound proved for what was computed?",
            format!(
                "The accountant's bracket is proved, floating point included; sums have a proved sensitivity; {:e} of δ pays for \
                 the tail that the noise generator cannot reach.",
                facts.delta_reserved
            )
        ),
        answer(
            "mechanism",
            "Was the implementation tested by attacks?",
            audited
        ),
        answer(
            "mechanism",
            "Do all uses of the data count?",
            format!(
                "{tuning} {}",
                match facts.account {
                    Some(_) => "An account keeps one total for all runs on these records.",
                    None => "No account of all runs on these records was kept.",
                }
            )
        ),
        answer(
            "mechanism",
            "Can time, memory or errors tell something?",
            "Nothing that depends on the records is kept in the folder of the run; how long it took is visible to whoever \
             watched the machine."
                .into()
        ),
        answer(
            "trust model",
            "Who sees the data without noise?",
            "Central: whoever trains. Everybody else sees releases only.".into()
        ),
        answer("security", "Who may reach the records, and how are they kept?", UNKNOWN.into()),
        answer("data collection", "How exposed were the records before they came here?", UNKNOWN.into()),
    ])
}
