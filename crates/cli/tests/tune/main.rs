//! `tacita tune` as a user meets it.
#![allow(clippy::unwrap_used, missing_docs)]

#[path = "../common/mod.rs"]
mod common;
mod cost;
mod published;
mod refused;
mod stopped;

use common::{json, text};
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use tacita_accounting::{Accountant, Ledger, Pld};

const GRID: &str = "\
mode = \"grid\"
choose-by = \"test-set\"
[settings]
data = \"digits\"
model = \"logistic\"
epsilon = 2.0
delta = 1e-5
[grid]
batch = [64, 256]
steps = [3, 6]
";

const RANDOM: &str = "\
mode = \"random\"
choose-by = \"test-set\"
[settings]
data = \"digits\"
model = \"logistic\"
batch = 128
steps = 4
epsilon = 2.0
delta = 1e-5
[random]
learning-rate = [0.1, 0.5, 1.0]
[runs]
mean = 3.0
";

/// A folder that does not exist yet, and the space beside it.
fn fresh(name: &str, space: &str) -> (PathBuf, PathBuf) {
    let place = Path::new(env!("CARGO_TARGET_TMPDIR"))
        .join("tune")
        .join(name);
    if place.exists() {
        fs::remove_dir_all(&place).unwrap();
    }
    fs::create_dir_all(&place).unwrap();
    let file = place.join("space.toml");
    fs::write(&file, space).unwrap();
    (file, place.join("search"))
}

fn command(space: &Path, out: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tacita"));
    command.arg("tune").arg(space).arg("--out").arg(out);
    command
}

fn tune(space: &Path, out: &Path) -> Output {
    command(space, out).arg("--json").output().unwrap()
}

fn found(output: &Output) -> Value {
    assert!(output.status.success(), "{}", text(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

fn released(folder: &Path) -> Ledger {
    let record = tacita::read_ledger_file(&folder.join("ledger.jsonl")).unwrap();
    assert!(record.private);
    assert_eq!(record.released, record.plan);
    record.released
}

fn set(names: &[&str]) -> BTreeSet<String> {
    names.iter().map(ToString::to_string).collect()
}

/// A run that was chosen among others keeps the ε of the search, which is more than its own.
fn promises_what_the_search_does(folder: &Path, upper: f64) {
    let read = |name: &str| fs::read_to_string(folder.join(name)).unwrap();
    let report: Value = serde_json::from_str(&read("report.json")).unwrap();
    assert_eq!(report["guarantee"]["epsilon_upper"], upper);
    let page = read("report.html");
    assert!(page.contains("Certified guarantee of the whole search"));
    assert!(page.contains("WHOLE SEARCH"));
    let alone = Pld::default().epsilon(&released(folder), 1e-5).unwrap();
    let alone = alone.upper_bound().unwrap();
    assert!(alone < upper);
    // Figures of merit have three digits too and may be the same by chance: as a bound, or to five digits.
    for stated in [format!("≤ {alone:.2}"), format!("{alone:.5}")] {
        assert!(!page.contains(&stated), "{stated}");
    }
}
