//! Training on the user's own tables, texts and images.
#![allow(clippy::unwrap_used, missing_docs)]

mod check;
mod columns;
#[path = "../common/mod.rs"]
mod common;
mod defaults;
mod earlier;
mod guard_rails;
mod images;
mod mistakes;
mod neighbour_ways;
mod neighbours;
mod on_disk;
mod persons;
mod predict;
mod recipe;
mod schema;
mod tables;
mod targets;
mod texts;

use std::fs;
use std::path::{Path, PathBuf};

/// A synthetic table whose outcome follows the age.
fn table(folder: &Path, rows: usize) -> PathBuf {
    let mut text = String::from("id,age,ward,income,postcode,outcome\n");
    for row in 0..rows {
        let age = row * 37 % 100;
        let ward = ["north", "south", "east"][row % 3];
        let outcome = if age > 50 { "ill" } else { "healthy" };
        let line = format!(
            "{row},{age},{ward},{},{},{outcome}\n",
            row * 7919 % 9000,
            row % 97
        );
        text.push_str(&line);
    }
    let file = folder.join("patients.csv");
    fs::write(&file, text).unwrap();
    file
}

const COLUMNS: &str = r#"
[columns.id]
kind = "ignored"
[columns.age]
min = 0
max = 120
[columns.ward]
categories = ["north", "south", "east"]
[columns.income]
kind = "numeric"
[columns.postcode]
buckets = 8
"#;

fn schema_of_patients(folder: &Path) -> PathBuf {
    let file = folder.join("schema.toml");
    let head = "records = 800\n[label]\nclasses = [\"healthy\", \"ill\"]\n";
    fs::write(&file, format!("{head}{COLUMNS}")).unwrap();
    file
}

/// The share of lines whose prediction is right.
fn share_right(predictions: &str, right: impl Fn(usize) -> &'static str) -> f64 {
    let mut lines = predictions.lines();
    assert_eq!(lines.next(), Some("input,prediction,probability,problem"));
    let lines: Vec<&str> = lines.collect();
    let good = lines.iter().enumerate().filter(|(index, line)| {
        let class = line.split(',').nth(1).unwrap();
        class == right(*index)
    });
    good.count() as f64 / lines.len() as f64
}
