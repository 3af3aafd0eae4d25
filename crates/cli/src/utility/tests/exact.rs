//! Exact figures.

use super::{Case, case, uniform};
use crate::utility::ranking::{Scored, average_precision, precision_recall, ranked, roc, roc_area};
use crate::utility::{ClassUtility, Utility, exact, words};
use serde_json::Value;

fn figures(case: &Case) -> ClassUtility {
    match exact(case.answers(), "public rows".into()) {
        Utility::Classes(figures) => figures,
    }
}

#[test]
fn figures_are_those_of_scikit_learn() {
    let golden: Value = serde_json::from_str(include_str!("golden.json")).unwrap();
    for (name, classes, count) in [("two", 2, 400), ("three", 3, 300)] {
        let ours = serde_json::to_value(figures(&case(classes, count))).unwrap();
        for (key, theirs) in golden[name].as_object().unwrap() {
            match key.as_str() {
                "confusion" => {
                    let flat = |value: &Value| -> Vec<f64> {
                        let rows = value.as_array().unwrap().iter();
                        rows.flat_map(|row| {
                            row.as_array().unwrap().iter().map(|n| n.as_f64().unwrap())
                        })
                        .collect()
                    };
                    assert_eq!(flat(&ours["confusion"]), flat(theirs), "{name}");
                }
                "recall" => {
                    for (class, recall) in theirs.as_array().unwrap().iter().enumerate() {
                        let found = &ours["per_class"][class]["recall"]["value"];
                        let error = found.as_f64().unwrap() - recall.as_f64().unwrap();
                        assert!(error.abs() < 1e-12, "{name} {class}");
                    }
                }
                key => {
                    let found = ours[key]["value"].as_f64().unwrap();
                    let error = found - theirs.as_f64().unwrap();
                    assert!(error.abs() < 1e-9, "{name} {key}: {found}, not {theirs}");
                    assert!(ours[key].get("plus_minus").is_none(), "{key} is exact");
                }
            }
        }
    }
}

/// Records with scores that repeat, and some property.
fn scored(seed: u64, count: usize) -> Vec<(f64, bool)> {
    let drawn = uniform(seed, 2 * count);
    let pairs = drawn.chunks(2);
    pairs
        .map(|u| ((u[0] * 12.0).floor(), u[1] < u[0] * 0.6))
        .collect()
}

fn as_ranked(records: &[(f64, bool)]) -> Vec<Scored> {
    let of = |(score, is): &(f64, bool)| Scored {
        log_odds: *score,
        positive: f64::from(u8::from(*is)),
        negative: f64::from(u8::from(!is)),
    };
    ranked(records.iter().map(of).collect())
}

#[test]
fn roc_area_is_the_share_of_pairs_in_order() {
    for seed in 1..20 {
        let records = scored(seed, 60);
        let (mut good, mut pairs) = (0.0, 0.0);
        for (above, _) in records.iter().filter(|(_, is)| *is) {
            for (below, _) in records.iter().filter(|(_, is)| !is) {
                pairs += 1.0;
                good += match above.total_cmp(below) {
                    std::cmp::Ordering::Greater => 1.0,
                    std::cmp::Ordering::Equal => 0.5,
                    std::cmp::Ordering::Less => 0.0,
                };
            }
        }
        let ranked = as_ranked(&records);
        assert!((roc_area(&ranked) - good / pairs).abs() < 1e-12);
        // The area under the drawn curve is the same.
        let curve = roc(&ranked);
        let area: f64 = (curve.windows(2))
            .map(|ends| (ends[1].0 - ends[0].0) * 0.5 * (ends[0].1 + ends[1].1))
            .sum();
        assert!((area - good / pairs).abs() < 1e-12);
    }
}

#[test]
fn average_precision_is_the_mean_over_records_with_the_property() {
    for seed in 1..20 {
        let records = scored(seed, 60);
        let with: Vec<f64> = records
            .iter()
            .filter(|(_, is)| *is)
            .map(|(score, _)| *score)
            .collect();
        // Precision among all records that score at least as high.
        let precision = |score: &f64| {
            let answered = records.iter().filter(|(other, _)| other >= score).count();
            let right = with.iter().filter(|other| *other >= score).count();
            right as f64 / answered as f64
        };
        let mean = with.iter().map(precision).sum::<f64>() / with.len() as f64;
        let ranked = as_ranked(&records);
        assert!((average_precision(&ranked) - mean).abs() < 1e-12);
        let curve = precision_recall(&ranked);
        assert_eq!(curve.last().unwrap().0, 1.0);
    }
}

#[test]
fn a_model_that_answers_one_class_only_is_warned_of() {
    let mut one = case(2, 400);
    for outputs in &mut one.outputs {
        outputs[1] = -3.0 + 0.01 * outputs[1];
        outputs[0] = 0.0;
    }
    let figures = figures(&one);
    assert_eq!(
        figures.accuracy.unwrap().value,
        figures.majority_share.unwrap().value
    );
    assert_eq!(figures.balanced_accuracy.unwrap().value, 0.5);
    let warnings = figures.warnings.join("\n");
    assert!(
        warnings.contains("Every test record is answered with “class 0”"),
        "{warnings}"
    );
    assert!(warnings.contains("no better than"), "{warnings}");
    let said = words::lines(&Utility::Classes(figures)).join("\n");
    assert!(
        said.contains("majority share") && said.contains("AUC") && said.contains("WARNING"),
        "{said}"
    );
    // A model that tells the classes apart is not.
    assert_eq!(super::exact::figures(&case(3, 300)).warnings, [""; 0]);
}

#[test]
fn answers_that_are_no_numbers_say_nothing_and_end_nothing() {
    let mut broken = case(3, 50);
    broken
        .outputs
        .iter_mut()
        .for_each(|outputs| outputs[1] = f32::NAN);
    let figures = figures(&broken);
    assert!((figures.log_loss.unwrap().value - 3_f64.ln()).abs() < 1e-12);
    assert_eq!(figures.roc_area.unwrap().value, 0.5);
    assert!(!figures.warnings.is_empty());
}

#[test]
fn a_class_without_records_and_one_record_alone_are_no_reason_to_fail() {
    for kept in [vec![0_u16], vec![], vec![1, 1, 1]] {
        let mut few = case(2, 400);
        few.outputs.truncate(kept.len());
        few.labels = kept;
        let figures = figures(&few);
        assert!(figures.roc_area.is_none());
        words::lines(&Utility::Classes(figures));
    }
}
