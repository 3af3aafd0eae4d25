//! Run folders that the version before 0.2 wrote (commit ce1bab3) are still read, and their ε is the same to the last bit.
//! What is kept is what that version's program made, less its pages and the models in Burn's own format.
#![allow(clippy::unwrap_used, missing_docs)]

#[path = "../common/mod.rs"]
mod common;

use common::{empty, json, path, printed, summary};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};

/// Where what earlier versions made is kept.
fn kept() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/earlier")
}

/// A copy that a command may write to.
fn copy(name: &str) -> PathBuf {
    let to = empty("earlier", &name.replace('/', "-"));
    copy_all(&kept().join("folders").join(name), &to);
    to
}

fn copy_all(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let (entry, to) = (
            entry.as_ref().unwrap(),
            to.join(entry.as_ref().unwrap().file_name()),
        );
        match entry.file_type().unwrap().is_dir() {
            true => copy_all(&entry.path(), &to),
            false => {
                fs::copy(entry.path(), to).unwrap();
            }
        }
    }
}

#[test]
fn ledgers_cost_what_they_cost_before() {
    // As `tacita account --delta 1e-5 --json` of that version printed them.
    let figures = [
        ("digits", 8.705842679615216, 8.706521469351046),
        ("growing-online", 8.739959882367046, 8.740579799609838),
        ("table", 3.947931661170006, 3.9482488942187794),
        ("estimated", 3.8738993341903627, 3.8741679377165923),
        ("unfinished", 2.6549873998331197, 2.6551805146745844),
    ];
    for (name, lower, upper) in figures {
        let ledger = kept().join("folders").join(name).join("ledger.jsonl");
        let told = printed(&[
            "account",
            "--ledger",
            path(&ledger),
            "--delta",
            "1e-5",
            "--json",
        ]);
        let told: serde_json::Value = serde_json::from_str(&told).unwrap();
        let epsilon = &told["epsilon"];
        assert_eq!(epsilon["lower"].as_f64(), Some(lower), "{name}");
        assert_eq!(epsilon["upper"].as_f64(), Some(upper), "{name}");
    }
}

/// Whether all that was stated is; more may be.
fn assert_still_stated(now: &Value, before: &Value, name: &str) {
    match (now, before) {
        (Value::Object(now), Value::Object(before)) => {
            for (key, value) in before {
                assert_still_stated(&now[key], value, &format!("{name}: {key}"));
            }
        }
        (Value::Array(now), Value::Array(before)) => {
            assert_eq!(now.len(), before.len(), "{name}");
            for (now, before) in now.iter().zip(before) {
                assert_still_stated(now, before, name);
            }
        }
        _ => assert_eq!(now, before, "{name}"),
    }
}

#[test]
fn reports_state_what_they_stated_before() {
    let runs = [
        "digits",
        "growing-online",
        "table",
        "estimated",
        "search/runs/1",
        "random-search/winner",
    ];
    for name in runs {
        // A run of a search is read where its search is.
        let top = name.split('/').next().unwrap();
        let rest = name.strip_prefix(top).unwrap().trim_start_matches('/');
        let folder = copy(top).join(rest);
        let before = json(&kept().join("folders").join(name).join("report.json"));
        printed(&["report", path(&folder)]);
        let now = json(&folder.join("report.json"));
        assert_eq!(now["guarantee"], before["guarantee"], "{name}");
        assert_still_stated(&now["figures"], &before["figures"], name);
        assert_eq!(now["private"], before["private"], "{name}");
    }
}

#[test]
fn a_finished_search_is_known_as_finished_and_keeps_its_report() {
    for name in ["search", "random-search"] {
        let folder = copy(name);
        let before = json(&folder.join("report.json"));
        let space = folder.join("space.toml");
        printed(&["tune", path(&space), "--out", path(&folder)]);
        assert_eq!(json(&folder.join("report.json")), before, "{name}");
    }
}

#[test]
fn an_unfinished_run_is_finished_with_the_steps_its_ledger_promises() {
    // 25,000 records, batch 50, 1.1 epochs: 551 steps then, 550 by the rule of today.
    let folder = copy("unfinished");
    let before = json(&folder.join("report.json"));
    let data = kept().join("patients.csv");
    summary(&["resume", path(&folder), "--data", path(&data)]);
    let now = json(&folder.join("report.json"));
    assert_eq!(now["guarantee"], before["guarantee"]);
    let ledger = tacita::read_ledger_file(&folder.join("ledger.jsonl")).unwrap();
    assert_eq!(ledger.released, ledger.plan);
}

#[test]
fn a_model_says_what_it_said() {
    let folder = kept().join("folders/table");
    let input = kept().join("some.csv");
    let now = printed(&["predict", path(&folder), "--input", path(&input), "--json"]);
    assert_eq!(
        now,
        fs::read_to_string(kept().join("predictions.jsonl")).unwrap()
    );
}
