//! Which run it was, for whom, beside which others.

use super::{everything, facts, plain, report, visible};
use crate::report::groups::RECORDS;
use serde_json::{Value, json};
use tacita_accounting::{Accountant, Pld};

/// Facts of a run with all that may be declared.
fn declared() -> Value {
    let mut all = everything();
    all["run"] = json!({ "id": "0123", "begun": "2026-11-18", "commit": "abc", "command": "tacita train config.toml" });
    all["about"] = json!({ "purpose": "to <test>", "controller": "the ward", "contact": "mail", "retention": "a year" });
    all["account"] = json!({
        "name": "patients", "id": "77", "epsilon": 4.0, "delta": 1e-6, "records_per_unit": 2, "reserved": 3,
        "spent_upper": 2.5, "if_fixed_beforehand_upper": 2.25,
    });
    all
}

#[test]
fn a_person_with_several_records_is_told_a_bound_of_their_own() {
    let facts = plain();
    let report = report(facts.clone());
    let page = visible(&report.html());
    assert!(page.contains("A person with several records"), "{page}");
    let mut last = report.figures.certified.upper.unwrap();
    for (records, cost) in RECORDS.into_iter().zip(&report.groups) {
        let unit = facts.plan.clone().with_records_per_unit(records).unwrap();
        let exact = Pld::default()
            .epsilon(&unit, facts.delta - facts.delta_reserved)
            .unwrap();
        let (upper, lower) = (cost.epsilon_upper.unwrap(), exact.lower_bound().unwrap());
        assert!(
            upper >= lower && upper <= 1.05 * exact.upper_bound().unwrap(),
            "{records}: {upper}"
        );
        assert!(upper > last && cost.records == records);
        last = upper;
        assert!(
            page.contains(&format!("{records} records ε ≤ ")),
            "{records}"
        );
    }
    // Of a run of a search, or of a unit of several records already, there is no such figure.
    let mut of_search = declared();
    of_search["tuning"] = json!({ "part-of-search": { "epsilon_upper": 50.0, "delta": 1e-5 } });
    assert!(super::report(super::facts(of_search)).groups.is_empty());
}

#[test]
fn delta_is_judged_by_the_number_of_records() {
    let words = |records: u64| {
        let mut facts = plain();
        facts.data.public_record_count = records;
        visible(&report(facts).html())
    };
    // δ is 1e-5.
    assert!(
        words(10_000).contains("Here δ is 10 % of that, which is the usual rule"),
        "{}",
        words(10_000)
    );
    assert!(words(50_000).contains("closer to it than usual"));
    assert!(words(100_001).contains("this δ is NOT below that"));
}

#[test]
fn what_was_declared_and_the_account_are_on_the_page_and_in_the_registry() {
    let report = report(facts(declared()));
    let page = visible(&report.html());
    for wanted in [
        "Purpose to &lt;test&gt;",
        "Controller the ward",
        "Contact mail",
        "Retention a year",
        "Begun 2026-11-18",
        "Identifier 0123",
        "Command tacita train config.toml",
        "tacita 9.8.7 (commit abc)",
        "account “patients” together keeps ε ≤ 4 at δ = 10⁻⁶ for a person with up to 2 records, now and later",
        "ε ≤ 2.5, this included, 3 reserved in all (ε ≤ 2.25 only if all their plans were fixed beforehand)",
    ] {
        assert!(page.contains(wanted), "{wanted}: {page}");
    }
    let entry = report.registry();
    for (key, value) in [
        ("/organisation", "the ward"),
        ("/intended_use", "to <test>"),
        ("/date", "2026-11-18"),
        ("/data/record", "one row of the data"),
        ("/implementation/commit", "abc"),
    ] {
        assert_eq!(entry.pointer(key), Some(&json!(value)), "{key}");
    }
    assert_eq!(
        entry["privacy"]["guarantee"]["epsilon"],
        json!(report.figures.certified.upper)
    );
    assert_eq!(entry["privacy"]["all_runs"]["epsilon"], 4.0);
    // Without an account it is said that nothing is known.
    let alone = visible(&super::report(plain()).html());
    assert!(alone.contains("Guarantees of several runs on the same records add up"));
}

#[test]
fn a_run_that_is_not_private_has_no_guarantee_in_the_registry() {
    let mut facts = plain();
    facts.keys = crate::report::facts::KeySource::FixedSeed;
    assert_eq!(
        report(facts).registry()["privacy"]["guarantee"],
        Value::Null
    );
}

#[test]
fn a_total_that_is_not_kept_is_said_to_be_so() {
    let mut exceeded = declared();
    exceeded["account"]["spent_upper"] = Value::Null;
    assert!(visible(&report(facts(exceeded)).html()).contains("is NOT KEPT"));
}
