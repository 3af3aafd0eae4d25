//! `tacita train` as a user meets it.
#![allow(clippy::unwrap_used, missing_docs)]

mod common;

use common::{fresh, json, path, printed, refused, summary, tacita, text};
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;
use tacita_accounting::{Accountant, Pld};

/// Fifteen steps of a small model on the embedded digits.
const SHORT: [&str; 5] = ["train", "--model", "logistic", "--epochs", "2"];

fn short(extra: &[&str], name: &str) -> (PathBuf, Value) {
    let out = fresh("train", name);
    let summary = summary(&[&SHORT[..], extra, &["--out", path(&out)]].concat());
    (out, summary)
}

#[test]
fn reported_epsilon_keeps_the_budget_and_is_what_the_ledger_costs() {
    let (out, summary) = short(&["--epsilon", "2", "--delta", "1e-5"], "budget");
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
    let (out, summary) = short(&["--delta", "1e-5", "--seed", "1"], "account");
    let ledger = out.join("ledger.jsonl");
    let output = tacita(&[
        "account",
        "--delta",
        "1e-5",
        "--json",
        "--ledger",
        path(&ledger),
    ]);
    assert!(text(&output.stderr).contains("NOT PRIVATE"));
    let printed: Value = serde_json::from_slice(&output.stdout).unwrap();
    let [account, run] = [&printed, &summary].map(|v| v["epsilon"]["upper"].as_f64().unwrap());
    assert!(account <= run && run <= account * 1.001, "{account} {run}");
}

#[test]
fn noise_given_instead_of_a_budget_is_the_noise_used() {
    let (_, summary) = short(&["--noise", "5"], "noise");
    assert_eq!(summary["noise_multiplier"], 5.0);
    assert!(summary["epsilon"]["upper"].as_f64().unwrap() < 1.0);
}

#[test]
fn existing_folder_is_refused_and_left_alone() {
    let out = common::empty("train", "existing");
    fs::write(out.join("precious"), "kept").unwrap();
    let arguments = [&SHORT[..], &["--out", path(&out)]].concat();
    refused(&arguments, &[path(&out), "Nothing was spent"]);
    assert_eq!(common::files(&out), BTreeSet::from(["precious".into()]));
}

#[test]
fn bad_values_are_named_and_leave_nothing_behind() {
    let cases = [
        (vec!["--epsilon", "0"], "epsilon", "0"),
        (vec!["--epsilon", "-1"], "epsilon", "-1"),
        (vec!["--epsilon", "NaN"], "epsilon", "NaN"),
        (vec!["--epsilon", "inf"], "epsilon", "inf"),
        (vec!["--epsilon", "eight"], "epsilon", "eight"),
        (
            vec!["--epsilon", "0.000001"],
            "too small for any step",
            "0.000001",
        ),
        (vec!["--delta", "1"], "delta", "1"),
        (vec!["--delta", "0"], "delta", "0"),
        (vec!["--delta", "-0.1"], "delta", "-0.1"),
        (
            vec!["--batch", "3824"],
            "larger than the 3823 records",
            "3824",
        ),
        (vec!["--batch", "0"], "batch", "0"),
        (vec!["--epochs", "0"], "epochs", "0"),
        (vec!["--epochs", "-2"], "epochs", "-2"),
        (vec!["--steps", "0"], "steps", "0"),
        (vec!["--steps", "5", "--epochs", "1"], "--steps", "--epochs"),
        (vec!["--learning-rate", "0"], "learning-rate", "0"),
        (vec!["--learning-rate", "NaN"], "learning-rate", "NaN"),
        (vec!["--noise", "0"], "noise", "0"),
        (vec!["--noise", "0.02"], "noise", "0.02"),
        (vec!["--epsilon", "50"], "epsilon", "50"),
        (vec!["--noise", "1", "--epsilon", "1"], "noise", "epsilon"),
        (
            vec!["--noise", "1", "--paper-accountant", "clt"],
            "--noise",
            "--paper-accountant",
        ),
        (vec!["--paper-accountant", "gdp"], "gdp", "clt"),
        (vec!["--clipping", "abadi"], "abadi", "abadi:1.5"),
        (vec!["--clipping", "abadi:-1"], "-1", "threshold"),
        (vec!["--clipping", "quantile:2"], "2", "quantile"),
        (vec!["--optimizer", "sgdd"], "sgdd", "momentum"),
        (vec!["--rate-schedule", "cosin"], "cosin", "cosine"),
        (vec!["--noise-schedule", "optimum"], "optimum", "optimal"),
        (vec!["--average", "1"], "--average", "1"),
        (vec!["--weight-decay", "-1"], "--weight-decay", "-1"),
        (vec!["--threshold-decay", "0"], "0", "decay"),
        (vec!["--growing-mu", "0"], "0", "mu"),
        (vec!["--test-every", "0"], "--test-every", "0"),
        (vec!["--checkpoint-every", "0"], "--checkpoint-every", "0"),
        (vec!["--model", "lstm"], "lstm", "cnn"),
        (vec!["--model", "resnet"], "resnet", "resnet9"),
        (vec!["--model", "vgg11"], "vgg11", "8 × 8"),
        (vec!["--hidden", "0"], "--hidden", "0"),
        (vec!["--data", "mnistt"], "mnistt", "mnist"),
        // What has no effect is refused rather than ignored.
        (vec!["--label", "x"], "--label", "your own data"),
        (vec!["--records", "5"], "--records", "your own data"),
        (vec!["--test-share", "0.5"], "--test-share", "your own data"),
        (
            vec!["--score-noise", "5"],
            "--score-noise",
            "private test records",
        ),
        (vec!["--text", "body"], "--text", "--jsonl"),
    ];
    let out = fresh("train", "bad");
    for (arguments, what, value) in cases {
        let arguments = [&["train"], &arguments[..], &["--out", path(&out)]].concat();
        refused(&arguments, &[what, value]);
        assert!(!out.exists(), "{arguments:?} made a folder");
    }
    // Folders that cannot be made.
    let file = fresh("train", "a-file");
    fs::write(&file, "").unwrap();
    let below = file.join("run");
    let arguments = [&SHORT[..], &["--out", path(&below)]].concat();
    refused(&arguments, &["cannot make the folder", path(&below)]);
    fs::remove_file(&file).unwrap();
}

#[test]
fn fixed_seed_repeats_exactly_and_says_not_private_everywhere() {
    let first = fresh("train", "seed-a");
    let arguments = [&SHORT[..], &["--seed", "7", "--out", path(&first)]].concat();
    let output = tacita(&arguments);
    assert!(output.status.success());
    assert!(text(&output.stderr).contains("NOT PRIVATE"));
    assert!(text(&output.stdout).contains("NOT PRIVATE"));
    let page = fs::read_to_string(first.join("report.html")).unwrap();
    assert!(page.contains("NOT PRIVATE"));
    let report = json(&first.join("report.json"));
    assert_eq!(report["private"], false);
    assert_eq!(json(&first.join("facts.json"))["keys"], "fixed-seed");
    let ledger = tacita::read_ledger_file(&first.join("ledger.jsonl")).unwrap();
    assert!(!ledger.private);

    let (second, again) = short(&["--seed", "7"], "seed-b");
    assert_eq!(again["private"], false);
    for name in common::files(&first) {
        let [one, other] = [&first, &second].map(|out| fs::read(out.join(&name)).unwrap());
        assert_eq!(one, other, "{name}");
    }
    let (third, _) = short(&["--seed", "8"], "seed-c");
    let [one, other] = [&first, &third].map(|out| fs::read(out.join("model.safetensors")).unwrap());
    assert_ne!(one, other);
}

#[test]
fn private_runs_of_the_same_settings_differ() {
    let models = ["private-a", "private-b"]
        .map(|name| fs::read(short(&[], name).0.join("model.safetensors")).unwrap());
    assert_ne!(models[0], models[1]);
}

#[test]
fn every_policy_of_the_papers_is_a_flag_and_gives_a_report() {
    let policies: [&[&str]; 8] = [
        &["--clipping", "auto-v", "--per-layer"],
        &[
            "--clipping",
            "abadi:0.5",
            "--threshold-decay",
            "2",
            "--growing-mu",
            "2",
            "--optimizer",
            "sgd",
        ],
        &["--clipping", "quantile:0.5", "--rate-schedule", "cosine"],
        &[
            "--clipping",
            "online",
            "--rate-schedule",
            "online",
            "--optimizer",
            "sgd",
            "--learning-rate",
            "1",
        ],
        &[
            "--optimizer",
            "adam-wosm",
            "--learning-rate",
            "0.01",
            "--average",
            "0.9",
        ],
        &["--paper-accountant", "clt", "--epsilon", "2"],
        &[
            "--noise-schedule",
            "exponential:0.1",
            "--weight-decay",
            "0.001",
        ],
        &[
            "--clipping",
            "abadi:0.5",
            "--threshold-decay",
            "2",
            "--noise-schedule",
            "optimal",
        ],
    ];
    for (index, policy) in policies.iter().enumerate() {
        let (out, summary) = short(policy, &format!("policy-{index}"));
        assert!(out.join("report.html").exists());
        assert_eq!(summary["steps"], summary["planned_steps"]);
        // Its own config gives the same run, and a finished run is left as it is.
        let config = out.join("config.toml");
        let dry = printed(&["train", path(&config), "--dry-run", "--json"]);
        let dry: Value = serde_json::from_str(&dry).unwrap();
        for key in ["epsilon", "delta", "noise_multiplier"] {
            assert_eq!(dry[key], summary[key], "{policy:?} {key}");
        }
        let before = [
            "facts.json",
            "model.safetensors",
            "ledger.jsonl",
            "metrics.jsonl",
        ]
        .map(|name| fs::read(out.join(name)).unwrap());
        common::summary(&["resume", path(&out)]);
        let after = [
            "facts.json",
            "model.safetensors",
            "ledger.jsonl",
            "metrics.jsonl",
        ]
        .map(|name| fs::read(out.join(name)).unwrap());
        assert!(before == after, "{policy:?} changed when resumed");
    }
}

#[test]
fn a_dry_run_opens_no_data_and_makes_no_folder() {
    let out = fresh("train", "dry");
    // Files that are there, but hold nothing that could be read.
    let folder = common::empty("train", "dry-data");
    let (csv, jsonl) = (folder.join("t.csv"), folder.join("t.jsonl"));
    fs::write(&csv, [0xff; 9]).unwrap();
    fs::write(&jsonl, [0xff; 9]).unwrap();
    let own = [
        vec!["--csv", path(&csv), "--label", "y", "--classes", "a,b"],
        vec![
            "--jsonl",
            path(&jsonl),
            "--text",
            "t",
            "--label",
            "y",
            "--classes",
            "a,b",
        ],
        vec!["--data", "imdb", "--data-dir", "/nonexistent"],
        vec![],
    ];
    for source in own {
        let records: &[&str] = match source.first() {
            Some(&"--csv" | &"--jsonl") => &["--records", "5000"],
            _ => &[],
        };
        let arguments = [
            &["train", "--dry-run", "--out", path(&out)],
            &source[..],
            records,
        ]
        .concat();
        let said = printed(&arguments);
        for part in ["ε ≤ ", "multiplier", "steps", "no data were opened"] {
            assert!(said.contains(part), "{said}");
        }
        assert!(!out.exists());
    }
    let gone = [
        "train",
        "--dry-run",
        "--csv",
        "/nonexistent.csv",
        "--records",
        "9",
    ];
    common::refused(&gone, &["there is no file /nonexistent.csv"]);
}

fn keys(value: &Value, found: &mut BTreeSet<String>) {
    match value {
        Value::Object(map) => {
            for (key, value) in map {
                found.insert(key.clone());
                keys(value, found);
            }
        }
        Value::Array(list) => list.iter().for_each(|value| keys(value, found)),
        _ => {}
    }
}

/// An allow-list, so that whatever is added must be thought about: no loss, norm, time, index, key
/// or realised batch size.
#[test]
fn folder_of_a_private_run_holds_public_things_only() {
    let (out, _) = short(
        &["--clipping", "quantile:0.5", "--test-every", "5"],
        "public",
    );
    let set = |text: &str| -> BTreeSet<String> {
        text.split_whitespace().map(ToString::to_string).collect()
    };
    let files = "config.toml run.json ledger.jsonl checkpoint.safetensors metrics.jsonl model.safetensors \
                 facts.json report.html report.json registry.json";
    assert_eq!(common::files(&out), set(files));

    let settings = "data csv parquet jsonl images text label classes schema declared records test test-share \
                    public-test public-folder-names estimate-bounds data-dir offline model hidden start start-sha256 epsilon delta \
                    noise score-noise standardise paper-accountant batch epochs steps clipping per-layer threshold-decay \
                    growing-mu noise-schedule account about optimizer learning-rate rate-schedule weight-decay average \
                    checkpoint-every test-every device precision seed features preset";
    // What the model takes, where the data come from, the certified noise.
    let record = "tacita_run version name settings model shape kind channels height width scale \
                  public_record_count preparation input size white about origin licence caveats id begun";
    let ledger = "tacita_ledger private block_steps plan neighbours rounds sampling kind rate noise_multipliers \
                  times chain first steps stopped_before label binds_files file sha256";
    let metrics = "step threshold learning_rate test_score";
    let facts = "tacita_facts name data licence record public_record_count caveats preparation what origin model \
                 parameters optimizer learning_rate points clipping thresholds plan neighbours rounds \
                 sampling kind rate noise_multipliers times phases queries delta delta_reserved budget \
                 rounds_made keys diagnostics tuning evaluation on records accuracy over_steps released precision \
                 version utility target count_noise value majority_share balanced_accuracy roc_area average_precision \
                 f1 log_loss brier calibration_error per_class class recall confusion calibration predicted observed roc \
                 precision_recall warnings run id begun commit command";
    // Computed from the facts alone.
    let report = "tacita_report facts guarantee private text epsilon_lower epsilon_upper not_private_because \
                  refusal accountant stopped_early figures comparison certified rdp clt estimate upper lower \
                  upper-bound curve epsilon delta_upper spending side_costs epsilon_without statements topic attacks \
                  false_alarms found_upper membership coin_guess_upper odds_exponent_upper several_records files model_sha256 \
                  ledger_sha256 settings_sha256 audit risk beliefs delta_lower found_lower gaussian mu_upper \
                  posterior_upper prior reconstruction success_upper tolerance";
    let allowed = [
        ("run.json", format!("{settings} {record}")),
        ("ledger.jsonl", ledger.into()),
        ("metrics.jsonl", metrics.into()),
        ("facts.json", facts.into()),
        ("report.json", format!("{facts} {report}")),
    ];
    for (name, allowed) in allowed {
        let content = fs::read_to_string(out.join(name)).unwrap();
        let mut found = BTreeSet::new();
        for value in serde_json::Deserializer::from_str(&content).into_iter::<Value>() {
            keys(&value.unwrap(), &mut found);
        }
        let unknown: Vec<_> = found.difference(&set(&allowed)).cloned().collect();
        assert_eq!(unknown, [""; 0], "{name}");
    }
    let config = fs::read_to_string(out.join("config.toml")).unwrap();
    for line in config.lines() {
        let (key, _) = line.split_once(" = ").unwrap();
        assert!(set(settings).contains(key), "{line}");
    }
    assert_eq!(json(&out.join("run.json"))["settings"]["seed"], Value::Null);
    // Metrics of a private run are functions of the step and of released values: no time goes in.
    let state = fs::read(out.join("checkpoint.safetensors")).unwrap();
    let length = u64::from_le_bytes(state[..8].try_into().unwrap()) as usize;
    let header: Value = serde_json::from_slice(&state[8..8 + length]).unwrap();
    let scalars: Value =
        serde_json::from_str(header["__metadata__"]["tacita"].as_str().unwrap()).unwrap();
    let mut found = BTreeSet::new();
    keys(&scalars, &mut found);
    let scalars = "tacita_checkpoint step optimizer rule momentum rate thresholds averaged_steps";
    assert_eq!(found, set(scalars));
    for name in header.as_object().unwrap().keys() {
        let kind = name.split('.').next().unwrap();
        assert!(
            set("__metadata__ optimizer parameter").contains(kind),
            "{name}"
        );
    }
}
