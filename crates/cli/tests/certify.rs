//! `tacita certify`: certificates of files, and how the command ends.
#![allow(clippy::unwrap_used)]

use serde_json::Value;
use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output};

fn file(name: &str, text: &str) -> String {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    fs::write(&path, text).unwrap();
    path.to_str().unwrap().to_string()
}

fn certify(arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tacita"));
    command.arg("certify").args(arguments).output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

/// Opacus' Gaussian accountant says 1.4817 of this plan, which is less than any accountant could prove.
const OPACUS: &str = r#"{"history": [[1.0, 0.008533333333333334, 1172]], "mechanism": "gdp"}"#;

#[test]
fn a_false_figure_ends_with_status_1_and_a_true_one_with_0() {
    let history = file("opacus.json", OPACUS);
    let delta = ["--delta", "1e-5"];
    for (reported, said, status) in [
        ("1.4817", "FALSE", 1),
        ("1.663", "consistent", 0),
        ("3", "true, but loose", 0),
    ] {
        let output = certify(&[&[history.as_str(), "--reported", reported], &delta[..]].concat());
        let printed = text(&output.stdout);
        assert!(printed.contains(said), "{printed}");
        assert_eq!(output.status.code(), Some(status), "{printed}");
    }
    let output = certify(&[&[history.as_str(), "--json"], &delta[..]].concat());
    let object: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(object["verdict"], "not-compared");
    // The figures of `tacita account`, bit for bit.
    let mut command = Command::new(env!("CARGO_BIN_EXE_tacita"));
    let plan = "account --rate 0.008533333333333334 --steps 1172 --noise 1 --delta 1e-5 --json";
    let output = command.args(plan.split(' ')).output().unwrap();
    let account: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(object["epsilon"], account["epsilon"], "{account}");
}

#[test]
fn what_is_known_beside_the_history_takes_precedence() {
    let history = r#"{"tacita_history": 1, "events": [[1.0, 0.01, 500]],
        "reported": {"epsilon": 2.0, "delta": 1e-5}, "batches": "poisson"}"#;
    let history = file("envelope.json", history);
    let output = certify(&[&history]);
    assert!(!text(&output.stdout).contains("shuffled"));
    let shuffled = certify(&[&history, "--batches", "shuffled"]);
    assert!(text(&shuffled.stdout).contains("huffled"));
    assert_eq!(shuffled.status.code(), Some(1));
}

#[test]
fn bad_input_is_named_and_ends_with_status_2() {
    let good = file("good.json", "[[1.0, 0.01, 500]]");
    let pickle = file("run.pt", "PK\u{3}\u{4}rest");
    let unknown = file(
        "laplace.json",
        r#"{"class_name": "LaplaceDpEvent", "noise_multiplier": 1.0}"#,
    );
    for (arguments, said) in [
        (vec![good.as_str()], "the history has none; give one"),
        (vec![good.as_str(), "--delta", "2"], "got 2"),
        (
            vec![good.as_str(), "--delta", "1e-5", "--reported", "NaN"],
            "NaN",
        ),
        (
            vec![good.as_str(), "--delta", "1e-5", "--batches", "random"],
            "shuffled",
        ),
        (vec![pickle.as_str(), "--delta", "1e-5"], "pickle"),
        (vec![unknown.as_str(), "--delta", "1e-5"], "LaplaceDpEvent"),
        (
            vec!["no-such-file.json", "--delta", "1e-5"],
            "no-such-file.json",
        ),
    ] {
        let output = certify(&arguments);
        let error = text(&output.stderr);
        assert!(error.contains(said), "{said}: {error}");
        assert_eq!(output.status.code(), Some(2), "{error}");
        assert!(output.stdout.is_empty());
    }
}
