//! What must never be in a report.

use super::{everything, facts, of_two_classes, plain, report, visible};
use crate::report::facts::{Evaluation, Facts, KeySource};
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// Every key a private report may hold. A new one must be thought about: nothing here may depend on
/// private records without noise.
const KEYS: &str = "accountant accuracy at attacks audit beliefs bracket budget caveats certified clipping clt \
    utility target per_class class recall confusion calibration predicted observed roc precision_recall warnings \
    value plus_minus from_bins count_noise majority_share balanced_accuracy roc_area average_precision f1 log_loss \
    brier calibration_error \
    coin_guess_upper comparison curve data delta delta_lower delta_reserved delta_upper diagnostics epsilon epsilon_lower \
    epsilon_upper epsilon_without estimate evaluation facts false_alarms figures files found_lower found_upper gaussian guarantee keys kind \
    learning_rate licence lower membership model mu_upper name neighbours noise_multipliers noise_std not_private_because \
    odds_exponent_upper on optimizer origin over_steps parameters phases plan points posterior_upper precision preparation prior private \
    public_record_count records_per_person one_record queries rate rdp reconstruction record records refusal risk released rounds rounds_made sampling several_records side_costs \
    spending statements stopped_early success_upper tacita_facts tacita_report text thresholds times tolerance topic tuning upper \
    upper-bound version what";

fn keys(value: &Value, found: &mut BTreeSet<String>) {
    match value {
        Value::Object(map) => {
            for (key, value) in map {
                found.insert(key.clone());
                keys(value, found);
            }
        }
        Value::Array(items) => items.iter().for_each(|item| keys(item, found)),
        _ => {}
    }
}

#[test]
fn a_private_report_holds_no_loss_time_or_batch_size() {
    let mut found = BTreeSet::new();
    keys(&report(facts(everything())).json(), &mut found);
    keys(&report(plain()).json(), &mut found);
    let allowed: BTreeSet<&str> = KEYS.split_whitespace().collect();
    for key in &found {
        assert!(allowed.contains(key.as_str()), "`{key}` is not on the list");
    }
    for extra in ["loss", "seconds", "batch_sizes", "norms", "seed"] {
        let mut leaking = everything();
        leaking[extra] = json!(1.0);
        let error = serde_json::from_value::<Facts>(leaking).unwrap_err();
        assert!(error.to_string().contains("unknown field"), "{error}");
    }
}

/// Replaces every string but those that choose a variant.
fn poison(value: &mut Value, key: &str, with: &str) {
    const CHOICES: [&str; 6] = ["kind", "origin", "neighbours", "keys", "tuning", "plan"];
    match value {
        Value::String(text) if !CHOICES.contains(&key) => *text = with.to_string(),
        Value::Object(map) => map
            .iter_mut()
            .for_each(|(key, value)| poison(value, key, with)),
        Value::Array(items) => items.iter_mut().for_each(|item| poison(item, key, with)),
        _ => {}
    }
}

#[test]
fn strings_of_users_cannot_become_markup() {
    const EVIL: &str = "</title></style><script>alert('1')</script><b onclick=\"x\">&";
    let mut evil = everything();
    poison(&mut evil, "", EVIL);
    for facts in [facts(evil.clone()), {
        let mut public = facts(evil);
        public.utility = Some(of_two_classes([EVIL, EVIL]));
        public.evaluation = Some(Evaluation::PublicTest {
            on: EVIL.to_string(),
            records: 1,
            accuracy: 1.0,
            over_steps: vec![(0, 0.0), (9, 1.0)],
        });
        public
    }] {
        let html = report(facts).html();
        assert!(
            html.contains("&lt;script&gt;alert("),
            "the text itself is shown"
        );
        for bad in [
            "<script",
            "<b ",
            "</title></style>",
            "alert('1')",
            "onclick=\"x",
        ] {
            assert!(!html.contains(bad), "{bad} came through");
        }
        assert_eq!(html.matches("</style>").count(), 1);
    }
}

#[test]
fn the_page_asks_for_nothing_from_elsewhere() {
    for facts in [facts(everything()), plain()] {
        let html = report(facts).html();
        for bad in [
            "http:", "https:", "src=", "href=", "url(", "@import", "<script", "<link", "<iframe",
            "<img",
        ] {
            assert!(!html.contains(bad), "{bad} on the page");
        }
        assert!(html.contains("default-src 'none'"));
        assert!(!html.contains("NaN") && !html.contains("inf\""));
    }
}

#[test]
fn a_run_that_is_not_private_says_so_and_promises_nothing() {
    let changes: [fn(&mut Facts); 2] = [
        |facts| facts.keys = KeySource::FixedSeed,
        |facts| facts.diagnostics = true,
    ];
    for change in changes {
        let mut exposed = plain();
        change(&mut exposed);
        let report = report(exposed);
        let page = visible(&report.html());
        assert!(page.contains("NOT PRIVATE") && page.contains("Do not release"));
        for promise in [
            "Certified guarantee",
            "Suspicion before",
            "What is promised",
            "Signature",
        ] {
            assert!(!page.contains(promise), "`{promise}` in {page}");
        }
        assert!(report.summary().starts_with("NOT PRIVATE"));
        let json = report.json();
        assert_eq!(
            (&json["private"], &json["guarantee"]),
            (&json!(false), &Value::Null)
        );
    }
    let json = report(plain()).json();
    assert_eq!(json["private"], true);
    assert!(
        json["guarantee"]["text"]
            .as_str()
            .unwrap()
            .starts_with("ε ≤ ")
    );
}
