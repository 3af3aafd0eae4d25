//! No ε that a report prints lies below the proved one.

use super::{plain, report, visible};
use crate::report::Report;
use crate::testkit::{awkward, bounds};

#[test]
fn printed_bounds_of_a_report_never_lie_below_the_proved_one() {
    let mut report: Report = report(plain());
    for epsilon in awkward() {
        report.figures.certified.upper = Some(epsilon);
        report.figures.certified.lower = Some(epsilon);
        for group in &mut report.groups {
            group.epsilon_upper = Some(epsilon);
        }
        for text in [
            report.summary(),
            visible(&report.html()),
            report.json().to_string(),
        ] {
            let printed = bounds(&text, "ε ≤ ");
            assert!(!printed.is_empty(), "{text}");
            for bound in printed {
                assert!(bound >= epsilon, "{bound:e} for {epsilon:e}");
            }
        }
        // JSON keeps every bit.
        let json: serde_json::Value = serde_json::from_str(&report.json().to_string()).unwrap();
        assert_eq!(json["guarantee"]["epsilon_upper"], epsilon);
    }
}
