//! `tacita train` as a user meets it.
#![allow(clippy::unwrap_used, missing_docs)]

use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use tacita_accounting::{Accountant, Pld};

/// A folder that does not exist yet, in an own corner of the target directory.
fn fresh(name: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR"))
        .join("train")
        .join(name);
    if path.exists() {
        fs::remove_dir_all(&path).unwrap();
    }
    path
}

fn train(arguments: &[&str], out: &Path) -> Output {
    Command::new(env!("CARGO_BIN_EXE_tacita"))
        .arg("train")
        .args(arguments)
        .arg("--out")
        .arg(out)
        .output()
        .unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

/// A short run that must succeed, and its summary.
fn summary(arguments: &[&str], out: &Path) -> Value {
    let arguments = [&["--epochs", "1", "--json", "--quiet"], arguments].concat();
    let output = train(&arguments, out);
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert_eq!(text(&output.stderr), "");
    serde_json::from_slice(&output.stdout).unwrap()
}

fn report(out: &Path) -> Value {
    serde_json::from_slice(&fs::read(out.join("report.json")).unwrap()).unwrap()
}

#[test]
fn reported_epsilon_keeps_the_budget_and_is_what_the_ledger_costs() {
    let out = fresh("budget");
    let summary = summary(&["--epsilon", "2", "--delta", "1e-5"], &out);
    let upper = summary["epsilon"]["upper"].as_f64().unwrap();
    assert!(upper <= 2.0, "{summary}");
    assert_eq!(summary["private"], true);
    assert_eq!(summary["delta"], 1e-5);

    let record = tacita::read_ledger_file(&out.join("ledger.jsonl")).unwrap();
    assert!(record.private);
    assert_eq!(record.released, record.plan);
    let certified = Pld::default().epsilon(&record.released, 1e-5).unwrap();
    let certified = certified.upper_bound().unwrap();
    // The run keeps a millionth of δ for the tail its generator cannot reach.
    assert!(
        certified <= upper && upper <= certified * 1.001,
        "{certified} {upper}"
    );
}

#[test]
fn account_reads_the_ledger_of_a_run() {
    let out = fresh("account");
    let summary = summary(&["--delta", "1e-5", "--seed", "1"], &out);
    let output = Command::new(env!("CARGO_BIN_EXE_tacita"))
        .args(["account", "--delta", "1e-5", "--json", "--ledger"])
        .arg(out.join("ledger.jsonl"))
        .output()
        .unwrap();
    assert!(text(&output.stderr).contains("NOT PRIVATE"));
    let printed: Value = serde_json::from_slice(&output.stdout).unwrap();
    let [account, run] = [&printed, &summary].map(|v| v["epsilon"]["upper"].as_f64().unwrap());
    assert!(account <= run && run <= account * 1.001, "{account} {run}");
}

#[test]
fn noise_given_instead_of_a_budget_is_the_noise_used() {
    let summary = summary(&["--noise", "5"], &fresh("noise"));
    assert_eq!(summary["noise_multiplier"], 5.0);
    assert!(summary["epsilon"]["upper"].as_f64().unwrap() < 1.0);
}

#[test]
fn existing_folder_is_refused_and_left_alone() {
    let out = fresh("existing");
    fs::create_dir_all(&out).unwrap();
    fs::write(out.join("precious"), "kept").unwrap();
    let output = train(&["--epochs", "1"], &out);
    assert_eq!(output.status.code(), Some(2));
    let message = text(&output.stderr);
    assert!(message.contains(out.to_str().unwrap()), "{message}");
    assert!(message.contains("Nothing was spent"), "{message}");
    let names: Vec<_> = fs::read_dir(&out)
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .collect();
    assert_eq!(names, ["precious"]);
}

#[test]
fn bad_values_are_named_and_leave_nothing_behind() {
    let cases = [
        (vec!["--epsilon", "0"], "epsilon", "0"),
        (vec!["--epsilon", "-1"], "epsilon", "-1"),
        (vec!["--epsilon", "NaN"], "epsilon", "NaN"),
        (vec!["--epsilon", "inf"], "epsilon", "inf"),
        (vec!["--epsilon", "eight"], "epsilon", "eight"),
        (vec!["--delta", "1"], "delta", "1"),
        (vec!["--delta", "0"], "delta", "0"),
        (vec!["--delta", "-0.1"], "delta", "-0.1"),
        (vec!["--batch", "3824"], "batch", "3824"),
        (vec!["--batch", "0"], "batch", "0"),
        (vec!["--epochs", "0"], "epochs", "0"),
        (vec!["--epochs", "-2"], "epochs", "-2"),
        (vec!["--learning-rate", "0"], "learning-rate", "0"),
        (vec!["--learning-rate", "NaN"], "learning-rate", "NaN"),
        (vec!["--noise", "0"], "noise", "0"),
        (vec!["--noise", "0.02"], "noise", "0.02"),
        (vec!["--epsilon", "50"], "epsilon", "50"),
        (vec!["--noise", "1", "--epsilon", "1"], "noise", "epsilon"),
    ];
    let out = fresh("bad");
    for (arguments, what, value) in cases {
        let output = train(&arguments, &out);
        let message = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {message}");
        assert!(
            message.contains(what) && message.contains(value),
            "{arguments:?}: {message}"
        );
        assert!(!out.exists(), "{arguments:?} made a folder");
        assert_eq!(text(&output.stdout), "");
    }
}

#[test]
fn fixed_seed_repeats_exactly_and_says_not_private_everywhere() {
    let [first, second] = ["seed-a", "seed-b"].map(fresh);
    let output = train(&["--epochs", "1", "--seed", "7"], &first);
    assert!(output.status.success());
    assert!(text(&output.stderr).contains("NOT PRIVATE"));
    assert!(text(&output.stdout).contains("NOT PRIVATE"));
    assert_eq!(report(&first)["privacy"]["private"], false);
    assert!(
        !tacita::read_ledger_file(&first.join("ledger.jsonl"))
            .unwrap()
            .private
    );

    let again = summary(&["--seed", "7"], &second);
    assert_eq!(again["private"], false);
    assert_eq!(again["accuracy"], report(&first)["held_out_accuracy"]);
    assert_eq!(report(&first), report(&second));
}

/// An allow-list, so that whatever is added must be thought about: no loss, norm, time, index, key
/// or realised batch size.
#[test]
fn folder_of_a_private_run_holds_public_things_only() {
    let out = fresh("public");
    summary(&[], &out);
    let names = |value: &Value| -> BTreeSet<String> {
        value.as_object().unwrap().keys().cloned().collect()
    };
    let set =
        |names: &[&str]| -> BTreeSet<String> { names.iter().map(ToString::to_string).collect() };

    let files: BTreeSet<String> = fs::read_dir(&out)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    assert_eq!(files, set(&["ledger.jsonl", "model.bpk", "report.json"]));

    let report = report(&out);
    let configuration = [
        "clipping",
        "data",
        "epochs",
        "expected_batch",
        "learning_rate",
        "seed",
    ];
    let results = ["held_out_accuracy", "privacy"];
    assert_eq!(
        names(&report),
        set(&[&configuration[..], &results].concat())
    );
    assert_eq!(report["seed"], Value::Null);
    let privacy = [
        "accountant",
        "caveats",
        "delta",
        "epsilon_lower",
        "epsilon_upper",
        "neighbours",
        "noise_multipliers",
        "not_private_because",
        "private",
        "public_record_count",
        "rate",
        "sampling",
        "steps",
        "unit",
        "version",
    ];
    assert_eq!(names(&report["privacy"]), set(&privacy));
    assert_eq!(
        report["privacy"]["not_private_because"],
        serde_json::json!([])
    );

    let ledger = fs::read_to_string(out.join("ledger.jsonl")).unwrap();
    let header = ["tacita_ledger", "private", "block_steps", "plan", "chain"];
    let lines = [&header[..], &["first", "steps", "stopped_before"]].concat();
    for line in ledger.lines() {
        let line: Value = serde_json::from_str(line).unwrap();
        assert!(names(&line).is_subset(&set(&lines)), "{line}");
    }
}
