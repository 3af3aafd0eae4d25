//! Certificates of histories that other libraries made; `data/peers.json` names them and their versions.
#![allow(clippy::unwrap_used)]

use serde_json::Value;
use tacita_certify::{Claims, HistoryError, Verdict, certify, read};

fn cases() -> Vec<Value> {
    let stored: Value = serde_json::from_str(include_str!("data/peers.json")).unwrap();
    stored["cases"].as_array().unwrap().clone()
}

#[test]
fn false_loose_and_consistent_figures_are_told_apart() {
    let mut seen = Vec::new();
    for case in cases() {
        let Some(verdict) = case["verdict"].as_str() else {
            continue;
        };
        let history = read(&case["history"].to_string()).unwrap();
        let certificate = certify(&history, &Claims::default()).unwrap();
        let object = certificate.to_json();
        assert_eq!(
            object["verdict"], verdict,
            "{}: {certificate}",
            case["name"]
        );
        let kinds: Vec<&Value> = (object["findings"].as_array().unwrap().iter())
            .map(|finding| &finding["kind"])
            .collect();
        for kind in case["found"].as_array().unwrap() {
            assert!(kinds.contains(&kind), "{}: {certificate}", case["name"]);
        }
        seen.push(certificate.verdict);
    }
    for verdict in [
        Verdict::False,
        Verdict::Loose,
        Verdict::Consistent,
        Verdict::Unproved,
        Verdict::NotPrivate,
        Verdict::NotCompared,
    ] {
        assert!(seen.contains(&verdict), "no case for {verdict:?}");
    }
}

#[test]
fn events_without_a_proof_are_refused_by_name() {
    let mut refused = 0;
    for case in cases() {
        let Some(name) = case["refused"].as_str() else {
            continue;
        };
        match read(&case["history"].to_string()) {
            Err(HistoryError::Event { name: said, .. }) => assert_eq!(said, name),
            other => panic!("{}: {other:?}", case["name"]),
        }
        refused += 1;
    }
    assert!(refused >= 8);
}

/// The reported ε of a whole bracket's width around the ends.
#[test]
fn verdicts_change_at_the_ends_of_the_bracket() {
    let history = read("[[1.0, 0.01, 500]]").unwrap();
    let verdict = |epsilon: f64| {
        let claims = Claims {
            epsilon: Some(epsilon),
            delta: Some(1e-5),
            ..Claims::default()
        };
        certify(&history, &claims).unwrap().verdict
    };
    let claims = Claims {
        delta: Some(1e-5),
        ..Claims::default()
    };
    let reading = certify(&history, &claims).unwrap().epsilon.unwrap();
    let (lower, upper) = (
        reading.lower_bound().unwrap(),
        reading.upper_bound().unwrap(),
    );
    assert_eq!(verdict(lower.next_down()), Verdict::False);
    assert_eq!(verdict(-0.3), Verdict::False);
    assert_eq!(verdict(lower), Verdict::Consistent);
    assert_eq!(verdict(upper), Verdict::Consistent);
    assert_eq!(verdict(upper * 1.009), Verdict::Consistent);
    assert_eq!(verdict(upper * 1.011), Verdict::Loose);
    assert_eq!(verdict(f64::INFINITY), Verdict::Loose);
}
