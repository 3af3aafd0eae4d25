//! A run folder, file by file.

use crate::audit;
use crate::bracket::{self, Bracket};
use crate::chain::sha256;
use crate::error::{VerifyError, json, read};
use crate::finding::{Findings, Standing, Verdict};
use crate::ledger::{RunLedger, Search};
use crate::plan::follows_settings;
use crate::report::{self, Judged};
use crate::second_bound;
use serde_json::Value;
use std::path::Path;

const LEDGER: &str = "ledger.jsonl";
const RECORD: &str = "run.json";
const FACTS: &str = "facts.json";
const MODEL: &str = "model.safetensors";
const SETTINGS: &str = "config.toml";

/// The share of δ that pays for the tail which the noise generator cannot reach, at least; the accountant gets the
/// rest. It does so for an ε of up to 40.
const RESERVED_SHARE: f64 = 1e-6;
const LARGEST_EPSILON: f64 = 40.0;

/// Looks at everything in a run folder that can be looked at.
///
/// What cannot be read at all is an error; what is read and wrong is refused in the verdict.
pub fn verify(folder: &Path) -> Result<Verdict, VerifyError> {
    let ledger = RunLedger::read(&read(&folder.join(LEDGER))?)?;
    let (facts, record) = (json(folder, FACTS)?, json(folder, RECORD)?);
    let delta = float(&facts, "delta")?;
    let reserved = float(&facts, "delta_reserved")?;
    let mut findings = Findings::default();

    let proved = bracket::of_plan(&ledger.plan, delta - reserved)?;
    let second = second_bound::epsilon_upper(&ledger.plan, delta - reserved);
    the_plan(&mut findings, &ledger, &proved, second, delta);
    let pays = reserved >= RESERVED_SHARE * (1.0 - 1e-9) * delta && proved.upper <= LARGEST_EPSILON;
    findings.expect(
        pays,
        format!("{reserved:e} of δ is set aside for the tail that the noise generator cannot reach"),
        "δ does not pay for the tail that the noise generator cannot reach: less than a millionth of it is set aside, \
         or ε is above 40",
    );
    let epsilon_upper = the_guarantee(&mut findings, &ledger, &proved, delta);
    the_rounds(&mut findings, &ledger, &facts);
    for problem in follows_settings(&ledger.plan, &record, &facts) {
        findings.add(problem.standing, problem.text);
    }
    the_files(&mut findings, &ledger, folder);
    let judged = Judged {
        ledger: &ledger,
        facts: &facts,
        proved: &proved,
    };
    report::check(&mut findings, folder, &judged)?;
    audit::check(&mut findings, folder, &ledger, &proved, delta, MODEL)?;
    what_is_said(&mut findings, &facts);
    Ok(Verdict {
        findings: findings.0,
        head: ledger.head,
        epsilon_upper,
        delta,
    })
}

/// ε of the plan, from both sides and by two roads.
fn the_plan(
    findings: &mut Findings,
    ledger: &RunLedger,
    proved: &Bracket,
    second: Option<f64>,
    delta: f64,
) {
    let Bracket {
        lower,
        upper,
        accountant,
    } = proved;
    let planned = ledger.planned();
    findings.add(
        Standing::Checked,
        format!("the ledger's chain is whole; its head is {}", ledger.head),
    );
    let from_below = lower.map_or(String::new(), |lower| format!(" and no less than {lower}"));
    findings.add(
        Standing::Proved,
        format!("the plan's {planned} rounds keep ε ≤ {upper} at δ = {delta:e}{from_below} ({accountant})"),
    );
    match (second, lower) {
        (Some(second), Some(lower)) => findings.expect(
            second >= *lower,
            format!(
                "Rényi divergences, computed by separate code, prove ε ≤ {second}, which agrees"
            ),
            format!(
                "two proofs contradict each other: ε ≥ {lower} and ε ≤ {second}; please report this"
            ),
        ),
        (Some(second), None) => findings.add(
            Standing::Proved,
            format!("Rényi divergences, computed by separate code, prove ε ≤ {second}"),
        ),
        (None, _) => findings.add(
            Standing::Claimed,
            "the second bound does not treat rounds of this kind; the first stands alone",
        ),
    }
}

/// What the run as a whole keeps.
fn the_guarantee(
    findings: &mut Findings,
    ledger: &RunLedger,
    proved: &Bracket,
    delta: f64,
) -> Option<f64> {
    if !ledger.private {
        findings.add(
            Standing::Refused,
            "the run is NOT PRIVATE: its ledger says that keys came from a fixed seed or that raw values were shown",
        );
        return None;
    }
    let Some(Search {
        random,
        epsilon_upper,
        delta: of_search,
    }) = ledger.search
    else {
        return Some(proved.upper);
    };
    if random && !ledger.published {
        findings.add(
            Standing::Refused,
            "the run is a secret one of a random search, of which only the best may be seen: it has no guarantee",
        );
        return None;
    }
    let alone = proved.lower.unwrap_or(0.0);
    let agrees = delta <= of_search && epsilon_upper.is_finite() && alone <= epsilon_upper;
    findings.expect(
        agrees,
        "the run is part of a search; alone it costs no more than the search is said to keep",
        format!(
            "the search is said to keep ε ≤ {epsilon_upper} at δ = {of_search:e}, but this run alone has at least {alone}"
        ),
    );
    findings.add(
        Standing::Claimed,
        format!("the search as a whole keeps ε ≤ {epsilon_upper} at δ = {of_search:e}: its other runs are not here"),
    );
    Some(epsilon_upper)
}

/// Whether the ledger holds what the facts say was released.
fn the_rounds(findings: &mut Findings, ledger: &RunLedger, facts: &Value) {
    findings.expect(
        facts.get("plan").is_some_and(|plan| *plan == ledger.plan),
        "the facts and the ledger hold the same plan",
        "the facts and the ledger hold different plans",
    );
    let made = facts.get("rounds_made").and_then(Value::as_u64);
    findings.expect(
        made.is_some_and(|made| made <= ledger.spent),
        format!("{} of {} rounds count as released", ledger.spent, ledger.planned()),
        format!(
            "the facts say that {} rounds were released, the ledger holds {}: it was cut short or belongs to another run",
            made.map_or("an unknown number of".into(), |made| made.to_string()),
            ledger.spent
        ),
    );
    let keys = facts.get("keys").and_then(Value::as_str);
    findings.expect(
        (keys == Some("operating-system")) == ledger.private
            || facts.get("diagnostics").and_then(Value::as_bool) == Some(true),
        "facts and ledger agree on where keys came from",
        "facts and ledger disagree on where keys came from",
    );
    if ledger.torn {
        findings.add(
            Standing::Checked,
            "the ledger's last line was cut short, by a crash or by somebody; it counts as released rounds",
        );
    }
}

/// Whether the files that the ledger binds are the ones in the folder.
fn the_files(findings: &mut Findings, ledger: &RunLedger, folder: &Path) {
    for (name, bound) in &ledger.files {
        let same = read(&folder.join(name)).is_ok_and(|bytes| sha256(&bytes) == *bound);
        findings.expect(
            same,
            format!("{name} is the file that the ledger binds"),
            format!("{name} is missing, or is not the file that the ledger binds: it was edited or replaced"),
        );
    }
    for name in [RECORD, FACTS] {
        if ledger.binds_files && !ledger.files.contains_key(name) {
            findings.add(
                Standing::Refused,
                format!("the ledger should bind {name} and does not: lines were lost or removed"),
            );
        }
    }
    for name in [RECORD, FACTS, SETTINGS, MODEL] {
        let named = ledger.files.contains_key(name);
        let demanded = ledger.binds_files && [RECORD, FACTS].contains(&name);
        if !named && !demanded && folder.join(name).exists() {
            findings.add(
                Standing::Claimed,
                format!("{name} belongs to the run: an earlier version made the folder, whose ledger does not bind it"),
            );
        }
    }
}

/// What no program can check.
fn what_is_said(findings: &mut Findings, facts: &Value) {
    let data = &facts["data"];
    let text = |value: &Value| value.as_str().unwrap_or("unknown").to_string();
    findings.add(
        Standing::Declared,
        format!(
            "the data are {}, {} {}, a record being {}",
            text(&data["name"]),
            data["public_record_count"],
            match data["records_per_person"].is_null() {
                true => "records",
                false => "people with all their records",
            },
            text(&data["record"])
        ),
    );
    for prepared in facts["preparation"].as_array().into_iter().flatten() {
        if prepared["origin"] == "declared" {
            findings.add(
                Standing::Declared,
                format!(
                    "{}, with numbers that were not learned from the records",
                    text(&prepared["what"])
                ),
            );
        }
    }
    findings.add(
        Standing::Claimed,
        format!(
            "Tacita {} trained, unmodified: it drew the records of each round by itself, and the noise from the operating \
             system's random numbers",
            text(&facts["version"])
        ),
    );
    findings.add(
        Standing::Claimed,
        "the model was made from these releases, and nothing else was released",
    );
}

fn float(facts: &Value, key: &'static str) -> Result<f64, VerifyError> {
    let value = facts.get(key).and_then(Value::as_f64);
    value
        .filter(|value| value.is_finite())
        .ok_or(VerifyError::Key { file: FACTS, key })
}
