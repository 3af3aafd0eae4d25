//! Figures are those of the plan.

use super::{everything, facts, plain, report};
use tacita_accounting::{Accountant, Ledger, Pld, Reading};

#[test]
fn figures_are_those_of_the_plan_at_the_delta_left_by_the_reserve() {
    let facts = plain();
    let at = |delta: f64| Pld::default().epsilon(&facts.plan, delta).unwrap();
    let Reading::Bracket { lower, upper } = at(facts.delta - facts.delta_reserved) else {
        panic!("a bracket");
    };
    let report = report(facts.clone());
    let certified = report.figures.certified;
    assert_eq!(
        (certified.lower, certified.upper),
        (Some(lower), Some(upper))
    );
    let curve = &report.figures.curve;
    assert!(curve.is_sorted_by(|a, b| a.epsilon < b.epsilon && a.delta_upper >= b.delta_upper));
    assert!(
        curve
            .iter()
            .all(|point| point.delta_upper >= facts.delta_reserved)
    );
    for point in curve.iter().filter(|point| point.epsilon > upper) {
        assert!(point.delta_upper <= facts.delta, "{point:?}");
    }
    let last = report.figures.spending.last().unwrap();
    assert_eq!(last.rounds, 200);
    assert!(last.rdp.unwrap() > upper && (last.certified.unwrap() / upper - 1.0).abs() < 0.01);
}

#[test]
fn side_costs_are_what_the_plan_saves_without_them() {
    let report = report(facts(everything()));
    let whole = report.figures.certified.upper.unwrap();
    let costs = &report.side_costs;
    assert_eq!(costs.len(), 3);
    assert!(
        costs
            .iter()
            .all(|cost| cost.epsilon_without.unwrap() < whole)
    );
    let bare = r#"{"neighbours":"add-or-remove-one","rounds":[
        {"sampling":{"kind":"full"},"noise_multipliers":[20.0],"times":1},
        {"sampling":{"kind":"poisson","rate":0.01},"noise_multipliers":[1.25],"times":100},
        {"sampling":{"kind":"poisson","rate":0.01},"noise_multipliers":[1.0],"times":100},
        {"sampling":{"kind":"full"},"noise_multipliers":[15.0],"times":1}]}"#;
    let bare = Ledger::from_json(bare).unwrap();
    let expected = Pld::default().epsilon(&bare, 1e-5 - 1e-11).unwrap();
    assert_eq!(costs[1].what, "directions");
    assert_eq!(costs[1].noise_multipliers, (7.0, 8.75));
    assert_eq!(costs[1].epsilon_without, expected.upper_bound());
}
