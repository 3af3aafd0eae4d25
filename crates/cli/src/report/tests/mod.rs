//! What a report must say, and what it must never say.
#![allow(clippy::unwrap_used)]

mod attacks;
mod circumstances;
mod figures;
mod printing;
mod refusals;
mod safety;
mod statements;

use super::Report;
use super::facts::{Evaluation, Facts};
use crate::utility::{self, ClassAnswers, Utility};
use serde_json::{Value, json};
use tacita_accounting::Ledger;

/// A run with everything: a noisy estimate before training, a side query, a learned threshold, a noise
/// schedule and a noisy score.
fn everything() -> Value {
    let step = |noise: f64, times: u64| {
        json!({
            "sampling": { "kind": "poisson", "rate": 0.01 },
            "noise_multipliers": [noise, 7.0 * noise],
            "times": times,
        })
    };
    let once = |noise: f64| json!({ "sampling": { "kind": "full" }, "noise_multipliers": [noise], "times": 1 });
    json!({
        "tacita_facts": 1,
        "name": "the run",
        "data": {
            "name": "the data",
            "licence": "the licence",
            "record": "one row of the data",
            "public_record_count": 60_000,
            "caveats": ["a caveat of the data"],
        },
        "preparation": [
            { "what": "columns scaled to their means", "origin": "privately-estimated" },
            { "what": "pixels divided by 255", "origin": "public" },
        ],
        "model": { "name": "the model", "parameters": 551_322 },
        "optimizer": "the optimiser",
        "learning_rate": { "name": "learning rate", "origin": "schedule", "points": [[0, 0.5], [100, 0.25]] },
        "clipping": "the clip rule",
        "thresholds": [{ "name": "threshold", "origin": "learned", "points": [[0, 1.5], [150, 0.75]] }],
        "plan": { "neighbours": "add-or-remove-one", "rounds": [once(20.0), step(1.25, 100), step(1.0, 100), once(15.0)] },
        "phases": [
            { "kind": "preparation", "what": "column means", "rounds": 1, "queries": ["bounded sums"] },
            { "kind": "training", "what": "training", "rounds": 200, "queries": ["gradient", "directions"] },
            { "kind": "evaluation", "what": "noisy score", "rounds": 1, "queries": ["right answers"] },
        ],
        "delta": 1e-5,
        "delta_reserved": 1e-11,
        "budget": 3.0,
        "rounds_made": 202,
        "keys": "operating-system",
        "diagnostics": false,
        "tuning": "not-covered",
        "evaluation": { "kind": "noisy-count", "on": "private rows", "accuracy": 0.8125, "noise_std": 0.01 },
        "released": ["the weights"],
        "precision": "32-bit floating point",
        "version": "9.8.7",
        "caveats": ["a caveat of the run"],
    })
}

/// The plain case: one query, constant noise, a public test set.
fn plain() -> Facts {
    let mut facts = facts(everything());
    facts.plan = Ledger::from_json(
        r#"{"neighbours":"add-or-remove-one","rounds":[{"sampling":{"kind":"poisson","rate":0.01},"noise_multipliers":[1.0],"times":200}]}"#,
    )
    .unwrap();
    facts.phases = vec![facts.phases[1].clone()];
    facts.phases[0].queries.truncate(1);
    facts.rounds_made = 200;
    facts.preparation.remove(0);
    facts.evaluation = Some(Evaluation::PublicTest {
        on: "public rows".to_string(),
        records: 1797,
        accuracy: 0.9549,
        over_steps: vec![(0, 0.1), (100, 0.8), (200, 0.9549)],
    });
    facts.utility = Some(of_two_classes(["no", "yes"]));
    facts
}

/// Exact figures of a model of two classes, on eight records.
fn of_two_classes(classes: [&str; 2]) -> Utility {
    let outputs: Vec<Vec<f32>> = (0..8).map(|k| vec![0.0, k as f32 - 3.5]).collect();
    let answers = ClassAnswers {
        classes: &classes.map(str::to_string),
        outputs: &outputs,
        labels: &[0, 0, 1, 0, 1, 0, 1, 1],
    };
    Utility::Classes(utility::exact_classes(answers, "public rows".into()))
}

fn facts(value: Value) -> Facts {
    serde_json::from_value(value).unwrap()
}

fn report(facts: Facts) -> Report {
    Report::new(facts).unwrap()
}

/// The page as a reader sees it: no style, no tags, ordinary spaces.
fn visible(html: &str) -> String {
    let body = html.split_once("</style>").unwrap().1;
    let mut text = String::new();
    let mut inside = false;
    for letter in body.chars() {
        match letter {
            '<' => inside = true,
            '>' => {
                inside = false;
                text.push(' ');
            }
            _ if !inside => text.push(letter),
            _ => {}
        }
    }
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
