//! The attack on the run itself: sealed canaries, opened after the last step.

use super::html::{paragraph, section, table};
use crate::report::audit_facts::{AuditFacts, CAVEAT};
use tacita_accounting::decimal::{count, down, exact, percent_up, up};

/// The section, if the run was audited.
pub fn render(audit: Option<&AuditFacts>) -> String {
    let Some(audit) = audit else {
        return String::new();
    };
    let verdict = paragraph(&format!("{}.", audit.verdict()));
    let verdict = match audit.alarm.raised {
        true => format!(
            "<div class=\"banner\" role=\"alert\">\n<p class=\"loud\">ALARM</p>\n{verdict}</div>\n"
        ),
        false => verdict,
    };
    let (inside, all) = audit.canaries();
    let body = [
        verdict,
        paragraph(&format!("ε {}.", audit.summary())),
        paragraph(&format!(
            "{} synthetic canaries were made, and a secret coin put each into the training records or left it out: {} were in. \
             The coins were sealed in the ledger before the first step and opened after the last. Then the released model was \
             asked which canaries it knows ({}).",
            count(all as u64),
            count(inside as u64),
            audit.score
        )),
        bounds(audit),
        found(audit),
        paragraph(CAVEAT),
    ];
    section("audit", "An attack on this run", &body.concat())
}

/// What the attack finds, beside what is proved of every attack.
fn found(audit: &AuditFacts) -> String {
    let rows: Vec<Vec<String>> = (audit.attack.iter())
        .map(|point| {
            vec![
                format!("{} %", exact(100.0 * point.false_alarms)),
                format!(
                    "{:.1} % ({:.1} to {:.1} %)",
                    100.0 * point.found,
                    100.0 * point.found_from,
                    100.0 * point.found_to
                ),
                match point.proved_upper {
                    Some(upper) => format!("≤ {}", percent_up(upper)),
                    None => "none".to_string(),
                },
            ]
        })
        .collect();
    match rows.is_empty() {
        true => String::new(),
        false => table(
            &[
                "Canaries wrongly named",
                "Found, with a band for chance",
                "Proved",
            ],
            &rows,
        ),
    }
}

fn bounds(audit: &AuditFacts) -> String {
    let mut rows: Vec<Vec<String>> = (audit.bounds.iter())
        .map(|bound| {
            vec![
                match bound.method.as_str() {
                    "one-run" => "one run (Steinke et al. 2023)".to_string(),
                    "f-dp" => "trade-off (Mahloujifar et al. 2024)".to_string(),
                    other => other.to_string(),
                },
                format!("{} of {}", count(bound.right), count(bound.guesses)),
                format!("≥ {}", down(bound.epsilon_lower, 3)),
            ]
        })
        .collect();
    rows.push(vec![
        "a Gaussian that fits: an estimate, no bound".to_string(),
        String::new(),
        format!("≈ {}", up(audit.epsilon_estimate, 3)),
    ]);
    table(&["Method", "Right guesses", "ε"], &rows)
}
