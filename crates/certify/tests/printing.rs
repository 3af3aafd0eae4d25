//! No ε that a certificate prints lies on the wrong side of the proved one.
#![allow(clippy::unwrap_used)]

use tacita_accounting::Reading;
use tacita_certify::{Certificate, Verdict};

fn certificate(epsilon: f64) -> Certificate {
    Certificate {
        source: "a list".into(),
        delta: 1e-5,
        epsilon: Some(Reading::Bracket {
            lower: epsilon,
            upper: epsilon,
        }),
        reported: None,
        verdict: Verdict::NotCompared,
        findings: vec![],
        ledger: None,
    }
}

fn number_after(text: &str, words: &str) -> f64 {
    let after = text.split(words).nth(1).unwrap();
    let number = after.split_whitespace().next().unwrap();
    number.replace(',', "").parse().unwrap()
}

#[test]
fn printed_bounds_of_a_certificate_lie_outside_the_proved_ones() {
    for step in 1..4000 {
        // Short decimals and their neighbours, at which a careless rounding loses the last bit.
        let short = f64::from(step) * 0.017 / 10.0;
        for epsilon in [short, short.next_up(), short.next_down()].map(|value| value.max(1e-2)) {
            let text = certificate(epsilon).to_string();
            assert!(
                number_after(&text, "between ") <= epsilon,
                "{epsilon:e}: {text}"
            );
            assert!(
                number_after(&text, " and ") >= epsilon,
                "{epsilon:e}: {text}"
            );
            assert_eq!(certificate(epsilon).to_json()["epsilon"]["upper"], epsilon);
        }
    }
}
