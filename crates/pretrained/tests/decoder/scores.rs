//! Scores equal those of the reference implementations.

use crate::fixture;
use serde_json::Value;
use tacita_pretrained::scores::{Sample, bleu, cider, nist, rouge_l};

#[test]
fn scores_equal_those_of_the_reference_implementations() {
    let groups = std::fs::read_to_string(fixture("scores.json")).unwrap();
    let groups: Vec<Value> = serde_json::from_str(&groups).unwrap();
    assert_eq!(groups.len(), 3);
    for group in &groups {
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        let samples: Vec<Sample> = (group["samples"].as_array().unwrap().iter())
            .map(|sample| {
                let references = sample["references"].as_array().unwrap();
                Sample::new(text(&sample["text"]), references.iter().map(text))
            })
            .collect();
        for (name, score) in [
            ("bleu", bleu(&samples)),
            ("nist", nist(&samples)),
            ("rouge-l", rouge_l(&samples)),
            ("cider", cider(&samples)),
        ] {
            let expected = group["scores"][name].as_f64().unwrap();
            assert!(
                (score - expected).abs() <= 1e-9 * (1.0 + expected),
                "{name}: {score} for {expected}"
            );
        }
    }
}

#[test]
fn nothing_scores_zero() {
    for score in [bleu, nist, rouge_l, cider] {
        assert_eq!(score(&[]), 0.0);
        assert_eq!(
            score(&[Sample::new("", ["a b c d e f"]), Sample::new("", ["x"])]),
            0.0
        );
    }
}
