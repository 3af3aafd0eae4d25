//! `tacita account` and `tacita calibrate` as a user meets them.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use serde_json::Value;
use std::path::PathBuf;
use std::process::{Command, Output};

fn tacita(arguments: &str) -> Output {
    Command::new(env!("CARGO_BIN_EXE_tacita"))
        .args(arguments.split_whitespace())
        .output()
        .unwrap()
}

fn stdout(output: &Output) -> String {
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8(output.stdout.clone()).unwrap()
}

fn json(arguments: &str) -> Value {
    serde_json::from_str(&stdout(&tacita(arguments))).unwrap()
}

/// A file of this name with this text, in a folder of the test's own.
fn file(name: &str, text: &str) -> String {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::write(&path, text).unwrap();
    path.display().to_string()
}

const MNIST: &str = r#"{"neighbours":"add-or-remove-one","rounds":[{"sampling":{"kind":"poisson","rate":0.008533333333333334},"noise_multipliers":[1.0],"times":1172}]}"#;
const PLAN: &str = "--records 60000 --batch 512 --epochs 10 --noise 1.0";

#[test]
fn ledger_and_plan_give_the_same_bracket() {
    let path = file("mnist.json", MNIST);
    let of_ledger = json(&format!("account --ledger {path} --delta 1e-5 --json"));
    let of_plan = json(&format!("account {PLAN} --delta 1e-5 --json"));
    assert_eq!(of_ledger, of_plan);
    assert_eq!(of_plan["accountant"], "pld");
    assert_eq!(of_plan["delta"], 1e-5);
    let (lower, upper) = (&of_plan["epsilon"]["lower"], &of_plan["epsilon"]["upper"]);
    let (lower, upper) = (lower.as_f64().unwrap(), upper.as_f64().unwrap());
    // A slow reference puts ε at 1.662194.
    assert!(lower <= 1.662_194_95 && upper >= 1.662_194 && upper - lower <= 2e-4 * upper);
}

#[test]
fn several_ledgers_are_also_stated_together() {
    let half = file("half.json", &MNIST.replace("1172", "586"));
    let ledgers = format!("account --ledger {half} --ledger {half} --delta 1e-5 --json");
    let stated = json(&ledgers);
    let [_, _, joint] = stated.as_array().unwrap().as_slice() else {
        panic!("{stated}");
    };
    assert_eq!(joint["ledger"], "all together");
    let whole = json(&format!("account {PLAN} --delta 1e-5 --json"));
    let bracket = |of: &Value| ["lower", "upper"].map(|end| of["epsilon"][end].as_f64().unwrap());
    let ([low, high], [lower, upper]) = (bracket(joint), bracket(&whole));
    assert!(
        low <= upper && lower <= high && high - low <= 1e-3 * high,
        "{stated}"
    );
}

#[test]
fn every_accountant_says_what_its_figure_is_worth() {
    let all = json(&format!(
        "account {PLAN} --delta 1e-5 --accountant all --json"
    ));
    let keys: Vec<(String, Vec<String>)> = all
        .as_array()
        .unwrap()
        .iter()
        .map(|object| {
            let epsilon = object["epsilon"].as_object().unwrap();
            (
                object["accountant"].as_str().unwrap().to_string(),
                epsilon.keys().cloned().collect(),
            )
        })
        .collect();
    let expected = [
        ("pld", vec!["lower", "upper"]),
        ("rdp", vec!["upper"]),
        ("tcdp", vec!["upper"]),
        ("zcdp", vec!["upper"]),
        ("gdp", vec!["estimate"]),
    ];
    let expected: Vec<(String, Vec<String>)> = expected
        .into_iter()
        .map(|(name, keys)| {
            (
                name.to_string(),
                keys.into_iter().map(String::from).collect(),
            )
        })
        .collect();
    assert_eq!(keys, expected);
}

#[test]
fn statement_names_unit_relation_sampling_and_accountant() {
    let text = stdout(&tacita(&format!("account {PLAN} --delta 1e-5")));
    for wanted in [
        "ε ≤ 1.662",
        "δ = 1e-5",
        "one record",
        "add-or-remove-one",
        "Poisson",
        "pld",
    ] {
        assert!(text.contains(wanted), "{wanted} is missing from\n{text}");
    }
    let text = stdout(&tacita(&format!(
        "account {PLAN} --delta 1e-5 --accountant gdp"
    )));
    assert!(text.contains("ε ≈") && text.contains("NO GUARANTEE") && !text.contains('≤'));
}

#[test]
fn delta_at_an_epsilon_is_given() {
    let alone = json(&format!("account {PLAN} --epsilon 1.5 --json"));
    assert_eq!(alone["epsilon"], 1.5);
    assert!(alone["delta"]["upper"].as_f64().unwrap() > 1e-5);
    let both = json(&format!("account {PLAN} --delta 1e-5 --epsilon 1.5 --json"));
    assert_eq!(both["at_epsilon"]["delta"], alone["delta"]);
    assert!(both["epsilon"]["upper"].as_f64().unwrap() > 1.5);
}

#[test]
fn bad_input_ends_with_status_two_and_no_figure() {
    let malformed = file("malformed.json", "{\"neighbours\":");
    let empty = file(
        "empty.json",
        r#"{"neighbours":"add-or-remove-one","rounds":[]}"#,
    );
    let unknown = file("unknown.json", &MNIST.replace("\"times\"", "\"repeat\""));
    let rate = file("rate.json", &MNIST.replace("0.008533333333333334", "1.5"));
    let negative = file("negative.json", &MNIST.replace("[1.0]", "[-1.0]"));
    let shape = file("shape.json", "[1, 0]");
    let plan = "--rate 0.01 --steps 100";
    for (arguments, named) in [
        (
            "account --rate 0 --steps 10 --noise 1 --delta 1e-5".to_string(),
            "got 0;",
        ),
        (
            "account --rate 1.5 --steps 10 --noise 1 --delta 1e-5".to_string(),
            "got 1.5",
        ),
        (
            "account --rate -0.1 --steps 10 --noise 1 --delta 1e-5".to_string(),
            "got -0.1",
        ),
        (
            "account --rate NaN --steps 10 --noise 1 --delta 1e-5".to_string(),
            "got NaN",
        ),
        (format!("account {plan} --noise -2 --delta 1e-5"), "got -2"),
        (
            format!("account {plan} --noise NaN --delta 1e-5"),
            "got NaN",
        ),
        (format!("account {plan} --noise 1 --delta 1"), "got 1;"),
        (format!("account {plan} --noise 1 --delta 0"), "got 0;"),
        (format!("account {plan} --noise 1 --delta NaN"), "got NaN"),
        (
            format!("account {plan} --noise 1 --delta 1e-5 --epsilon -3"),
            "got -3",
        ),
        (
            format!("account {plan} --noise 1 --delta 1e-5 --accountant magic"),
            "magic",
        ),
        (format!("account {plan} --noise 1"), "--delta"),
        (format!("account {plan} --delta 1e-5"), "--noise"),
        (
            "account --rate 0.01 --steps 0 --noise 1 --delta 1e-5".to_string(),
            "got 0",
        ),
        (
            "account --rate 0.01 --steps -5 --noise 1 --delta 1e-5".to_string(),
            "-5",
        ),
        (
            "account --records 100 --batch 200 --epochs 1 --noise 1 --delta 1e-5".to_string(),
            "got 200",
        ),
        (
            "account --records 100 --batch 10 --epochs 0 --noise 1 --delta 1e-5".to_string(),
            "got 0",
        ),
        ("account --delta 1e-5".to_string(), "nothing to account"),
        (
            "account --ledger no-such-file.json --delta 1e-5".to_string(),
            "no-such-file.json",
        ),
        (
            format!("account --ledger {malformed} --delta 1e-5"),
            "malformed.json",
        ),
        (
            format!("account --ledger {empty} --delta 1e-5"),
            "no rounds",
        ),
        (format!("account --ledger {unknown} --delta 1e-5"), "repeat"),
        (format!("account --ledger {rate} --delta 1e-5"), "got 1.5"),
        (
            format!("account --ledger {negative} --delta 1e-5"),
            "got -1",
        ),
        (
            format!("calibrate --epsilon 0 --delta 1e-5 {plan}"),
            "got 0",
        ),
        (
            format!("calibrate --epsilon -1 --delta 1e-5 {plan}"),
            "got -1",
        ),
        (
            format!("calibrate --epsilon NaN --delta 1e-5 {plan}"),
            "got NaN",
        ),
        (
            format!("calibrate --epsilon 1 --delta 1.5 {plan}"),
            "got 1.5",
        ),
        (
            "calibrate --epsilon 1 --delta 1e-5 --rate 2 --steps 10".to_string(),
            "got 2",
        ),
        (
            "calibrate --epsilon 1 --delta 1e-5 --rate 0.1".to_string(),
            "--steps",
        ),
        (
            format!("calibrate --epsilon 1 --delta 1e-5 {plan} --growing-mu -2"),
            "got -2",
        ),
        (
            format!("calibrate --epsilon 1 --delta 1e-5 {plan} --side-query-increase 0"),
            "got 0",
        ),
        (
            format!("calibrate --epsilon 1 --delta 1e-5 --rate 0.1 --shape {shape}"),
            "got 0",
        ),
        (
            "calibrate --epsilon 0.1 --delta 1e-5 --rate 0.5 --noise 0.5 --most-steps".to_string(),
            "not one step",
        ),
    ] {
        for format in ["", " --json"] {
            let output = tacita(&format!("{arguments}{format}"));
            let message = String::from_utf8_lossy(&output.stderr);
            assert_eq!(output.status.code(), Some(2), "{arguments}: {message}");
            assert!(output.stdout.is_empty(), "{arguments} printed a figure");
            assert!(message.contains(named), "{arguments}: {message}");
        }
    }
}

#[test]
fn calibrated_noise_keeps_the_budget_when_accounted_again() {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("calibrated.json");
    let path = path.display();
    let found = json(&format!(
        "calibrate --epsilon 1 --delta 1e-5 --rate 0.01 --steps 500 --json --write-ledger {path}"
    ));
    let noise = found["noise_multiplier"].as_f64().unwrap();
    let again = json(&format!(
        "account --rate 0.01 --steps 500 --noise {noise} --delta 1e-5 --json"
    ));
    let upper = again["epsilon"]["upper"].as_f64().unwrap();
    assert!(upper <= 1.0 && upper > 0.999, "{upper}");
    let written = json(&format!("account --ledger {path} --delta 1e-5 --json"));
    assert_eq!(written["epsilon"], again["epsilon"]);
    let less = json(&format!(
        "account --rate 0.01 --steps 500 --noise {} --delta 1e-5 --json",
        noise * 0.999
    ));
    assert!(less["epsilon"]["upper"].as_f64().unwrap() > 1.0);
}

#[test]
fn most_steps_and_the_steps_left_add_up() {
    let most = "calibrate --epsilon 2 --delta 1e-5 --rate 0.01 --noise 1.2 --most-steps --json";
    let whole = json(most)["steps"].as_u64().unwrap();
    let made = file(
        "made.json",
        &format!(
            r#"{{"neighbours":"add-or-remove-one","rounds":[{{"sampling":{{"kind":"poisson","rate":0.01}},"noise_multipliers":[1.2],"times":{}}}]}}"#,
            whole / 2
        ),
    );
    let left = json(&format!("{most} --spent {made}"))["steps"]
        .as_u64()
        .unwrap();
    assert_eq!(whole / 2 + left, whole);
}

#[test]
fn side_query_is_paid_for_by_the_gradient() {
    let budget = "calibrate --epsilon 1 --delta 1e-5 --rate 0.01 --steps 300 --json";
    let alone = json(budget)["noise_multiplier"].as_f64().unwrap();
    let joint = json(&format!("{budget} --side-query-increase 0.01"));
    let gradient = joint["noise_multiplier"].as_f64().unwrap();
    let side = joint["side_query_noise_multiplier"].as_f64().unwrap();
    assert!((gradient / alone - 1.01).abs() < 1e-4);
    // (1 − 1.01⁻²)^(−1/2), mpmath 1.4.1.
    assert!((side / (gradient / 1.01) - 7.123_990_720_171_842).abs() < 1e-9);
}

#[test]
fn paper_calibration_is_set_beside_the_truth() {
    let found = json(
        "calibrate --epsilon 1.2 --delta 1e-5 --rate 0.01 --steps 60 --growing-mu 2 --paper --json",
    );
    let paper = &found["paper"];
    assert_eq!(paper["claimed_epsilon"]["estimate"], 1.2);
    assert!(paper["epsilon"]["lower"].as_f64().unwrap() > 1.2);
    assert!(paper["mu_zero"].as_f64().unwrap() > found["mu_zero"].as_f64().unwrap());
}

#[test]
fn a_user_of_several_records_needs_more_noise() {
    let budget = "calibrate --epsilon 1 --delta 1e-5 --rate 0.001 --steps 300 --json";
    let record = json(budget)["noise_multiplier"].as_f64().unwrap();
    let user = json(&format!("{budget} --records-per-unit 3"));
    assert!(user["noise_multiplier"].as_f64().unwrap() > record);
}

#[test]
fn plot_shows_the_bracket_between_the_other_lines() {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("plot.svg");
    let plot = format!("--plot {}", path.display());
    stdout(&tacita(&format!(
        "account --rate 0.01 --steps 200 --noise 1 --delta 1e-5 {plot}"
    )));
    let svg = std::fs::read_to_string(&path).unwrap();
    assert_eq!(svg.matches("<polyline").count(), 6);
    assert_eq!(svg.matches("<polygon").count(), 2);
    for wanted in [
        "certified bracket",
        "rdp",
        "no guarantee",
        "steps",
        "Privacy curve",
    ] {
        assert!(svg.contains(wanted), "{wanted} is missing");
    }
    // Two schedules side by side.
    let (a, b) = (
        file("a.json", &MNIST.replace("1172", "50")),
        file("b.json", &MNIST.replace("1172", "90")),
    );
    let printed = stdout(&tacita(&format!(
        "account --ledger {a} --ledger {b} --delta 1e-5 {plot}"
    )));
    assert!(printed.contains("all together"), "{printed}");
    let svg = std::fs::read_to_string(&path).unwrap();
    assert!(svg.contains("a.json: certified bracket") && svg.contains("b.json: "));
}
