//! Predictions: their formats, what is handed on, and records that cannot be used.

use crate::common::{command, empty, path, printed, refused, summary, tacita, text};
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Stdio;

/// A run whose model says `b` where `x` is large.
fn run(name: &str) -> (PathBuf, PathBuf) {
    let folder = empty("own-predict", name);
    let (csv, schema, out) = (
        folder.join("t.csv"),
        folder.join("s.toml"),
        folder.join("run"),
    );
    let rows: String = (0..200)
        .map(|at| {
            format!(
                "P{at},{},{}\n",
                at % 10,
                ["a", "b"][usize::from(at % 10 > 4)]
            )
        })
        .collect();
    fs::write(&csv, format!("patient,x,y\n{rows}")).unwrap();
    fs::write(
        &schema,
        "[columns.patient]\nkind = \"ignored\"\n[columns.x]\nmin = 0\nmax = 10\n",
    )
    .unwrap();
    let fixed =
        "--label y --classes a,b --records 200 --noise 1 --steps 40 --seed 1 --model logistic";
    let fixed: Vec<&str> = fixed.split(' ').collect();
    let data = [
        "train",
        "--csv",
        path(&csv),
        "--schema",
        path(&schema),
        "--out",
        path(&out),
    ];
    summary(&[&data[..], &fixed].concat());
    (folder, out)
}

fn write(folder: &Path, name: &str, content: &str) -> PathBuf {
    let file = folder.join(name);
    fs::write(&file, content).unwrap();
    file
}

#[test]
fn predictions_are_a_table_with_what_was_handed_on() {
    let (folder, out) = run("table");
    let new = write(&folder, "new.csv", "x,note,patient\n9,n,P1\n0,n,\"P, 2\"\n");
    let arguments = ["predict", path(&out), "--input", path(&new)];
    let plain = tacita(&arguments);
    assert!(plain.status.success());
    let note = text(&plain.stderr);
    assert!(
        note.contains("`note`") && !note.contains("`patient`"),
        "{note}"
    );
    let said = text(&plain.stdout);
    let lines: Vec<&str> = said.lines().collect();
    assert_eq!(lines[0], "input,prediction,probability,problem");
    assert!(
        lines[1].starts_with("line 2,b,") && lines[1].ends_with(','),
        "{said}"
    );

    for extra in [&["--id", "patient"][..], &["--keep-ignored"]] {
        let said = printed(&[&arguments[..], extra, &["--proba"]].concat());
        let lines: Vec<&str> = said.lines().collect();
        assert_eq!(
            lines[0],
            "input,patient,prediction,probability,probability of a,probability of b,problem"
        );
        assert!(lines[2].starts_with("line 3,\"P, 2\",a,"), "{said}");
        let numbers: Vec<f64> = lines[1]
            .split(',')
            .filter_map(|field| field.parse().ok())
            .collect();
        assert!(
            (numbers[1] + numbers[2] - 1.0).abs() < 1e-3 && numbers[0] == numbers[2],
            "{said}"
        );
    }
    refused(
        &[&arguments[..], &["--id", "Patient"]].concat(),
        &["no column `Patient` to hand on", "“patient”"],
    );

    // A file appears when it is whole, and nothing is written over unless asked for.
    let file = folder.join("scores.csv");
    let to_file = [&arguments[..], &["--output", path(&file)]].concat();
    printed(&to_file);
    assert_eq!(fs::read_to_string(&file).unwrap(), text(&plain.stdout));
    fs::write(&file, "mine").unwrap();
    refused(&to_file, &["scores.csv exists already", "--overwrite"]);
    assert_eq!(fs::read_to_string(&file).unwrap(), "mine");
    printed(&[&to_file[..], &["--overwrite"]].concat());
    assert_eq!(fs::read_to_string(&file).unwrap(), text(&plain.stdout));
    let other = folder.join("other.csv");
    let gone = [
        "predict",
        path(&out),
        "--input",
        "/nonexistent.csv",
        "--output",
        path(&other),
    ];
    refused(&gone, &["/nonexistent.csv"]);
    assert!(!other.exists() && !folder.join("other.csv.new").exists());
}

/// The rows around one that cannot be used are answered, and nothing of it is printed unless asked for.
#[test]
fn rows_that_cannot_be_used_stop_no_others() {
    let (folder, out) = run("rows");
    let new = write(
        &folder,
        "new.csv",
        "patient,x\nP1,9\nP2,Smith\nP3\nP4,\nP5,0\n",
    );
    let arguments = [
        "predict",
        path(&out),
        "--input",
        path(&new),
        "--id",
        "patient",
    ];
    let output = tacita(&arguments);
    assert_eq!(output.status.code(), Some(3));
    let (said, told) = (text(&output.stdout), text(&output.stderr));
    let lines: Vec<&str> = said.lines().collect();
    assert!(
        lines[1].starts_with("line 2,P1,b,") && lines[5].starts_with("line 6,P5,a,"),
        "{said}"
    );
    assert_eq!(lines[2], "line 3,P2,,,column `x` is not a number");
    assert_eq!(lines[3], "line 4,,,,\"1 fields, but the header has 2\"");
    assert_eq!(lines[4], "line 5,P4,,,column `x` is empty");
    assert!(
        told.contains("line 3: column `x` is not a number"),
        "{told}"
    );
    assert!(!said.contains("Smith") && !told.contains("Smith"));
    let shown = tacita(&[&arguments[..], &["--show-values", "--json"]].concat());
    assert_eq!(shown.status.code(), Some(3));
    assert!(text(&shown.stderr).contains("“Smith”"));
    let bad: serde_json::Value =
        serde_json::from_str(text(&shown.stdout).lines().nth(1).unwrap()).unwrap();
    assert_eq!(bad["class"], serde_json::Value::Null);
    assert_eq!(bad["id"]["patient"], "P2");
    assert!(
        bad["problem"].as_str().unwrap().contains("“Smith”"),
        "{bad}"
    );
}

#[test]
fn input_comes_from_a_pipe_and_in_json_lines() {
    let (folder, out) = run("pipe");
    let piped = |content: &str, extra: &[&str]| {
        let arguments = [&["predict", path(&out), "--input", "-"], extra].concat();
        let mut child = command(&arguments).stdin(Stdio::piped()).spawn().unwrap();
        child
            .stdin
            .take()
            .unwrap()
            .write_all(content.as_bytes())
            .unwrap();
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success(), "{}", text(&output.stderr));
        text(&output.stdout)
    };
    let csv = piped("x\n9\n0\n", &[]);
    let json = piped("{\"x\": 9}\n{\"x\": \"0\"}\n", &["--input-format", "jsonl"]);
    let class = |line: &str| line.split(',').nth(1).unwrap().to_string();
    let classes = |said: &str| said.lines().map(class).collect::<Vec<_>>();
    assert_eq!(classes(&csv), ["prediction", "b", "a"]);
    assert_eq!(classes(&json), classes(&csv));
    let file = write(
        &folder,
        "new.jsonl",
        "{\"x\": 9}\n{\"x\": \"0\", \"z\": []}\n",
    );
    let said = printed(&["predict", path(&out), "--input", path(&file)]);
    assert_eq!(classes(&said), classes(&csv));
}
