//! The accountant against an independent method that shares nothing with it.

#![allow(clippy::unwrap_used, clippy::expect_used)]

use serde_json::Value;
use tacita_accounting::{Accountant, Ledger, Neighbours, Pld, Reading, Round, Sampling};

/// Agreement of the oracle with itself at two settings; see `data/oracle.py`.
const ORACLE_ERROR: f64 = 3e-7;

#[test]
fn brackets_hold_the_values_of_laplace_inversion() {
    let golden: Value = serde_json::from_str(include_str!("data/oracle.json")).unwrap();
    for case in golden["cases"].as_array().unwrap() {
        let records = u32::try_from(case["records"].as_u64().unwrap()).unwrap();
        let mut ledger = Ledger::new(Neighbours::AddOrRemoveOne)
            .with_records_per_unit(records)
            .unwrap();
        for round in case["rounds"].as_array().unwrap() {
            let sampling = Sampling::Poisson {
                rate: round[0].as_f64().unwrap(),
            };
            let noise = round[1].as_f64().unwrap();
            let times = round[2].as_u64().unwrap();
            ledger
                .push(Round::new(sampling, vec![noise]).unwrap().times(times))
                .unwrap();
        }
        let truth = (case["remove"].as_f64().unwrap()).max(case["add"].as_f64().unwrap());
        let delta = case["delta"].as_f64().unwrap();
        for width in [1e-4, 1e-2] {
            let accountant = Pld::default().with_relative_width(width);
            let Reading::Bracket { lower, upper } = accountant.epsilon(&ledger, delta).unwrap()
            else {
                panic!("not a bracket");
            };
            let error = ORACLE_ERROR * truth + 2e-9;
            assert!(upper >= truth - error, "{case}: [{lower}, {upper}]");
            assert!(lower <= truth + error, "{case}: [{lower}, {upper}]");
            assert!(
                upper - lower <= (width * upper).max(1e-6),
                "{case}: [{lower}, {upper}]"
            );
        }
    }
}
