//! What is written for people: the report as JSON and as a page, and the entry for registries.

use crate::bracket::{self, Bracket};
use crate::error::{VerifyError, json, read};
use crate::finding::{Findings, Standing};
use crate::ledger::RunLedger;
use serde_json::Value;
use std::path::Path;

const REPORT: &str = "report.json";
const PAGE: &str = "report.html";
const REGISTRY: &str = "registry.json";

/// Another version of the accountant may prove a slightly wider bracket.
const WIDER: f64 = 1.01;

/// Kinds of rounds up to which ε of people with several records is computed again.
const FEW_KINDS: usize = 2_000;

/// What the report must state.
pub(crate) struct Judged<'a> {
    pub ledger: &'a RunLedger,
    pub facts: &'a Value,
    pub proved: &'a Bracket,
}

/// Whether what people read states what is proved.
pub(crate) fn check(
    findings: &mut Findings,
    folder: &Path,
    judged: &Judged<'_>,
) -> Result<(), VerifyError> {
    if !folder.join(REPORT).exists() {
        for file in [PAGE, REGISTRY] {
            if folder.join(file).exists() {
                findings.add(
                    Standing::Refused,
                    format!("{file} is there without {REPORT}, by which it is checked: a file was removed"),
                );
            }
        }
        return Ok(());
    }
    let report = json(folder, REPORT)?;
    findings.expect(
        report.get("facts") == Some(judged.facts),
        "report.json holds the facts of the run",
        "report.json holds other facts than facts.json",
    );
    let guarantee = &report["guarantee"];
    the_guarantee(findings, guarantee, judged);
    several_records(findings, &report["several_records"], judged)?;
    if let (Ok(page), Some(text)) = (read(&folder.join(PAGE)), guarantee["text"].as_str()) {
        let page = String::from_utf8_lossy(&page);
        findings.expect(
            headline(&page).is_some_and(|headline| headline == text),
            format!("report.html states {text}; whether the rest of the page was edited, only a signature tells"),
            format!("report.html does not state {text}, as report.json does"),
        );
    }
    if folder.join(REGISTRY).exists() {
        let stated = &json(folder, REGISTRY)?["privacy"]["guarantee"];
        findings.expect(
            stated["epsilon"] == guarantee["epsilon_upper"]
                && stated["delta"] == guarantee["delta"],
            "registry.json states the same guarantee",
            "registry.json states another guarantee than report.json",
        );
    }
    Ok(())
}

/// What stands in large letters on the page, as it is read: without tags and with plain spaces.
fn headline(page: &str) -> Option<String> {
    let (_, after) = page.split_once("<p class=\"epsilon\">")?;
    let (inside, _) = after.split_once("</p>")?;
    let mut shown = String::new();
    let mut rest = inside;
    while let Some((text, tag)) = rest.split_once('<') {
        shown += text;
        rest = tag.split_once('>')?.1;
    }
    shown += rest;
    // Numbers do not break across lines: no-break spaces count as spaces.
    let words: Vec<&str> = shown.split_whitespace().collect();
    Some(words.join(" "))
}

fn the_guarantee(findings: &mut Findings, guarantee: &Value, judged: &Judged<'_>) {
    let Judged {
        ledger,
        facts,
        proved,
    } = judged;
    let upper = (ledger.search).map_or(proved.upper, |search| search.epsilon_upper);
    match (guarantee["epsilon_upper"].as_f64(), ledger.private) {
        (None, private) => findings.expect(
            !private,
            "report.json states no guarantee",
            "report.json states no guarantee, although the run has one",
        ),
        (Some(stated), _) => {
            // One that is narrower is as good, down to the lower end.
            let lower = match ledger.search {
                Some(_) => upper,
                None => proved.lower.unwrap_or(upper),
            };
            let same_delta = guarantee["delta"].as_f64() == facts["delta"].as_f64();
            let is_proved = stated >= lower && stated <= upper * WIDER;
            findings.expect(
                ledger.private && same_delta && is_proved,
                format!("report.json states ε ≤ {stated}, which is what is proved"),
                format!("report.json states ε ≤ {stated}, which is not what the ledger proves: ε ≤ {upper}"),
            );
        }
    }
}

/// Whether people with several records are promised what is proved for them.
fn several_records(
    findings: &mut Findings,
    stated: &Value,
    judged: &Judged<'_>,
) -> Result<(), VerifyError> {
    let stated = stated.as_array().map_or(&[][..], Vec::as_slice);
    let promised = stated
        .iter()
        .filter_map(|cost| Some((cost["records"].as_u64()?, cost["epsilon_upper"].as_f64()?)));
    let promised: Vec<(u64, f64)> = promised.collect();
    if promised.is_empty() {
        return Ok(());
    }
    let plan = &judged.ledger.plan;
    let kinds = plan["rounds"].as_array().map_or(0, Vec::len);
    if kinds > FEW_KINDS {
        findings.add(
            Standing::Claimed,
            "the report says what people with several records are promised; for so many kinds of rounds it was not \
             computed again",
        );
        return Ok(());
    }
    let delta = |key: &str| judged.facts[key].as_f64().unwrap_or(f64::NAN);
    for (records, upper) in promised {
        let mut of_person = plan.clone();
        of_person["records_per_unit"] = records.into();
        let proved = bracket::of_plan(&of_person, delta("delta") - delta("delta_reserved"))?;
        let least = proved.lower.unwrap_or(proved.upper / WIDER);
        findings.expect(
            upper >= least,
            format!("a person with {records} records is promised ε ≤ {upper}, which is proved"),
            format!(
                "a person with {records} records is promised ε ≤ {upper}, and has at least {least}"
            ),
        );
    }
    Ok(())
}
