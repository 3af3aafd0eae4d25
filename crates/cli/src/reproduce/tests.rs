//! Configurations mean what they say, and results are kept.
#![allow(clippy::unwrap_used)]

use super::experiment::all;
use super::results::Trial;
use super::*;
use crate::run::{PublicFacts, Resolved, known};
use std::fs;
use std::path::Path;

fn trial(seed: u64, value: f64) -> Trial {
    Trial {
        seed,
        value,
        steps: 10,
        epsilon_certified: 0.43,
        delta: 1e-5,
        seconds: 1.0,
        commit: None,
        machine: "a machine".into(),
        date: "2026-01-01".into(),
    }
}

#[test]
fn every_configuration_can_be_run_both_ways() {
    for experiment in all().unwrap() {
        for method in &experiment.methods {
            for accountant in [Accountant::Pld, Accountant::Paper] {
                let epsilon = experiment.epsilons[0];
                let mut settings = experiment
                    .settings(method, epsilon, accountant, true)
                    .unwrap();
                settings.seed = Some(0);
                let known = known(settings.data.unwrap());
                let facts = PublicFacts {
                    records: known.records,
                    shape: known.shape,
                    estimates_bounds: false,
                    private_test: false,
                    public_test: true,
                };
                let plan = Resolved::new(settings, facts, None).unwrap().plan;
                let upper = plan.epsilon().upper_bound().unwrap();
                match accountant {
                    Accountant::Pld => assert!(upper <= epsilon),
                    Accountant::Paper => assert_eq!(plan.claim().unwrap().epsilon, epsilon),
                }
            }
        }
    }
}

/// δ = 1/(10 n) in the paper on dynamic DP-SGD.
#[test]
fn dynamic_experiments_use_the_delta_of_their_paper() {
    for experiment in all().unwrap().iter().filter(|e| e.paper == "dynamic") {
        let settings = experiment
            .settings(&experiment.methods[0], 1.0, Accountant::Pld, false)
            .unwrap();
        let records = known(settings.data.unwrap()).records as f64;
        let wanted = 1.0 / (10.0 * records);
        assert!(
            (settings.delta.unwrap() / wanted - 1.0).abs() < 1e-12,
            "{}",
            experiment.set
        );
    }
}

#[test]
fn results_are_kept_summarised_and_shown_beside_the_paper() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/tmp/reproduce-results");
    let _ = fs::remove_dir_all(&folder);
    let experiment = &find("dynamic", "table1").unwrap()[0];
    let method = &experiment.methods[2];
    let settings = experiment
        .settings(method, 0.4, Accountant::Paper, false)
        .unwrap();
    let key = Key::new(experiment, method, 0.4, Accountant::Paper, false, &settings).unwrap();
    let mut book = Book::open(&folder, "dynamic", "table1").unwrap();
    book.add(&key, method.paper[0], trial(0, 90.0)).unwrap();
    assert_eq!(book.cells[0].spread, None);
    book.add(&key, method.paper[0], trial(1, 92.0)).unwrap();

    let again = Book::open(&folder, "dynamic", "table1").unwrap();
    assert_eq!(again, book);
    assert!(again.trial(&key, 1).is_some() && again.trial(&key, 2).is_none());
    let page = render(&folder).unwrap();
    let row = format!(
        "| vanilla DP-SGD | 0.4 | 91.18 | 91.00 ± 1.41 | 2 | 10 | claimed | ≤ {} |",
        crate::report::number::up(0.43, 5)
    );
    assert!(page.contains(&row), "{page}");

    // Other settings are another result, and those that are no longer the experiment's are not shown.
    let mut other = settings.clone();
    other.learning_rate = Some(1.0);
    let other = Key::new(experiment, method, 0.4, Accountant::Paper, false, &other).unwrap();
    assert!(again.trial(&other, 1).is_none());
    book.add(&other, method.paper[0], trial(1, 11.0)).unwrap();
    assert_eq!(render(&folder).unwrap(), page);
}
