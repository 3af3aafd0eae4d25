//! A guarantee for people with several records.

use crate::common::{empty, files, json, path, printed, refused, summary};
use std::fs;
use std::path::{Path, PathBuf};

/// Letters that stand for people, and nowhere else in a run folder.
const NAME: &str = "Zyxwvut";

/// Visits of people, some of whom have many; the outcome follows the age.
fn visits(folder: &Path, name: &str, rows: usize, owner: impl Fn(usize) -> String) -> PathBuf {
    let mut text = String::from("patient,age,outcome\n");
    for row in 0..rows {
        let age = row * 37 % 100;
        let outcome = if age > 50 { "ill" } else { "healthy" };
        text.push_str(&format!("{},{age},{outcome}\n", owner(row)));
    }
    let file = folder.join(name);
    fs::write(&file, text).unwrap();
    file
}

fn schema(folder: &Path) -> PathBuf {
    let file = folder.join("schema.toml");
    let label = "[label]\ncolumn = \"outcome\"\nclasses = [\"healthy\", \"ill\"]\n";
    fs::write(&file, format!("{label}[columns.age]\nmin = 0\nmax = 100\n")).unwrap();
    file
}

fn owner(row: usize) -> String {
    match row % 4 {
        0 => format!("{NAME}-0"),
        _ => format!("{NAME}-{}", row % 60),
    }
}

#[test]
fn a_run_for_people_says_so_and_keeps_no_identifier() {
    let folder = empty("own", "persons");
    let (file, schema) = (visits(&folder, "v.csv", 600, owner), schema(&folder));
    let out = folder.join("run");
    let arguments = [
        "train",
        "--csv",
        path(&file),
        "--schema",
        path(&schema),
        "--data-name",
        "visits",
        "--person",
        "patient",
        "--persons",
        "60",
        "--records-per-person",
        "4",
        "--epsilon",
        "1",
        "--delta",
        "1e-3",
        "--epochs",
        "3",
        "--test-share",
        "0.2",
        "--score-noise",
        "20",
        "--out",
        path(&out),
    ];
    summary(&arguments);
    let report = json(&out.join("report.json"));
    assert_eq!(report["facts"]["data"]["records_per_person"], 4);
    assert_eq!(report["facts"]["data"]["public_record_count"], 48);
    let statements = report["statements"].to_string();
    assert!(
        statements.contains("One person with all their records"),
        "{statements}"
    );
    let upper = report["guarantee"]["epsilon_upper"].as_f64().unwrap();
    let one = report["one_record"]["epsilon_upper"].as_f64().unwrap();
    assert!(upper <= 1.0 && one > 2.0 * upper, "{upper} {one}");
    assert_eq!(report["several_records"], serde_json::json!([]));
    let page = fs::read_to_string(out.join("report.html")).unwrap();
    assert!(page.contains("one person"), "the page");
    for file in files(&out) {
        let content = fs::read(out.join(&file)).unwrap();
        let text = String::from_utf8_lossy(&content);
        assert!(!text.contains(NAME), "{file:?} holds an identifier");
    }
    printed(&["report", path(&out)]);
}

/// Whose the record of a row is.
type Owner = fn(usize) -> String;

#[test]
fn odd_owners_end_no_run_and_check_tells() {
    let folder = empty("own", "persons-odd");
    let schema = schema(&folder);
    let owners: [(&str, Owner); 3] = [
        ("equal", |_| "a".into()),
        ("different", |row| row.to_string()),
        ("nobody", |_| String::new()),
    ];
    for (name, owner) in owners {
        let file = visits(&folder, &format!("{name}.csv"), 60, owner);
        let out = folder.join(name);
        let data = [
            "--csv",
            path(&file),
            "--schema",
            path(&schema),
            "--person",
            "patient",
            "--persons",
            "20",
        ];
        let train = [
            &["train"],
            &data[..],
            &["--steps", "3", "--out", path(&out)],
        ]
        .concat();
        summary(&train);
        let said = printed(&[&["check"], &data[..]].concat());
        let wanted = match name {
            "equal" => "of 1 people, who have 60 records in the middle and 60 at most",
            "different" => "declared: 20, far fewer than there are",
            _ => "60 cannot be used",
        };
        assert!(said.contains(wanted), "{name}: {said}");
    }
}

#[test]
fn what_cannot_be_is_refused_before_anything_is_spent() {
    let folder = empty("own", "persons-refused");
    let (file, schema) = (visits(&folder, "v.csv", 60, owner), schema(&folder));
    let train = |more: &[&'static str], wanted: &[&str]| {
        let data = ["train", "--csv", path(&file), "--schema", path(&schema)];
        refused(&[&data[..], more].concat(), wanted);
    };
    train(
        &["--person", "doctor", "--persons", "5"],
        &["there is no column `doctor`"],
    );
    train(
        &["--person", "patient", "--records", "60"],
        &["--persons N"],
    );
    train(
        &["--person", "outcome", "--persons", "5"],
        &["be learned from"],
    );
    train(&["--persons", "5", "--records", "60"], &["--person COLUMN"]);
    train(
        &["--records", "60", "--records-per-person", "3"],
        &["--person COLUMN"],
    );
    train(
        &["--person", "patient", "--persons", "60", "--audit", "100"],
        &["canaries"],
    );
    train(
        &[
            "--person",
            "patient",
            "--persons",
            "60",
            "--account",
            "none",
        ],
        &["--account"],
    );
}

#[test]
fn a_dry_run_compares_both_ways() {
    let folder = empty("own", "persons-dry");
    let (file, schema) = (visits(&folder, "v.csv", 60, owner), schema(&folder));
    let said = printed(&[
        "train",
        "--csv",
        path(&file),
        "--schema",
        path(&schema),
        "--person",
        "patient",
        "--persons",
        "1000",
        "--records-per-person",
        "3",
        "--model",
        "mlp",
        "--standardise",
        "0",
        "--batch",
        "50",
        "--steps",
        "40",
        "--epsilon",
        "2",
        "--dry-run",
    ]);
    assert!(
        said.contains("1,000 people") && said.contains("at most 3 records of each"),
        "{said}"
    );
    assert!(
        said.contains("--draw-records, at most 3 of a person"),
        "{said}"
    );
}
