//! Numbers, several labels and weights: trained on, scored, reported and predicted.

use crate::common::{empty, path, printed, refused, summary};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};

/// A table whose price follows size, with two labels that follow it and a weight.
fn houses(folder: &Path) -> PathBuf {
    let mut text = String::from("size,noise,price,large,noisy,weight\n");
    for row in 0..900_u32 {
        let (size, noise) = (row * 37 % 100, row * 53 % 90);
        let price = 1000 * size + 50_000 + 10 * noise;
        let line = format!(
            "{size},{noise},{price},{},{},{}\n",
            u8::from(size > 50),
            u8::from(noise > 45),
            1 + row % 4
        );
        text.push_str(&line);
    }
    let file = folder.join("houses.csv");
    fs::write(&file, text).unwrap();
    file
}

const INPUTS: &str = "[columns.size]\nmin = 0\nmax = 100\n[columns.noise]\nmin = 0\nmax = 100\n";

/// A run with a schema whose `[label]` is this, and the other columns ignored.
fn trained(name: &str, label: &str, ignored: &[&str], extra: &[&str]) -> (PathBuf, Value) {
    let folder = empty("targets", name);
    let (csv, schema, out) = (
        houses(&folder),
        folder.join("schema.toml"),
        folder.join("run"),
    );
    let ignored: String = (ignored.iter())
        .map(|column| format!("[columns.{column}]\nkind = \"ignored\"\n"))
        .collect();
    fs::write(
        &schema,
        format!("records = 900\n[label]\n{label}\n{INPUTS}{ignored}"),
    )
    .unwrap();
    let fixed = [
        "train",
        "--csv",
        path(&csv),
        "--schema",
        path(&schema),
        "--model",
        "logistic",
        "--test-share",
        "0.3",
    ];
    let length = [
        // Enough that figures of 270 records are not lost in their noise, whatever is drawn.
        "--epsilon",
        "38",
        "--steps",
        "60",
        "--batch",
        "200",
        "--out",
        path(&out),
    ];
    let run = summary(&[&fixed[..], &length, extra].concat());
    (out, run)
}

#[test]
fn a_number_is_predicted_in_its_own_unit() {
    let label = "column = \"price\"\nkind = \"number\"\nmin = 0\nmax = 200000";
    let ignored = ["large", "noisy", "weight"];
    for (name, loss, scored) in [
        ("exact", "", vec!["--public-test"]),
        ("noisy", "\nloss = \"huber\"", vec!["--score-noise", "0.7"]),
    ] {
        let (out, run) = trained(name, &format!("{label}{loss}"), &ignored, &scored);
        assert_eq!(run["accuracy"], Value::Null, "{run}");
        let utility = &run["utility"];
        assert_eq!(utility["target"], "number");
        let value = |figure: &str| {
            let value = utility[figure]["value"].as_f64();
            value.unwrap_or_else(|| panic!("{name}, {figure}: {utility}"))
        };
        // Prices lie between 50,000 and 150,000; their standard deviation is about 29,000.
        assert!((value("spread") - 29_000.0).abs() < 6_000.0, "{utility}");
        assert!(
            value("root_mean_squared_error") < 0.8 * value("spread"),
            "{utility}"
        );
        assert!(value("r_squared") > 0.3, "{utility}");
        assert_eq!(
            utility["r_squared"].get("plus_minus").is_some(),
            name == "noisy"
        );
        let page = fs::read_to_string(out.join("report.html")).unwrap();
        assert!(page.contains("Mean absolute error") && page.contains("clamped to [0, 200000]"));

        let input = out.parent().unwrap().join("houses.csv");
        let said = printed(&["predict", path(&out), "--input", path(&input)]);
        let error: f64 = (said.lines().skip(1).enumerate())
            .map(|(row, line)| {
                let found: f64 = line.split(',').nth(1).unwrap().parse().unwrap();
                (found - (1000.0 * (row * 37 % 100) as f64 + 50_000.0)).abs()
            })
            .sum();
        assert!(error / 900.0 < 20_000.0, "{error}");
        let said = printed(&["predict", path(&out), "--input", path(&input), "--json"]);
        let first: Value = serde_json::from_str(said.lines().next().unwrap()).unwrap();
        assert!(first["price"].as_f64().unwrap() > 1000.0, "{first}");
    }
}

#[test]
fn several_labels_are_predicted_each_by_itself() {
    let label = "columns = [\"large\", \"noisy\"]";
    for (name, scored) in [
        ("exact", vec!["--public-test"]),
        ("noisy", vec!["--score-noise", "4"]),
    ] {
        let (out, run) = trained(
            &format!("labels-{name}"),
            label,
            &["price", "weight"],
            &scored,
        );
        let utility = &run["utility"];
        assert_eq!(utility["target"], "labels");
        assert_eq!(utility["labels"].as_array().unwrap().len(), 2);
        assert!(
            utility["roc_area"]["value"].as_f64().unwrap() > 0.8,
            "{utility}"
        );
        assert_eq!(run["accuracy"], utility["accuracy"]["value"]);
        let last = tacita::read_ledger_file(&out.join("ledger.jsonl")).unwrap();
        assert_eq!(last.released, last.plan);

        let input = out.parent().unwrap().join("houses.csv");
        let said = printed(&["predict", path(&out), "--input", path(&input), "--json"]);
        let right = said.lines().enumerate().filter(|(row, line)| {
            let answer: Value = serde_json::from_str(line).unwrap();
            let large = answer["labels"]
                .as_array()
                .unwrap()
                .contains(&"large".into());
            large == (row * 37 % 100 > 50)
        });
        assert!(right.count() > 650);
    }
    // The same in one field of texts.
    let folder = empty("targets", "listed");
    let file = folder.join("texts.jsonl");
    let line = |k: usize| {
        let (text, labels) = match k % 3 {
            0 => ("red round", "\"red|round\""),
            1 => ("red", "[\"red\"]"),
            _ => ("square", "\"\""),
        };
        format!("{{\"t\": \"{text} {k}\", \"y\": {labels}}}\n")
    };
    fs::write(&file, (0..120).map(line).collect::<String>()).unwrap();
    let schema = folder.join("schema.toml");
    fs::write(
        &schema,
        "records = 120\n[label]\ncolumn = \"y\"\nkind = \"labels\"\nclasses = [\"red\", \"round\"]\n[text]\nlength = 4\n",
    )
    .unwrap();
    let out = folder.join("run");
    let fixed = [
        "train",
        "--jsonl",
        path(&file),
        "--text",
        "t",
        "--schema",
        path(&schema),
        "--out",
        path(&out),
    ];
    let run = summary(
        &[
            &fixed[..],
            &[
                "--epsilon",
                "8",
                "--steps",
                "3",
                "--test-share",
                "0.3",
                "--public-test",
            ],
        ]
        .concat(),
    );
    assert_eq!(run["utility"]["labels"][0]["per_class"][1]["class"], "red");
}

/// Weights act after clipping, so the automatic rule does not undo them: a rare class with a larger weight is answered more.
#[test]
fn class_weights_and_a_weight_column_change_what_is_learned() {
    let folder = empty("targets", "weights");
    let mut text = String::from("x,weight,outcome\n");
    for row in 0..1000 {
        // One in five, and x tells little.
        let rare = row % 5 == 0;
        let x = if rare { row * 31 % 100 } else { row * 31 % 80 };
        let (outcome, weight) = if rare { ("b", 9) } else { ("a", 1) };
        text += &format!("{x},{weight},{outcome}\n");
    }
    let (csv, schema) = (folder.join("t.csv"), folder.join("schema.toml"));
    fs::write(&csv, text).unwrap();
    let recall = |name: &str, label: &str, columns: &str| {
        let label = format!("column = \"outcome\"\nclasses = [\"a\", \"b\"]\n{label}");
        let columns = format!("[columns.x]\nmin = 0\nmax = 100\n{columns}");
        fs::write(
            &schema,
            format!("records = 1000\n[label]\n{label}\n{columns}"),
        )
        .unwrap();
        let out = folder.join(name);
        let fixed = [
            "train",
            "--csv",
            path(&csv),
            "--schema",
            path(&schema),
            "--model",
            "logistic",
        ];
        let rest = [
            "--epsilon",
            "8",
            "--steps",
            "40",
            "--batch",
            "300",
            "--test-share",
            "0.3",
            "--public-test",
            "--out",
            path(&out),
        ];
        let run = summary(&[&fixed[..], &rest].concat());
        let page = fs::read_to_string(out.join("report.html")).unwrap();
        assert_eq!(page.contains("records count by"), name != "even");
        run["utility"]["per_class"][1]["recall"]["value"]
            .as_f64()
            .unwrap()
    };
    let ignored = "[columns.weight]\nkind = \"ignored\"\n";
    let even = recall("even", "", ignored);
    let by_class = recall("by-class", "class-weights = [1.0, 9.0]", ignored);
    let by_column = recall("by-column", "weight = \"weight\"\nweight-max = 9", "");
    assert!(
        by_class > even + 0.3 && by_column > even + 0.3,
        "{even} {by_class} {by_column}"
    );
}

#[test]
fn targets_that_cannot_be_meant_are_refused_before_anything_is_spent() {
    let folder = empty("targets", "refused");
    let (csv, schema, out) = (
        houses(&folder),
        folder.join("schema.toml"),
        folder.join("run"),
    );
    let price = "column = \"price\"\n";
    for (label, wanted) in [
        (
            format!("{price}kind = \"number\""),
            vec!["bounds", "`min` and `max`"],
        ),
        (
            format!("{price}min = 5\nmax = 5"),
            vec!["`min` must be below `max`", "5"],
        ),
        (
            format!("{price}min = 0\nmax = 9\nclasses = [\"a\", \"b\"]"),
            vec!["a number", "`classes`"],
        ),
        (
            format!("{price}classes = [\"a\", \"b\"]\nloss = \"huber\""),
            vec!["`classes`"],
        ),
        (
            format!("{price}columns = [\"large\"]"),
            vec!["`columns`", "`column`"],
        ),
        (
            "columns = [\"large\", \"huge\"]".into(),
            vec!["no column `huge`"],
        ),
        (
            format!("{price}min = 0\nmax = 9\nclass-weights = [1.0]"),
            vec!["class-weights"],
        ),
        (
            format!("{price}min = 0\nmax = 9\nweight = \"weight\""),
            vec!["weight-max"],
        ),
        (
            format!("{price}classes = [\"a\", \"b\"]\nclass-weights = [1.0]"),
            vec!["1 weights for 2 classes"],
        ),
        (
            format!("{price}classes = [\"a\", \"b\"]\nclass-weights = [1.0, 0.0]"),
            vec!["above 0"],
        ),
        (
            format!("{price}min = 0\nmax = 9\nlos = \"huber\""),
            vec!["los", "loss"],
        ),
    ] {
        fs::write(
            &schema,
            format!("records = 900\n[label]\n{label}\n{INPUTS}"),
        )
        .unwrap();
        refused(
            &[
                "train",
                "--csv",
                path(&csv),
                "--schema",
                path(&schema),
                "--out",
                path(&out),
            ],
            &wanted,
        );
        assert!(!out.exists());
    }
}
