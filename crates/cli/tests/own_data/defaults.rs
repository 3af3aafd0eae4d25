//! What a run does that is told nothing but the data, what is public of them, and ε.

use crate::common::{empty, path, printed, summary};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};

const RECORDS: u32 = 6000;

/// Evenly spread numbers in [0, 1) for a record: the fractional parts of multiples of square roots.
fn spread(index: u32, root: f64) -> f64 {
    (f64::from(index) * root.sqrt()).fract()
}

/// The chance of being ill: 8 % on the whole, more with a level that fills a tenth of its declared bounds.
fn risk(level: f64) -> f64 {
    1.0 / (1.0 + (3.4 - 3.0 * (level - 0.5)).exp())
}

fn patients(folder: &Path) -> (PathBuf, PathBuf) {
    let mut rows = String::from("level,ward,outcome\n");
    for index in 0..RECORDS {
        let level = spread(index, 2.0);
        let ward = ["north", "south"][index as usize % 2];
        let ill = spread(index, 7.0) < risk(level);
        rows.push_str(&format!(
            "{level},{ward},{}\n",
            if ill { "ill" } else { "healthy" }
        ));
    }
    let (csv, schema) = (folder.join("patients.csv"), folder.join("schema.toml"));
    fs::write(&csv, rows).unwrap();
    let declared = format!(
        "records = {RECORDS}\n[label]\ncolumn = \"outcome\"\nclasses = [\"healthy\", \"ill\"]\n\
         [columns.level]\nmin = 0\nmax = 10\n[columns.ward]\ncategories = [\"north\", \"south\"]\n"
    );
    fs::write(&schema, declared).unwrap();
    (csv, schema)
}

fn probabilities(out: &Path, input: &Path, text: &[&str], class: &str) -> Vec<f64> {
    let arguments = ["predict", path(out), "--json", "--input", path(input)];
    let said = printed(&[&arguments[..], text].concat());
    let one = |line: &str| {
        let line: Value = serde_json::from_str(line).unwrap();
        line["probability"][class].as_f64().unwrap()
    };
    said.lines().map(one).collect()
}

/// With the fixed seed nothing here is up to chance. Automatic clipping with the same bounds gave probabilities that
/// ran to 0 and 1.
#[test]
fn probabilities_of_a_rare_class_are_right_although_bounds_are_too_wide() {
    let folder = empty("own", "calibrated");
    let (csv, schema) = patients(&folder);
    let out = folder.join("run");
    let data = ["train", "--csv", path(&csv), "--schema", path(&schema)];
    let rest = ["--epsilon", "8", "--seed", "5", "--out", path(&out)];
    summary(&[&data[..], &rest].concat());
    let mut loss = 0.0;
    let (mut low, mut high) = (Vec::new(), Vec::new());
    for (index, found) in probabilities(&out, &csv, &[], "ill")
        .into_iter()
        .enumerate()
    {
        let level = spread(index as u32, 2.0);
        let true_risk = risk(level);
        // The loss over and above what the true risks have: the divergence between the two.
        loss += true_risk * (true_risk / found).ln()
            + (1.0 - true_risk) * ((1.0 - true_risk) / (1.0 - found)).ln();
        if level < 0.2 {
            low.push(found);
        } else if level > 0.8 {
            high.push(found);
        }
    }
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    assert!(
        loss / f64::from(RECORDS) < 0.01,
        "{}",
        loss / f64::from(RECORDS)
    );
    let (low, high) = (mean(&low), mean(&high));
    assert!(low < 0.03 && (0.06..0.2).contains(&high), "{low} {high}");
}

#[test]
fn short_texts_of_any_script_are_told_apart() {
    let folder = empty("own", "short-texts");
    let good = ["great film", "好看", "😀👍", "отлично", "loved it!"];
    let bad = ["awful film", "难看", "😡👎", "ужасно", "hated it!"];
    let line = |text: &str, class: &str| format!("{{\"t\": \"{text}\", \"y\": \"{class}\"}}\n");
    let mut lines = String::new();
    for index in 0..1500 {
        // Three good ones of five: a majority that must be beaten.
        lines.push_str(&line(good[index % 5], "good"));
        if index % 3 < 2 {
            lines.push_str(&line(bad[index % 5], "bad"));
        }
    }
    let (file, out) = (folder.join("texts.jsonl"), folder.join("run"));
    fs::write(&file, lines).unwrap();
    let data = [
        "train",
        "--jsonl",
        path(&file),
        "--text",
        "t",
        "--label",
        "y",
    ];
    let declared = [
        "--classes",
        "good,bad",
        "--records",
        "2500",
        "--epsilon",
        "3",
    ];
    let rest = ["--seed", "3", "--out", path(&out)];
    summary(&[&data[..], &declared, &rest].concat());
    let new = folder.join("new.txt");
    fs::write(&new, [good, bad].concat().join("\n")).unwrap();
    let found = probabilities(&out, &new, &[], "good");
    assert!(found[..5].iter().all(|good| *good > 0.5), "{found:?}");
    assert!(found[5..].iter().all(|good| *good < 0.5), "{found:?}");
}
