//! What is refused.

use super::{everything, facts, plain};
use crate::report::Report;
use crate::report::facts::{Evaluation, Facts, Origin, TraceOrigin, Tuning};
use tacita::{LedgerLabel, LedgerRecord, SearchKind, SearchOfRun};
use tacita_accounting::Ledger;

type Change = fn(&mut Facts);

#[test]
fn a_ledger_that_disagrees_is_refused() {
    let facts = plain();
    let ledger = |plan: &Ledger, released, private| {
        LedgerRecord::new(plan.clone(), released, private, LedgerLabel::default())
    };
    let message = |plan: &Ledger, released, private| {
        let refused = Report::with_ledger(facts.clone(), &ledger(plan, released, private));
        refused.unwrap_err().to_string()
    };
    assert!(
        message(&facts.plan.prefix(100), 100, true)
            .contains("different plans (200 and 100 rounds)")
    );
    assert!(
        message(&facts.plan, 200, false).contains("the ledger says that a fixed seed was used")
    );
    assert!(
        message(&facts.plan, 199, true).contains("200 rounds were released, the ledger holds 199")
    );
    // A crash after the facts were written: what the ledger holds counts.
    let mut early = facts.clone();
    early.rounds_made = 40;
    let report = Report::with_ledger(early, &ledger(&facts.plan, 60, true)).unwrap();
    assert_eq!(report.facts.rounds_made, 60);
}

/// The ledger of a run of a search says so, whatever the facts beside it claim.
#[test]
fn facts_that_deny_the_search_of_their_ledger_are_refused() {
    let of_search = |kind| {
        let search = SearchOfRun {
            kind,
            epsilon_upper: 20.0,
            delta: 1e-5,
        };
        let label = LedgerLabel {
            search: Some(search),
            binds_files: true,
            ..LedgerLabel::default()
        };
        LedgerRecord::new(plain().plan, 200, true, label)
    };
    let refused = |facts: Facts, ledger: &LedgerRecord| {
        let refused = Report::with_ledger(facts, ledger);
        refused.unwrap_err().to_string()
    };
    let mut part = plain();
    part.tuning = Tuning::PartOfSearch {
        epsilon_upper: 20.0,
        delta: 1e-5,
    };
    assert!(refused(plain(), &of_search(SearchKind::Grid)).contains("is a part of a search"));
    assert!(Report::with_ledger(part.clone(), &of_search(SearchKind::Grid)).is_ok());
    assert!(refused(part.clone(), &of_search(SearchKind::Random)).contains("secret run"));
    let label = LedgerLabel {
        search: None,
        binds_files: true,
        ..LedgerLabel::default()
    };
    let alone = LedgerRecord::new(plain().plan, 200, true, label);
    assert!(refused(part, &alone).contains("the ledger does not"));
}

#[test]
fn facts_that_contradict_themselves_are_refused() {
    let cases: [(Change, &str); 10] = [
        (|f| f.tacita_facts = 2, "format 2"),
        (|f| f.delta = 1.5, "got 1.5"),
        (
            |f| {
                f.tuning = Tuning::PartOfSearch {
                    epsilon_upper: 0.01,
                    delta: f.delta,
                }
            },
            "this run alone has at least",
        ),
        (|f| f.delta_reserved = f.delta, "delta_reserved"),
        (|f| f.rounds_made = 201, "only 200 rounds"),
        (
            |f| f.phases[0].rounds = 199,
            "the phases have 199 rounds in all, the plan has 200",
        ),
        (
            |f| f.phases[0].queries.push("more".to_string()),
            "names 2 queries",
        ),
        (
            |f| f.preparation[0].origin = Origin::PrivatelyEstimated,
            "no preparation phase",
        ),
        (|f| f.thresholds[0].points.clear(), "no points"),
        (
            |f| {
                f.evaluation = Some(Evaluation::NoisyCount {
                    on: String::new(),
                    accuracy: 0.5,
                    noise_std: 0.1,
                });
            },
            "no evaluation phase",
        ),
    ];
    for (change, wanted) in cases {
        let mut wrong = plain();
        change(&mut wrong);
        let error = format!("{:#}", Report::new(wrong).unwrap_err());
        assert!(error.contains(wanted), "{error}");
    }
}

#[test]
fn facts_survive_a_round_trip() {
    let before = facts(everything());
    assert_eq!(before.thresholds[0].origin, TraceOrigin::Learned);
    let text = serde_json::to_string(&before).unwrap();
    assert_eq!(serde_json::from_str::<Facts>(&text).unwrap(), before);
}
