//! Columns as they come: missing values, other categories, orders, dates, currencies.

use crate::common::{empty, json, path, printed, summary};
use std::fs;

const SCHEMA: &str = r#"
records = 400
delimiter = ";"
missing-values = ["", "NA", "unbekannt"]
[label]
column = "ausgang"
classes = ["gut", "schlecht"]
[columns.kosten]
min = 0
max = 2000
decimal = ","
thousands = "."
strip = "€"
missing = "indicator"
[columns.stufe]
order = ["niedrig", "mittel", "hoch"]
fill = "mittel"
[columns.station]
categories = ["nord", "ost"]
other = true
missing = "category"
[columns.raucher]
kind = "boolean"
fill = false
[columns.aufnahme]
kind = "date"
format = "%d.%m.%Y"
min = "2020-01-01"
max = "2024-12-31"
cycles = ["weekday"]
missing = "indicator"
fill = "2022-01-01"
"#;

/// Whatever of a record is missing, odd or unknown, it is used; the model learns from whether the cost is known.
#[test]
fn records_with_gaps_are_learned_from_and_predicted_alike() {
    let folder = empty("own-columns", "gaps");
    let (csv, schema, out) = (
        folder.join("t.csv"),
        folder.join("s.toml"),
        folder.join("run"),
    );
    let rows: String = (0..400)
        .map(|at| {
            let (cost, outcome) = match at % 2 {
                0 => ("unbekannt".to_string(), "schlecht"),
                _ => (format!("1.{:03},50 €", at % 1000), "gut"),
            };
            let level = ["niedrig", "mittel", "hoch", ""][at % 4];
            let ward = ["nord", "ost", "süd", "NA"][at / 4 % 4];
            let smokes = ["ja", "yes", "0", ""][1 + at % 3];
            let date = ["31.12.2021", "", "1.2.2023"][at % 3];
            format!("{cost};{level};{ward};{smokes};{date};{outcome}\n")
        })
        .collect();
    let header = "kosten;stufe;station;raucher;aufnahme;ausgang\n";
    fs::write(&csv, format!("{header}{rows}")).unwrap();
    fs::write(&schema, SCHEMA).unwrap();
    let data = ["--csv", path(&csv), "--schema", path(&schema)];
    let checked = printed(&[&["check"][..], &data].concat());
    assert!(checked.contains("Every record can be used."), "{checked}");
    let fixed = "--noise 1 --steps 60 --seed 1 --model logistic --out";
    let fixed: Vec<&str> = fixed.split(' ').collect();
    summary(&[&["train"][..], &data, &fixed, &[path(&out)]].concat());
    let preparation = json(&out.join("facts.json"))["preparation"].to_string();
    for part in [
        "missing values are replaced and marked",
        "one of 2 categories or another one; missing values are a category",
        "a date, clamped to [2020-01-01, 2024-12-31] and scaled to [0, 1], and its weekday",
        "its place among 3 values",
    ] {
        assert!(preparation.contains(part), "{part}: {preparation}");
    }
    // 2 for the cost, 1, 2 + 2 categories, 1, and 4 for the date.
    assert_eq!(json(&out.join("run.json"))["shape"]["width"], 12);

    let new = folder.join("new.csv");
    let rows = "unbekannt;;;;\nNA;hoch;west;TRUE;1.1.1900\n1.500,00 €;hoch;nord;no;1.6.2022\n";
    fs::write(
        &new,
        format!("kosten;stufe;station;raucher;aufnahme\n{rows}"),
    )
    .unwrap();
    let said = printed(&["predict", path(&out), "--input", path(&new)]);
    let classes: Vec<&str> = said
        .lines()
        .skip(1)
        .map(|line| line.split(',').nth(1).unwrap())
        .collect();
    assert_eq!(classes, ["schlecht", "schlecht", "gut"]);
    // A run on the same records resumes.
    summary(&["resume", path(&out)]);
}

/// The same table as JSON lines gives the same model.
#[test]
fn the_format_of_a_table_does_not_matter() {
    let folder = empty("own-columns", "formats");
    let schema = folder.join("s.toml");
    fs::write(
        &schema,
        "[columns.x]\nmin = 0\nmax = 10\nmissing = \"indicator\"\n[columns.c]\ncategories = [\"p\", \"q\"]\n",
    )
    .unwrap();
    let cell = |at: usize| {
        if at.is_multiple_of(5) {
            None
        } else {
            Some(at % 10)
        }
    };
    let kind = |at: usize| ["p", "q"][at % 2];
    let csv: String = (0..60)
        .map(|at| {
            format!(
                "{},{},{}\n",
                kind(at),
                cell(at).map_or(String::new(), |x| x.to_string()),
                at % 2
            )
        })
        .collect();
    let jsonl: String = (0..60)
        .map(|at| {
            format!(
                "{{\"c\": \"{}\", \"y\": {}, \"x\": {}}}\n",
                kind(at),
                at % 2,
                cell(at).map_or("null".into(), |x| x.to_string())
            )
        })
        .collect();
    let (plain, lines) = (folder.join("t.csv"), folder.join("t.jsonl"));
    fs::write(&plain, format!("c,x,y\n{csv}")).unwrap();
    fs::write(&lines, jsonl).unwrap();
    let model = |flag: &str, file: &std::path::Path, name: &str| {
        let out = folder.join(name);
        let fixed = "--label y --classes 0,1 --records 60 --noise 1 --steps 5 --seed 1 --model logistic --out";
        let fixed: Vec<&str> = fixed.split(' ').collect();
        let data = ["train", flag, path(file), "--schema", path(&schema)];
        summary(&[&data[..], &fixed, &[path(&out)]].concat());
        fs::read(out.join("model.safetensors")).unwrap()
    };
    let expected = model("--csv", &plain, "csv");
    assert_eq!(model("--jsonl", &lines, "jsonl"), expected);
}
