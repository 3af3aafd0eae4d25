//! The cost of a search, against the accountants themselves.
#![allow(clippy::unwrap_used)]

use super::certificate::Certificate;
use super::page::Found;
use super::space::{MAY_VARY, PATHS, Space};
use crate::run::{PublicFacts, Settings};
use crate::testkit::{awkward, bounds};
use std::path::Path;
use tacita_accounting::{Accountant, Pld, RandomRuns, whole_grid};
use tacita_datasets::{InputKind, Shape, TargetKind};

const FACTS: PublicFacts = PublicFacts {
    records: 10_000,
    shape: Shape::Rows { width: 10 },
    kind: InputKind::Other,
    classes: 2,
    target: TargetKind::Class,
    estimates_bounds: false,
    private_test: true,
    public_test: true,
};

const SETTINGS: &str = "
[settings]
csv = \"synthetic.csv\"
test-share = 0.1
score-noise = 30.0
epsilon = 2.0
delta = 1e-6
";

const LISTS: &str = "
learning-rate = [0.1, 0.5]
batch = [100, 400]
clipping = [\"abadi:1\", \"quantile:0.5\"]
steps = [50, 200]
";

fn certificate(head: &str, lists: &str) -> (Space, Certificate) {
    let space = Space::parse(&format!("{head}{SETTINGS}{lists}")).unwrap();
    let candidates = space.candidates().unwrap();
    let certificate = Certificate::new(&space, &candidates, FACTS).unwrap();
    (space, certificate)
}

fn grid() -> (Space, Certificate) {
    let head = "mode = \"grid\"\nchoose-by = \"noisy-count\"\n";
    certificate(head, &format!("[grid]{LISTS}"))
}

fn random(distribution: &str, lists: &str) -> (Space, Certificate) {
    let head = "mode = \"random\"\nchoose-by = \"noisy-count\"\n";
    let runs = format!("[runs]\ndistribution = \"{distribution}\"\nmean = 16.0\n");
    certificate(head, &format!("[random]{lists}\n{runs}"))
}

#[test]
fn printed_bounds_of_a_search_never_lie_below_the_proved_one() {
    let (space, certificate) = grid();
    let found = Found::new(&space, true, &certificate, 16, None, None, None);
    let mut found = found.unwrap();
    for epsilon in awkward() {
        found.epsilon_upper = epsilon;
        for group in &mut found.several_records {
            group.epsilon_upper = Some(epsilon);
        }
        for text in [found.text(Path::new("out")), found.html()] {
            // The page has spaces that do not break.
            let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
            let printed = bounds(&text, "ε ≤ ");
            assert!(!printed.is_empty(), "{text}");
            for bound in printed {
                assert!(bound >= epsilon, "{bound:e} for {epsilon:e}");
            }
        }
    }
}

#[test]
fn grid_keeps_the_budget_as_one_ledger() {
    let (space, certificate) = grid();
    assert_eq!(space.candidates().unwrap().len(), 16);
    let whole = whole_grid(&certificate.ledgers).unwrap();
    // Eight runs of 50 steps and eight of 200, each with a noisy score at its end.
    assert_eq!(whole.rounds_made(), 8 * (50 + 200) + 16);
    let read = Pld::default().epsilon(&whole, 1e-6 * (1.0 - 1e-6)).unwrap();
    assert_eq!(read, certificate.epsilon);
    let upper = certificate.epsilon_upper();
    // Within the budget, and no noise wasted.
    assert!(upper <= 2.0 && upper > 1.999, "{upper}");
    // One scale for all.
    let noise = certificate.settings[0].noise;
    assert!(certificate.settings.iter().all(|run| run.noise == noise));
}

#[test]
fn random_search_keeps_the_budget() {
    for (name, law) in [
        ("logarithmic", RandomRuns::logarithmic(16.0).unwrap()),
        ("geometric", RandomRuns::geometric(16.0).unwrap()),
        ("poisson", RandomRuns::poisson(16.0).unwrap()),
    ] {
        let (_, certificate) = random(name, LISTS);
        let all = law.epsilon_of_any(&certificate.ledgers, 1e-6 * (1.0 - 1e-6));
        let all = all.unwrap().upper_bound().unwrap();
        let upper = certificate.epsilon_upper();
        assert!(all <= upper && upper <= 2.0, "{name}: {all} {upper}");
        assert!(upper > 1.99, "{name} wastes budget: {upper}");
    }
}

#[test]
fn shorter_runs_of_a_random_search_need_less_noise() {
    let (_, certificate) = random("logarithmic", "\nsteps = [50, 200]\n");
    let [short, long] = [0, 1].map(|index| certificate.settings[index].noise.unwrap());
    assert!(short < 0.9 * long, "{short} {long}");
}

#[test]
fn random_search_needs_less_noise_than_a_grid_of_as_many_runs() {
    let noise = |certificate: &Certificate| {
        let noises = certificate.settings.iter().map(|run| run.noise.unwrap());
        noises.fold(0.0, f64::max)
    };
    let (grid, random) = (noise(&grid().1), noise(&random("logarithmic", LISTS).1));
    assert!(random < grid, "{random} {grid}");
}

#[test]
fn spaces_that_mean_nothing_are_refused_by_name() {
    let grid = "mode = \"grid\"\nchoose-by = \"test-set\"\n";
    let cases = [
        (format!("{grid}[grid]\nlearning-rat = [1]"), "learning-rat"),
        (format!("{grid}[grid]\nepsilon = [1.0]"), "epsilon"),
        (format!("{grid}[grid]\nbatch = 5"), "batch"),
        (format!("{grid}[grid]\nbatch = []"), "batch"),
        (format!("{grid}[grid]\nbatch = [\"x\"]"), "batch"),
        (format!("{grid}[settings]\nnoise = 1.0\n[grid]\nbatch = [5]"), "noise"),
        (format!("{grid}[settings]\nbatch = 5\n[grid]\nbatch = [5]"), "batch"),
        (format!("{grid}[random]\nbatch = [5]"), "random"),
        (grid.to_string(), "[grid]"),
        (format!("parallel = 0\n{grid}[grid]\nbatch = [5]"), "parallel"),
        ("mode = \"random\"\nchoose-by = \"test-set\"\n[random]\nbatch = [5]".into(), "[runs]"),
        (
            "mode = \"random\"\nchoose-by = \"test-set\"\n[random]\nbatch = [5]\n[runs]\nmean = 1e9".into(),
            "1000000000",
        ),
    ];
    for (text, named) in cases {
        let refused = Space::parse(&text).and_then(|space| space.candidates());
        let message = format!("{:#}", refused.unwrap_err());
        assert!(message.contains(named), "{text}: {message}");
    }
}

#[test]
fn what_may_vary_and_what_is_a_path_are_settings() {
    let known = serde_json::to_value(Settings::default()).unwrap();
    for key in MAY_VARY.iter().chain(&PATHS) {
        assert!(known.get(key).is_some(), "{key}");
    }
}

#[test]
fn exact_scores_on_private_records_never_choose() {
    let space = |choose: &str| {
        let text =
            format!("mode = \"grid\"\nchoose-by = \"{choose}\"\n{SETTINGS}[grid]\nsteps = [1]\n");
        Space::parse(&text).unwrap()
    };
    let check = |choose: &str, private_test| {
        let space = space(choose);
        let facts = PublicFacts {
            private_test,
            ..FACTS
        };
        space.check_score(&space.settings().unwrap(), facts).is_ok()
    };
    assert!(check("noisy-count", true));
    for choose in ["public-validation", "test-set"] {
        assert!(!check(choose, true));
        assert!(check(choose, false));
    }
    assert!(!check("noisy-count", false));
}
