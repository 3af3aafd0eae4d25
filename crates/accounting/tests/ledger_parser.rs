//! The ledger parser against arbitrary and damaged input: it never panics, and whatever it accepts
//! is a checked ledger that survives a round trip. `fuzz/` holds the same claim for cargo-fuzz.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use proptest::prelude::*;
use tacita_accounting::{Ledger, LedgerError, Sampling};

const VALID: &str = r#"{"neighbours":"add-or-remove-one","records_per_unit":3,"rounds":[{"sampling":{"kind":"poisson","rate":0.0041667},"noise_multipliers":[4.0,7.5],"times":5000},{"sampling":{"kind":"full"},"noise_multipliers":[1e1]},{"sampling":{"kind":"fixed-size","batch":512,"of":60000},"noise_multipliers":[1.0],"times":3},{"sampling":{"kind":"partition","batches":4},"noise_multipliers":[0.5],"times":1}]}"#;

/// Everything that must hold of an accepted ledger.
fn check(ledger: &Ledger) {
    assert!(ledger.records_per_unit() > 0);
    let mut steps = 0;
    for round in ledger.rounds() {
        assert!(round.times > 0);
        assert!(!round.noise_multipliers.is_empty());
        assert!(
            round
                .noise_multipliers
                .iter()
                .all(|z| *z > 0.0 && z.is_finite())
        );
        match round.sampling {
            Sampling::Poisson { rate } => assert!(rate > 0.0 && rate <= 1.0),
            Sampling::FixedSize { batch, of } => assert!(batch > 0 && batch <= of),
            Sampling::Partition { batches } => assert!(batches > 0),
            Sampling::Full {} => {}
        }
        steps += round.times;
    }
    assert_eq!(steps, ledger.rounds_made());
    assert_eq!(&Ledger::from_json(&ledger.to_json()).unwrap(), ledger);
    assert_eq!(&ledger.prefix(u64::MAX), ledger);
}

fn read(text: &str) {
    let parsed = Ledger::from_json(text);
    // Reading through serde must accept and refuse the same ledgers.
    let by_serde = serde_json::from_str::<Ledger>(text);
    assert_eq!(parsed.is_ok(), by_serde.is_ok());
    match parsed {
        Ok(ledger) => check(&ledger),
        Err(error) => assert!(!error.to_string().is_empty()),
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 2000, failure_persistence: None, rng_seed: proptest::test_runner::RngSeed::Fixed(2),
        ..ProptestConfig::default()
    })]

    #[test]
    fn arbitrary_text_never_panics(text in ".{0,200}") {
        read(&text);
    }

    #[test]
    fn damaged_ledgers_never_panic(
        edits in prop::collection::vec((any::<prop::sample::Index>(), 0_u8..3, any::<u8>()), 1..6),
    ) {
        let mut bytes = VALID.as_bytes().to_vec();
        for (place, kind, byte) in edits {
            let at = place.index(bytes.len());
            match kind {
                0 => bytes[at] = byte,
                1 => bytes.insert(at, byte),
                _ => {
                    bytes.remove(at);
                }
            }
        }
        read(&String::from_utf8_lossy(&bytes));
    }

    #[test]
    fn odd_numbers_are_checked(
        rate in prop_oneof![Just("0"), Just("1.5"), Just("-0.1"), Just("1e-320"), Just("1e400"),
            Just("null"), Just("\"0.1\""), Just("0.5"), Just("1")],
        z in prop_oneof![Just("0"), Just("-1"), Just("1e308"), Just("5e-324"), Just("NaN"),
            Just("2"), Just("[]"), Just("1e999")],
        times in prop_oneof![Just("0"), Just("-1"), Just("1.5"), Just("18446744073709551615"),
            Just("9007199254740992"), Just("1"), Just("99999999999999999999")],
    ) {
        let text = format!(
            r#"{{"neighbours":"add-or-remove-one","rounds":[
                {{"sampling":{{"kind":"poisson","rate":{rate}}},"noise_multipliers":[{z}],"times":{times}}},
                {{"sampling":{{"kind":"full"}},"noise_multipliers":[1.0],"times":1}}]}}"#
        );
        read(&text);
    }
}

#[test]
fn the_valid_ledger_is_accepted() {
    let ledger = Ledger::from_json(VALID).unwrap();
    check(&ledger);
    assert_eq!(ledger.rounds_made(), 5005);
}

#[test]
fn each_fault_is_named() {
    let with = |round: &str| format!(r#"{{"neighbours":"add-or-remove-one","rounds":[{round}]}}"#);
    for (text, named) in [
        (
            with(r#"{"sampling":{"kind":"poisson","rate":1.5},"noise_multipliers":[1.0]}"#),
            "1.5",
        ),
        (
            with(r#"{"sampling":{"kind":"poisson","rate":0},"noise_multipliers":[1.0]}"#),
            "got 0",
        ),
        (
            with(r#"{"sampling":{"kind":"poisson","rate":0.1},"noise_multipliers":[-2]}"#),
            "-2",
        ),
        (
            with(r#"{"sampling":{"kind":"poisson","rate":0.1},"noise_multipliers":[]}"#),
            "round 0",
        ),
        (
            with(r#"{"sampling":{"kind":"full"},"noise_multipliers":[1],"times":0}"#),
            "times = 0",
        ),
        (
            with(r#"{"sampling":{"kind":"full"},"noise_multipliers":[1],"sigma":2}"#),
            "sigma",
        ),
        (
            with(r#"{"sampling":{"kind":"full","rate":1},"noise_multipliers":[1]}"#),
            "rate",
        ),
        (
            with(r#"{"sampling":{"kind":"shuffle"},"noise_multipliers":[1]}"#),
            "shuffle",
        ),
        (
            with(r#"{"sampling":{"kind":"fixed-size","batch":9,"of":4},"noise_multipliers":[1]}"#),
            "9 of 4",
        ),
        (
            with(r#"{"sampling":{"kind":"partition","batches":0},"noise_multipliers":[1]}"#),
            "got 0",
        ),
        (
            r#"{"neighbours":"friends","rounds":[]}"#.to_string(),
            "friends",
        ),
        (
            r#"{"neighbours":"replace-one","rounds":[],"extra":1}"#.to_string(),
            "extra",
        ),
        (
            r#"{"neighbours":"replace-one","records_per_unit":0,"rounds":[]}"#.to_string(),
            "got 0",
        ),
        ("{".to_string(), "EOF"),
    ] {
        let error = Ledger::from_json(&text).unwrap_err().to_string();
        assert!(error.contains(named), "{error} does not name {named}");
        assert!(serde_json::from_str::<Ledger>(&text).is_err());
    }
}

#[test]
fn counting_past_the_limit_is_refused() {
    let round = |times: u64| {
        format!(r#"{{"sampling":{{"kind":"full"}},"noise_multipliers":[1.0],"times":{times}}}"#)
    };
    let text = format!(
        r#"{{"neighbours":"replace-one","rounds":[{},{}]}}"#,
        round(1 << 53),
        round(1)
    );
    let error = Ledger::from_json(&text).unwrap_err();
    assert!(matches!(error, LedgerError::TooManyRounds { .. }));
}
