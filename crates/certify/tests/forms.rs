//! Histories are read exactly or refused with their place.
#![allow(clippy::unwrap_used)]

use tacita_accounting::{Ledger, Neighbours, Round, Sampling};
use tacita_certify::{Batches, Claims, Divisor, Events, HistoryError, Kind, certify, read};

fn ledger(json: &str) -> Ledger {
    match read(json).unwrap().events {
        Events::Rounds(ledger) => ledger,
        Events::NotPrivate(why) => panic!("{why}"),
    }
}

fn refusal(json: &str) -> String {
    read(json).unwrap_err().to_string()
}

fn poisson(rate: f64, noise: &[f64], times: u64) -> Round {
    let sampling = Sampling::Poisson { rate };
    Round::new(sampling, noise.to_vec()).unwrap().times(times)
}

#[test]
fn lists_and_states_of_accountants_are_the_same_rounds() {
    let triples = ledger("[[1.1, 0.25, 500], [2.0, 0.5, 3.0]]");
    assert_eq!(
        triples.rounds(),
        [poisson(0.25, &[1.1], 500), poisson(0.5, &[2.0], 3)]
    );
    let objects =
        r#"[{"noise": 1.1, "rate": 0.25, "steps": 500}, {"noise": 2, "rate": 0.5, "steps": 3}]"#;
    assert_eq!(ledger(objects), triples);
    let state = r#"{"history": [[1.1, 0.25, 500], [2.0, 0.5, 3]], "mechanism": "rdp"}"#;
    assert_eq!(ledger(state), triples);
    assert_eq!(read(state).unwrap().source, "Opacus accountant (rdp)");
    assert_eq!(ledger(&triples.to_json()), triples);
}

#[test]
fn queries_of_one_draw_are_one_round_and_counts_multiply() {
    let event = r#"{"class_name": "SelfComposedDpEvent", "count": 7, "event":
        {"class_name": "ComposedDpEvent", "events": [
            {"class_name": "SelfComposedDpEvent", "count": 3, "event":
                {"class_name": "PoissonSampledDpEvent", "sampling_probability": 0.1, "event":
                    {"class_name": "ComposedDpEvent", "events": [
                        {"class_name": "GaussianDpEvent", "noise_multiplier": 4.0},
                        {"class_name": "SelfComposedDpEvent", "count": 2, "event":
                            {"class_name": "GaussianDpEvent", "noise_multiplier": 9.0}}]}}},
            {"class_name": "PoissonSampledDpEvent", "sampling_probability": 0, "event":
                {"class_name": "GaussianDpEvent", "noise_multiplier": 1.0}},
            {"class_name": "GaussianDpEvent", "noise_multiplier": 5.0}]}}"#;
    let full = Round::new(Sampling::Full {}, vec![5.0]).unwrap().times(7);
    assert_eq!(
        ledger(event).rounds(),
        [poisson(0.1, &[4.0, 9.0, 9.0], 21), full]
    );
}

#[test]
fn fixed_size_events_are_stated_in_replace_one() {
    let event = r#"{"class_name": "SampledWithoutReplacementDpEvent", "source_dataset_size": 100,
        "sample_size": 10, "event": {"class_name": "GaussianDpEvent", "noise_multiplier": 2.0}}"#;
    assert_eq!(ledger(event).neighbours(), Neighbours::ReplaceOne);
    let mixed = format!(
        r#"{{"class_name": "ComposedDpEvent", "events": [{event}, {{"class_name": "PoissonSampledDpEvent",
        "sampling_probability": 0.5, "event": {{"class_name": "GaussianDpEvent", "noise_multiplier": 2.0}}}}]}}"#
    );
    assert!(refusal(&mixed).contains("add-or-remove-one"));
}

#[test]
fn an_envelope_tells_what_else_is_known() {
    let history = read(
        r#"{"tacita_history": 1, "events": [[2.0, 0.1, 50]], "reported": {"epsilon": 1.5, "delta": 1e-6},
            "batches": "shuffled", "divisor": "from-data", "secure_noise": false, "records_per_unit": 3,
            "neighbours": "replace-special", "source": "our trainer", "accountant": "gdp"}"#,
    )
    .unwrap();
    assert_eq!((history.epsilon, history.delta), (Some(1.5), Some(1e-6)));
    assert_eq!(
        (history.batches, history.divisor),
        (Batches::Shuffled, Divisor::FromData)
    );
    assert_eq!(history.source, "our trainer");
    let Events::Rounds(ledger) = &history.events else {
        panic!("rounds were given");
    };
    assert_eq!(ledger.records_per_unit(), 3);
    assert_eq!(ledger.neighbours(), Neighbours::AddOrRemoveOne);
    // What is said now takes precedence over what was written.
    let claims = Claims {
        batches: Some(Batches::Poisson),
        divisor: Some(Divisor::Declared),
        ..Claims::default()
    };
    let certificate = certify(&history, &claims).unwrap();
    let kinds: Vec<Kind> = certificate
        .findings
        .iter()
        .map(|finding| finding.kind)
        .collect();
    assert!(!kinds.contains(&Kind::BatchesShuffled) && !kinds.contains(&Kind::DivisorFromData));
    assert!(kinds.contains(&Kind::NoiseNotSecure) && kinds.contains(&Kind::LimitTheorem));
}

#[test]
fn bad_histories_are_refused_with_their_place() {
    for (json, said) in [
        ("", "not a history"),
        ("3", "neither an object nor a list"),
        (r#"{"epochs": 3}"#, "the keys epochs"),
        ("[[1.0, 0.01]]", "entry 0: must be [noise, rate, steps]"),
        (
            "[[1.0, 0.01, 5], [1.0, 1.5, 5]]",
            "entry 1: sampling rate must be in (0, 1], got 1.5",
        ),
        (
            "[[1.0, 0.01, 2.5]]",
            "entry 0, steps: must be a whole number, got 2.5",
        ),
        ("[[-1.0, 0.01, 2]]", "entry 0: noise multiplier must be"),
        (
            r#"[{"noise": 1.0, "rate": 0.1}]"#,
            "entry 0: steps is missing",
        ),
        (
            r#"[{"noise": 1.0, "rate": 0.1, "steps": 1, "x": 1}]"#,
            "unknown key x",
        ),
        (r#"{"history": 3}"#, "history: must be a list"),
        (
            r#"{"class_name": "GaussianDpEvent"}"#,
            "noise_multiplier is missing",
        ),
        (
            r#"{"class_name": "MyOwnDpEvent"}"#,
            "cannot certify the event MyOwnDpEvent",
        ),
        (
            r#"{"class_name": "ComposedDpEvent", "events": [1]}"#,
            "a list of events",
        ),
        (
            r#"{"class_name": "SelfComposedDpEvent", "count": 2}"#,
            "event is missing",
        ),
        (
            r#"{"tacita_history": 2, "events": []}"#,
            "tacita_history: must be 1, got 2",
        ),
        (
            r#"{"tacita_history": 1, "events": [], "epsilon": 3}"#,
            "unknown field `epsilon`",
        ),
        (
            r#"{"tacita_history": 1, "events": {"tacita_history": 1, "events": []}}"#,
            "events: must be",
        ),
        (
            r#"{"schema_version": 2, "config": {"target_delta": 1e-5, "neighboring_relation": "replace-one",
            "sampling_method": "poisson"}, "compositions": []}"#,
            "schema_version: must be 1, got 2",
        ),
    ] {
        let error = refusal(json);
        assert!(error.contains(said), "{json}: {error}");
    }
}

#[test]
fn counts_that_overflow_and_deep_trees_are_errors() {
    let gaussian = r#"{"class_name": "GaussianDpEvent", "noise_multiplier": 2.0}"#;
    let many = |event: String| {
        format!(
            r#"{{"class_name": "SelfComposedDpEvent", "count": 8000000000000, "event": {event}}}"#
        )
    };
    assert!(refusal(&many(many(gaussian.to_string()))).contains("counted"));
    let sampled = format!(
        r#"{{"class_name": "PoissonSampledDpEvent", "sampling_probability": 0.1, "event": {}}}"#,
        many(gaussian.to_string())
    );
    assert!(refusal(&sampled).contains("share one draw"));
    let deep = (0..500).fold(gaussian.to_string(), |event, _| {
        format!(r#"{{"class_name": "ComposedDpEvent", "events": [{event}]}}"#)
    });
    assert!(matches!(read(&deep), Err(HistoryError::Json(_))));
}

#[test]
fn nothing_is_certified_without_rounds_or_without_delta() {
    let delta = Claims {
        delta: Some(1e-5),
        ..Claims::default()
    };
    let empty = certify(&read("[]").unwrap(), &delta).unwrap_err();
    assert!(empty.to_string().contains("no rounds"));
    let none = certify(&read("[[1.0, 0.1, 5]]").unwrap(), &Claims::default());
    assert!(matches!(none, Err(HistoryError::NoDelta)));
    let noiseless = certify(&read("[[1.0, 0.1, 5], [0.0, 0.1, 5]]").unwrap(), &delta).unwrap();
    assert!(noiseless.epsilon.is_none() && noiseless.to_string().contains("NOT PRIVATE"));
}
