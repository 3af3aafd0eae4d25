//! Configurations mean what they say, and results are kept.
#![allow(clippy::unwrap_used)]

use super::experiment::all;
use super::results::Trial;
use super::*;
use std::fs;
use std::path::Path;
use tacita_cli::device::DeviceName;
use tacita_cli::run::{PlannedRun, PublicFacts, Settings};
use tacita_cli::tune::Certificate;
use tacita_datasets::{InputKind, Shape, TargetKind, known};

fn trial(seed: u64, value: f64) -> Trial {
    Trial {
        seed,
        value,
        best: None,
        steps: 10,
        epsilon_certified: Some(0.43),
        epsilon_claimed: None,
        delta: 1e-5,
        seconds: 1.0,
        commit: None,
        machine: "a machine".into(),
        date: "2026-01-01".into(),
    }
}

const QUICK: Cut = Cut {
    quick: true,
    steps_limit: None,
};
const WHOLE: Cut = Cut {
    quick: false,
    steps_limit: None,
};

fn facts(settings: &Settings) -> PublicFacts {
    let known = known(settings.data.unwrap());
    let declared = settings.declared.as_ref();
    let words = declared.and_then(|schema| schema.text.word_vectors);
    PublicFacts {
        records: known.records,
        shape: words.map_or(known.shape, |words| Shape::Rows { width: 100 * words }),
        kind: InputKind::Other,
        classes: 2,
        target: TargetKind::Class,
        estimates_bounds: false,
        private_test: false,
        public_test: true,
    }
}

#[test]
fn every_configuration_can_be_run_both_ways() {
    for experiment in all().unwrap() {
        for method in experiment.methods.iter().filter(|m| m.accountant.is_some()) {
            for accountant in [Accountant::Pld, Accountant::Paper] {
                let column = &experiment.columns(method, accountant, QUICK).unwrap()[0];
                let epsilon = column.epsilon.unwrap();
                let facts = facts(&column.runs[0].settings);
                let noise = Noise::find(column, accountant, || Ok(facts)).unwrap();
                // All runs of a grid have the same ledger; one is enough.
                for settings in noise.settings.into_iter().take(1) {
                    let settings = Settings {
                        seed: Some(0),
                        ..settings
                    };
                    let plan = PlannedRun::new(settings, facts).unwrap().plan;
                    let upper = plan.epsilon().upper_bound().unwrap();
                    match plan.claim() {
                        Some(claim) => assert_eq!(claim.epsilon, epsilon),
                        None => assert!(upper <= epsilon, "{upper} {epsilon}"),
                    }
                }
            }
        }
    }
}

/// The paper's grids: k rates, k × k rates and thresholds, k × 5 rates and quantiles, k thresholds.
#[test]
fn online_sensitivity_tables_have_the_grids_of_their_paper() {
    for experiment in all().unwrap().iter().filter(|e| e.paper == "oso") {
        let number: u32 = experiment.table["table".len()..].parse().unwrap();
        let k = if number <= 10 { 9 } else { 5 };
        let columns = |name: &str| {
            let method = experiment.methods.iter().find(|m| m.name == name).unwrap();
            experiment
                .columns(method, Accountant::Paper, WHOLE)
                .unwrap()
        };
        let sizes = [
            ("Online", k),
            ("FixedThreshold", k * k),
            ("FixedQuantile", k * 5),
            ("AdamWOSM", k),
            ("non-private", k),
        ];
        for (name, size) in sizes {
            for column in columns(name) {
                assert_eq!(column.runs.len(), size, "{} {name}", experiment.table);
                // What the paper found best is a choice of the grid; nothing where it found nothing.
                let printed = column.paper_value.is_some() || name == "non-private";
                assert!(column.published.is_some() || !printed);
            }
        }
    }
}

/// A grid costs what its runs cost together, by the certified accountant; the moments accountant, which
/// the paper used, says more of the same noise.
#[test]
fn a_grid_shares_its_budget_and_moments_say_more() {
    let experiment = &find("oso", "table11").unwrap()[0];
    let method = &experiment.methods[0];
    let column = &experiment.columns(method, Accountant::Pld, WHOLE).unwrap()[0];
    let facts = facts(&column.runs[0].settings);
    let certified = Certificate::of_grid(&column.runs, facts).unwrap();
    assert!((2.99..=3.0).contains(&certified.epsilon_upper()));
    assert!(certified.epsilon_by_moments().unwrap() > 3.0);
    let claimed = Certificate::as_in_paper(&column.runs, facts).unwrap();
    let moments = claimed.epsilon_by_moments().unwrap();
    assert!((2.99..=3.0).contains(&moments), "{moments}");
    assert!(claimed.epsilon_upper() < 3.0);
    let single = Certificate::of_grid(&column.runs[..1], facts).unwrap();
    assert!(single.settings[0].noise < certified.settings[0].noise);
}

/// δ = 1/(10 n) in the paper on dynamic DP-SGD, 1/n in its authors' program.
#[test]
fn dynamic_experiments_use_the_delta_of_their_paper() {
    for experiment in all().unwrap().iter().filter(|e| e.paper == "dynamic") {
        let settings = experiment.common_settings().unwrap();
        let records = known(settings.data.unwrap()).records as f64;
        let part = if experiment.set.ends_with("the authors' program") {
            1.0
        } else {
            10.0
        };
        let wanted = 1.0 / (part * records);
        assert!(
            (settings.delta.unwrap() / wanted - 1.0).abs() < 1e-12,
            "{}",
            experiment.set
        );
    }
}

/// Neither ordinary training nor a preset depends on the accountant of the command.
#[test]
fn rows_without_a_choice_of_accountant_are_one_cell() {
    for (paper, table) in [("dynamic", "table2"), ("best", "imdb")] {
        let experiment = &find(paper, table).unwrap()[0];
        let method = &experiment.methods[0];
        let key = |accountant| {
            let column = &experiment.columns(method, accountant, WHOLE).unwrap()[0];
            Key::new(experiment, method, column, 0, accountant, WHOLE).unwrap()
        };
        assert_eq!(key(Accountant::Pld), key(Accountant::Paper));
    }
}

fn folder(name: &str) -> std::path::PathBuf {
    let target = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/tmp");
    let folder = target.join(name);
    let _ = fs::remove_dir_all(&folder);
    folder
}

#[test]
fn results_are_kept_summarised_and_shown_beside_the_paper() {
    let folder = folder("reproduce-results");
    let experiment = &find("dynamic", "table1").unwrap()[0];
    let (accountant, methods) = (Accountant::Paper, &experiment.methods);
    let method = methods.iter().find(|m| m.name == "vanilla DP-SGD").unwrap();
    let mut column = experiment
        .columns(method, accountant, WHOLE)
        .unwrap()
        .remove(0);
    let key = Key::new(experiment, method, &column, 0, accountant, WHOLE).unwrap();
    let mut book = Book::open(&folder, "dynamic", "table1").unwrap();
    book.add(&key, column.paper_value, trial(0, 90.0)).unwrap();
    assert_eq!(book.cells[0].spread, None);
    book.add(&key, column.paper_value, trial(1, 92.0)).unwrap();

    let again = Book::open(&folder, "dynamic", "table1").unwrap();
    assert_eq!(again, book);
    assert!(again.trial(&key, 1).is_some() && again.trial(&key, 2).is_none());
    let page = render(&folder).unwrap().text;
    let row = format!(
        "| vanilla DP-SGD | 0.4 | 91.18 | 91.00 ± 1.41 | 2 | 10 | claimed | ≤ {} |",
        tacita_accounting::decimal::up(0.43, 5)
    );
    assert!(page.contains(&row), "{page}");

    // Other settings are another result, and those that are no longer the experiment's are not shown.
    column.runs[0].settings.learning_rate = Some(1.0);
    let other = Key::new(experiment, method, &column, 0, accountant, WHOLE).unwrap();
    assert!(again.trial(&other, 1).is_none());
    book.add(&other, column.paper_value, trial(1, 11.0))
        .unwrap();
    assert_eq!(render(&folder).unwrap().text, page);

    // Where it was computed is not a setting.
    let mut column = experiment
        .columns(method, accountant, WHOLE)
        .unwrap()
        .remove(0);
    column.runs[0].settings.device = Some(DeviceName::Cuda(0));
    assert_eq!(
        Key::new(experiment, method, &column, 0, accountant, WHOLE).unwrap(),
        key
    );
}

#[test]
fn a_shortened_run_is_another_cell_and_says_that_it_is_no_result() {
    let folder = folder("reproduce-shortened");
    let experiment = &find("dynamic", "table3").unwrap()[0];
    let method = &experiment.methods[2];
    let limited = Cut {
        quick: false,
        steps_limit: Some(7),
    };
    let mut book = Book::open(&folder, "dynamic", "table3").unwrap();
    let mut keys = Vec::new();
    for cut in [WHOLE, QUICK, limited] {
        let column = &experiment.columns(method, Accountant::Pld, cut).unwrap()[0];
        keys.push(Key::new(experiment, method, column, 0, Accountant::Pld, cut).unwrap());
        if cut == limited {
            assert_eq!(column.runs[0].settings.steps, Some(7));
        }
    }
    assert!(keys[0] != keys[1] && keys[1] != keys[2] && keys[0] != keys[2]);
    for key in &keys[1..] {
        book.add(key, None, trial(0, 50.0)).unwrap();
    }
    let page = render(&folder).unwrap().text;
    for mark in ["(QUICK: no result)", "(LIMITED TO 7 STEPS: no result)"] {
        assert!(page.contains(mark), "{page}");
    }
    assert!(!page.contains("| vanilla DP-SGD | 1 |"));
}

#[test]
fn a_grid_shows_the_choice_whose_best_checkpoint_is_best() {
    let folder = folder("reproduce-grid");
    let experiment = &find("oso", "table12").unwrap()[0];
    let (method, accountant) = (&experiment.methods[0], Accountant::Paper);
    let column = &experiment.columns(method, accountant, WHOLE).unwrap()[1];
    let mut book = Book::open(&folder, "oso", "table12").unwrap();
    // An error: smaller is better, and the best checkpoint decides, not the last.
    for (run, best, last) in [(0, 3.0, 3.1), (1, 0.9, 5.0), (2, 1.0, 1.0)] {
        let key = Key::new(experiment, method, column, run, accountant, WHOLE).unwrap();
        let trial = Trial {
            best: Some(best),
            epsilon_claimed: Some(2.0),
            ..trial(0, last)
        };
        book.add(&key, column.paper_value, trial).unwrap();
    }
    let page = render(&folder).unwrap().text;
    let row = "| Online | 2 | 0.77 | 0.90 | 5.00 | learning-rate = 0.03162 | 3 of 5 | 1 | claimed | ≈ 2.000 |";
    assert!(page.contains(row), "{page}");
    assert!(page.contains("NOT PRIVATE"));
}

/// Each number of a sweep stands where its two settings meet, and what was not run is empty.
#[test]
fn a_sweep_is_a_square() {
    for (paper, table, head, row) in [
        (
            "dynamic",
            "figure3",
            "| growing-mu ↓ threshold-decay → | 1.25 | 1.6667 | 2.5 | 10 |",
            "| 1.6667 | – | – | 90.00 ± 1.41 | – |",
        ),
        (
            "auto",
            "figure15",
            "| clipping ↓ learning-rate → | 0.005 | 0.05 | 0.5 | 5 |",
            "| abadi:0.1 | – | – | 90.00 ± 1.41 | – |",
        ),
    ] {
        let folder = folder(&format!("reproduce-{table}"));
        let experiment = &find(paper, table).unwrap()[0];
        let (method, accountant) = (&experiment.methods[0], Accountant::Paper);
        let column = &experiment.columns(method, accountant, WHOLE).unwrap()[0];
        let mut book = Book::open(&folder, paper, table).unwrap();
        // The second row's third column, in sweeps of four columns.
        let key = Key::new(experiment, method, column, 6, accountant, WHOLE).unwrap();
        for seed in [0, 1] {
            let value = 89.0 + 2.0 * seed as f64;
            book.add(&key, None, trial(seed, value)).unwrap();
        }
        let page = render(&folder).unwrap();
        assert!(page.text.contains(head), "{}", page.text);
        assert!(page.text.contains(row), "{}", page.text);
        assert!(page.text.contains("certified ε ≤ 0.43"));
        assert_eq!(page.figures, [], "one budget is no line");
    }
}

#[test]
fn every_figure_of_gradients_can_be_run_both_ways() {
    for figure in diagnostics().unwrap() {
        for line in &figure.lines {
            for accountant in [Accountant::Pld, Accountant::Paper] {
                let settings = figure.settings(line, accountant, QUICK).unwrap();
                let facts = facts(&settings);
                let settings = Settings {
                    seed: Some(0),
                    ..settings
                };
                let plan = PlannedRun::new(settings, facts).unwrap().plan;
                assert_eq!(plan.claim().is_some(), accountant == Accountant::Paper);
            }
        }
    }
}

/// Two budgets make a line, beside the paper's; one, or shortened runs, do not.
#[test]
fn tables_are_drawn_over_their_budgets_beside_the_paper() {
    let folder = folder("reproduce-drawn");
    let experiment = &find("oso", "table11").unwrap()[0];
    let (method, accountant) = (&experiment.methods[0], Accountant::Paper);
    let mut book = Book::open(&folder, "oso", "table11").unwrap();
    let mut add = |column: usize, cut: Cut| {
        let column = &experiment.columns(method, accountant, cut).unwrap()[column];
        let key = Key::new(experiment, method, column, 0, accountant, cut).unwrap();
        book.add(&key, column.paper_value, trial(0, 90.0)).unwrap();
        render(&folder).unwrap()
    };
    assert!(add(0, WHOLE).figures.is_empty());
    assert!(add(1, QUICK).figures.is_empty());
    let page = add(1, WHOLE);
    let (file, svg) = &page.figures[0];
    assert_eq!(file, "figures/results-oso-table11-mnist.svg");
    assert!(page.text.contains(file.as_str()));
    for name in ["Online: ours, claimed", "Online: paper"] {
        assert!(svg.contains(name), "{svg}");
    }
    assert!(!svg.contains("FixedQuantile"));
}

/// Made by hand: the page has the picture, and it says what it is.
#[test]
fn figures_of_gradients_say_that_they_are_not_private() {
    let folder = folder("reproduce-gradients");
    let figures = diagnostics().unwrap();
    for (figure, label) in [("figure12", "in percent"), ("figure13", "mean norm")] {
        let found = figures.iter().find(|found| found.figure == figure).unwrap();
        let settings = found.settings(&found.lines[0], Accountant::Paper, WHOLE);
        let look = |step: u64| {
            format!(
                "{{\"step\":{step},\"mean_of_norms\":2.0,\"clip_fraction\":0.5,\"threshold\":0.1}}"
            )
        };
        let seen = serde_json::json!([{
            "line": found.lines[0].name,
            "accountant": "paper",
            "settings": settings.unwrap().to_toml().unwrap(),
            "quick": false,
            "steps_limit": null,
            "looks": serde_json::from_str::<serde_json::Value>(&format!("[{},{}]", look(0), look(20))).unwrap(),
            "commit": null,
            "machine": "a machine",
            "date": "2026-01-01",
        }]);
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join(format!("auto-{figure}.json")), seen.to_string()).unwrap();
        let page = render(&folder).unwrap();
        let (file, svg) = page.figures.last().unwrap();
        assert_eq!(*file, format!("figures/results-auto-{figure}.svg"));
        assert!(svg.contains("NOT PRIVATE") && svg.contains(label), "{svg}");
        assert!(page.text.contains("| 1 of 3 | 0 of 3 |"), "{}", page.text);
    }
}

/// The keys of all cells of an experiment.
fn keys(experiment: &Experiment) -> Vec<Key> {
    let mut keys = Vec::new();
    for method in &experiment.methods {
        for accountant in [Accountant::Pld, Accountant::Paper] {
            for column in experiment.columns(method, accountant, WHOLE).unwrap() {
                for run in 0..column.runs.len() {
                    let key = Key::new(experiment, method, &column, run, accountant, WHOLE);
                    keys.push(key.unwrap());
                }
            }
        }
    }
    keys
}

/// A result is known by a hash of its settings, so settings that are written otherwise would lose every result.
#[test]
fn stored_results_are_of_experiments_that_are_here() {
    let results = Path::new(env!("CARGO_MANIFEST_DIR")).join("results");
    let (mut stored, mut known) = (0, 0);
    for experiment in all().unwrap() {
        let book = Book::open(&results, &experiment.paper, &experiment.table).unwrap();
        let keys = keys(&experiment);
        let cells = (book.cells.iter()).filter(|cell| cell.key.set == experiment.set);
        for cell in cells {
            stored += 1;
            known += usize::from(keys.contains(&cell.key));
        }
    }
    // Eight are of settings that were replaced later, and are not shown.
    assert_eq!((stored, known), (443, 435));
    for figure in diagnostics().unwrap() {
        let file = results.join(format!("{}-{}.json", figure.paper, figure.figure));
        let made: Vec<serde_json::Value> =
            serde_json::from_str(&fs::read_to_string(file).unwrap()).unwrap();
        assert_eq!(
            figure.seen(&results).unwrap().len(),
            made.len(),
            "{}",
            figure.figure
        );
    }
}

/// One line of `noise.jsonl`, made by version 0.1.0 at the commit before the papers' accountants left the engine.
#[derive(serde::Deserialize)]
struct KnownNoise {
    paper: String,
    table: String,
    set: String,
    method: String,
    epsilon: Option<f64>,
    scale: f64,
}

/// To the last bit: results that were made before are comparable with those made now.
#[test]
fn noise_of_the_papers_is_what_it_was() {
    let experiments = all().unwrap();
    let figures = diagnostics().unwrap();
    for line in include_str!("noise.jsonl").lines() {
        let known: KnownNoise = serde_json::from_str(line).unwrap();
        let settings = match known.epsilon {
            Some(_) => {
                let experiment = (experiments.iter())
                    .find(|e| {
                        (&e.paper, &e.table, &e.set) == (&known.paper, &known.table, &known.set)
                    })
                    .unwrap();
                let method = experiment.methods.iter().find(|m| m.name == known.method);
                let columns = experiment.columns(method.unwrap(), Accountant::Paper, WHOLE);
                let column = columns.unwrap().remove(0);
                assert_eq!(column.epsilon, known.epsilon);
                let facts = facts(&column.runs[0].settings);
                let noise = Noise::find(&column, Accountant::Paper, || Ok(facts)).unwrap();
                noise.settings[0].clone()
            }
            None => {
                let figure = (figures.iter())
                    .find(|f| (&f.paper, &f.figure) == (&known.paper, &known.table))
                    .unwrap();
                let line = figure.lines.iter().find(|line| line.name == known.method);
                figure
                    .settings(line.unwrap(), Accountant::Paper, WHOLE)
                    .unwrap()
            }
        };
        let facts = facts(&settings);
        let settings = Settings {
            seed: Some(0),
            ..settings
        };
        let plan = PlannedRun::new(settings, facts).unwrap().plan;
        assert_eq!(plan.scale(), known.scale, "{line}");
    }
}
