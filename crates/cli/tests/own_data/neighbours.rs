//! Two data sets that differ by one record leave the same behind, but for values that were released with noise.

use crate::common::{command, empty, files, json, path, tacita, text};
use crate::images::png;
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// What a run says and leaves, without its released values and without the name of its folder.
#[derive(Debug, PartialEq)]
struct Trace {
    status: Option<i32>,
    said: [String; 2],
    /// Name, time and size of each file; not the size of those whose length follows a released value.
    files: Vec<(String, SystemTime, Option<u64>)>,
    folder: SystemTime,
    record: Value,
    settings: String,
    metrics: String,
    ledger: Vec<String>,
    facts: Value,
    report: Value,
}

/// Takes the released score out, and the identifier that every run draws.
fn without_score(mut facts: Value) -> Value {
    facts["run"]["id"].take();
    if facts["evaluation"] != Value::Null {
        facts["evaluation"]["accuracy"] = Value::Null;
        facts["evaluation"]["noise_std"] = Value::Null;
    }
    // What a noisy score says, and whether the noise leaves anything of it to be said, follows from what was released.
    if facts["utility"]["count_noise"] != Value::Null {
        for key in ["evaluation", "utility"] {
            facts[key] = Value::Null;
        }
    }
    facts
}

/// Takes the released means and spreads of columns out, each number by itself: how many there are is public.
fn without_standard(mut record: Value) -> Value {
    for part in ["mean", "scale"] {
        let values = record.pointer_mut(&format!("/preparation/input/standard/{part}"));
        for value in values.and_then(Value::as_array_mut).into_iter().flatten() {
            assert!(value.take().is_number());
        }
    }
    record
}

fn trace(arguments: &[&str], out: &Path) -> Trace {
    let output = command(&[&["train"], arguments, &["--out", path(out)]].concat())
        .output()
        .unwrap();
    let said = [&output.stdout, &output.stderr].map(|said| {
        let said = text(said).replace(path(out), "DIR");
        // The score, which is released.
        let is_score = |line: &str| {
            let starts = ["Accuracy", "  majority share", "  AUC", "  WARNING"];
            starts.iter().any(|start| line.starts_with(start))
        };
        let lines = said.lines().filter(|line| !is_score(line));
        lines.collect::<Vec<_>>().join("\n")
    });
    let read = |name: &str| fs::read_to_string(out.join(name)).unwrap();
    let record = json(&out.join("run.json"));
    let mut free = vec!["report.html", "report.json", "facts.json"];
    if record.pointer("/preparation/input/standard").is_some() {
        free.push("run.json");
    }
    let described = |name: String| {
        let file = fs::metadata(out.join(&name)).unwrap();
        let size = (!free.contains(&name.as_str())).then_some(file.len());
        (name, file.modified().unwrap(), size)
    };
    let ledger = read("ledger.jsonl");
    let mut report = json(&out.join("report.json"));
    report["facts"] = without_score(report["facts"].take());
    // Hashes of released values.
    report["files"].take();
    let statements = report["statements"].as_array_mut().unwrap();
    statements.retain(|statement| statement["topic"] != "Identifier");
    let mut record = json(&out.join("run.json"));
    record["id"].take();
    Trace {
        status: output.status.code(),
        said,
        files: files(out).into_iter().map(described).collect(),
        folder: fs::metadata(out).unwrap().modified().unwrap(),
        record: without_standard(record),
        settings: read("config.toml"),
        metrics: read("metrics.jsonl"),
        // The hash of the facts, which hold the score.
        ledger: (ledger.lines())
            .map(|line| line.split("\"sha256\"").next().unwrap().to_string())
            .map(|line| line.split("\"chain\"").next().unwrap().to_string())
            .collect(),
        facts: without_score(json(&out.join("facts.json"))),
        report,
    }
}

pub const PRIVATE_SCORE: [&str; 4] = ["--test-share", "0.3", "--score-noise", "20"];
const SMALL: [&str; 8] = [
    "--records",
    "40",
    "--noise",
    "4",
    "--steps",
    "3",
    "--batch",
    "10",
];

/// Each pair must leave the same trace, and every run must end well.
pub fn assert_alike(
    name: &str,
    contents: &[(&str, PathBuf)],
    arguments: impl Fn(&Path) -> Vec<String>,
) {
    let folder = empty("neighbours", name);
    let mut first: Option<Trace> = None;
    for (index, (what, data)) in contents.iter().enumerate() {
        let given = arguments(data);
        let given: Vec<&str> = given.iter().map(String::as_str).collect();
        let out = folder.join(format!("run-{index}"));
        let trace = trace(&[&given[..], &SMALL].concat(), &out);
        assert_eq!(trace.status, Some(0), "{name}: {what}: {:?}", trace.said);
        assert_eq!(trace.folder, SystemTime::UNIX_EPOCH);
        let paths = format!("{:?}{}{}", trace.record, trace.settings, trace.facts);
        assert!(!paths.contains(path(&folder)), "{paths}");
        match &first {
            None => first = Some(trace),
            Some(first) => assert_eq!(*first, trace, "{name}: {what}"),
        }
        // Another moment for the next one.
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Rows of both classes, without the last one, of one class, with bad ones, one row, none.
#[test]
fn tables_that_differ_by_a_record_leave_the_same_behind() {
    let folder = empty("neighbours", "tables");
    let row = |index: usize, class: &str| format!("{},{class}\n", index % 10);
    let both: String = (0..40).map(|i| row(i, ["a", "b"][i % 2])).collect();
    let one_class: String = (0..40).map(|i| row(i, "a")).collect();
    let cases = [
        ("both classes", both.clone()),
        ("a record more", format!("{both}7,a\n")),
        ("one class", one_class.clone()),
        ("one record of the other class", format!("{one_class}3,b\n")),
        ("a cell that is no number", format!("{both}seven,a\n")),
        ("an empty cell", format!("{both},a\n")),
        ("a class that was not declared", format!("{both}7,c\n")),
        ("a short row", format!("{both}7\n")),
        ("a quote that is not closed", format!("{both}\"7,a\n")),
        ("one record", "3,a\n".into()),
        ("none", String::new()),
    ];
    let mut contents = Vec::new();
    for (index, (what, rows)) in cases.iter().enumerate() {
        let file = folder.join(format!("{index}.csv"));
        fs::write(&file, format!("x,y\n{rows}")).unwrap();
        contents.push((*what, file));
    }
    let not_utf8 = folder.join("bytes.csv");
    fs::write(&not_utf8, [b"x,y\n", both.as_bytes(), b"7,\xff\n"].concat()).unwrap();
    contents.push(("a row that is not UTF-8", not_utf8));
    let schema = folder.join("schema.toml");
    fs::write(&schema, "[columns.x]\nmin = 0\nmax = 10\n").unwrap();
    let arguments = |file: &Path| {
        let fixed = [
            "--schema",
            path(&schema),
            "--label",
            "y",
            "--classes",
            "a,b",
            "--model",
            "logistic",
        ];
        let all = [&["--csv", path(file)], &fixed[..], &PRIVATE_SCORE].concat();
        all.iter().map(ToString::to_string).collect()
    };
    assert_alike("table-runs", &contents, arguments);
}

/// What is missing, other, early, late or odd in one record, under every rule.
#[test]
fn tables_whose_columns_are_declared_in_full_leave_the_same_behind() {
    let folder = empty("neighbours", "columns");
    let row = |at: usize| {
        let ward = ["p", "q"][at % 2];
        let level = ["low", "high"][at % 2];
        let class = ["a", "b"][at % 2];
        format!(
            "{},{ward},{level},2024-0{}-01,yes,{},{class}\n",
            at % 10,
            1 + at % 9,
            at % 7
        )
    };
    let all: String = (0..40).map(row).collect();
    let mut contents = Vec::new();
    let cases = [
        ("all", String::new()),
        ("a record more", row(1)),
        ("missing number", ",p,low,2024-01-01,no,1,a\n".into()),
        (
            "missing number in words",
            "Na,p,low,2024-01-01,no,1,a\n".into(),
        ),
        ("missing category", "1,,low,2024-01-01,no,1,a\n".into()),
        ("another category", "1,zzz,low,2024-01-01,no,1,a\n".into()),
        ("another level", "1,p,lower,2024-01-01,no,1,a\n".into()),
        ("no date", "1,p,low,soon,no,1,a\n".into()),
        ("missing date", "1,p,low,?,no,1,a\n".into()),
        ("a date far away", "1,p,low,9999-12-31,no,1,a\n".into()),
        (
            "neither yes nor no",
            "1,p,low,2024-01-01,maybe,1,a\n".into(),
        ),
        (
            "no number to estimate bounds from",
            "1,p,low,2024-01-01,no,,a\n".into(),
        ),
        (
            "a huge number",
            "1e308,p,low,2024-01-01,no,-1e308,a\n".into(),
        ),
        (
            "too huge a number",
            "1e400,p,low,2024-01-01,no,1e400,a\n".into(),
        ),
        ("a NUL byte", "1,\0,low,2024-01-01,no,1,a\n".into()),
        (
            "a long line",
            format!("{},p,low,2024-01-01,no,1,a\n", "9".repeat(1 << 21)),
        ),
    ];
    for (index, (what, more)) in cases.iter().enumerate() {
        let file = folder.join(format!("{index}.csv"));
        fs::write(
            &file,
            format!("x,ward,level,day,smokes,income,y\n{all}{more}"),
        )
        .unwrap();
        contents.push((*what, file));
    }
    let schema = folder.join("schema.toml");
    let columns = "[columns.x]\nmin = 0\nmax = 10\nmissing = \"indicator\"\n\
                   [columns.ward]\ncategories = [\"p\", \"q\"]\nother = true\nmissing = \"category\"\n\
                   [columns.level]\norder = [\"low\", \"high\"]\n\
                   [columns.day]\nkind = \"date\"\nmin = \"2020-01-01\"\nmax = \"2025-01-01\"\n\
                   cycles = [\"month\"]\nmissing = \"indicator\"\n\
                   [columns.smokes]\nkind = \"boolean\"\nfill = false\n\
                   [columns.income]\nmin = 0\nmax = 7\nfill = 3\n";
    fs::write(&schema, columns).unwrap();
    let arguments = |file: &Path| {
        let fixed = [
            "--schema",
            path(&schema),
            "--label",
            "y",
            "--classes",
            "a,b",
            "--model",
            "logistic",
        ];
        let all = [&["--csv", path(file)], &fixed[..], &PRIVATE_SCORE].concat();
        all.iter().map(ToString::to_string).collect()
    };
    assert_alike("column-runs", &contents, arguments);
}

#[test]
fn texts_that_differ_by_a_record_leave_the_same_behind() {
    let folder = empty("neighbours", "texts");
    let line = |index: usize| format!("{{\"t\": \"word {index}\", \"y\": {}}}\n", index % 2);
    let all: String = (0..40).map(line).collect();
    let cases = [
        ("all", all.clone()),
        ("one less", (0..39).map(line).collect()),
        ("not JSON", format!("{all}not json\n")),
        ("no such field", format!("{all}{{\"u\": 1}}\n")),
        ("none", String::new()),
    ];
    let mut contents = Vec::new();
    for (index, (what, lines)) in cases.iter().enumerate() {
        let file = folder.join(format!("{index}.jsonl"));
        fs::write(&file, lines).unwrap();
        contents.push((*what, file));
    }
    let schema = folder.join("schema.toml");
    fs::write(&schema, "[text]\nlength = 4\nvocabulary = 50\n").unwrap();
    let arguments = |file: &Path| {
        let fixed = [
            "--schema",
            path(&schema),
            "--text",
            "t",
            "--label",
            "y",
            "--classes",
            "0,1",
        ];
        let model = ["--model", "embedding-mlp", "--hidden", "4"];
        let all = [&["--jsonl", path(file)], &fixed[..], &model, &PRIVATE_SCORE].concat();
        all.iter().map(ToString::to_string).collect()
    };
    assert_alike("text-runs", &contents, arguments);
}

#[test]
fn images_that_differ_by_a_record_leave_the_same_behind() {
    let folder = empty("neighbours", "images");
    let make = |name: &str, extra: &[(&str, Vec<u8>)], classes: &[&str]| {
        let root = folder.join(name);
        fs::create_dir_all(&root).unwrap();
        let image = |class: &str, file: &str, bytes: &[u8]| {
            fs::create_dir_all(root.join(class)).unwrap();
            fs::write(root.join(class).join(file), bytes).unwrap();
        };
        for (number, class) in classes.iter().enumerate() {
            for index in 0..20 {
                image(
                    class,
                    &format!("{index}.png"),
                    &png(100 * number as u8 + index),
                );
            }
        }
        for (place, bytes) in extra {
            let (class, file) = place.rsplit_once('/').unwrap();
            image(class, file, bytes);
        }
        root
    };
    let both = ["a", "b"];
    let contents = [
        ("both classes", make("both", &[], &both)),
        ("an image more", make("more", &[("a/x.png", png(7))], &both)),
        (
            "no picture",
            make("bad", &[("a/x.png", b"no picture".to_vec())], &both),
        ),
        (
            "a class that was not declared",
            make("other", &[("c/x.png", png(7))], &both),
        ),
        (
            "an image in a folder below",
            make("deep", &[("a/b/x.png", png(7))], &both),
        ),
        (
            "a damaged TIFF and a damaged DICOM image",
            make(
                "damaged",
                &[
                    ("a/x.tif", b"II*\0\x08\0\0\0\xff\xff".to_vec()),
                    ("b/x.dcm", [&[0; 128][..], b"DICM\x02\0"].concat()),
                ],
                &both,
            ),
        ),
        ("a class without a folder", make("one", &[], &["a"])),
        ("none", make("none", &[], &[])),
    ];
    let schema = folder.join("schema.toml");
    fs::write(&schema, "image = { width = 8, height = 8, channels = 1 }\n").unwrap();
    let arguments = |root: &Path| {
        let fixed = [
            "--schema",
            path(&schema),
            "--classes",
            "a,b",
            "--model",
            "logistic",
        ];
        let all = [&["--images", path(root)], &fixed[..], &PRIVATE_SCORE].concat();
        all.iter().map(ToString::to_string).collect()
    };
    assert_alike("image-runs", &contents, arguments);
}

/// A public test set that turns out to be empty gives no score, and no other end.
#[test]
fn an_empty_public_test_share_gives_no_score() {
    let folder = empty("neighbours", "public-test");
    let (csv, schema) = (folder.join("t.csv"), folder.join("schema.toml"));
    fs::write(&csv, "x,y\n1,a\n2,b\n3,a\n").unwrap();
    fs::write(&schema, "[columns.x]\nmin = 0\nmax = 10\n").unwrap();
    let out = folder.join("run");
    let fixed = [
        "--csv",
        path(&csv),
        "--schema",
        path(&schema),
        "--label",
        "y",
        "--classes",
        "a,b",
        "--model",
        "logistic",
        "--test-share",
        "0.000001",
        "--public-test",
        "--test-every",
        "1",
    ];
    let trace = trace(&[&fixed[..], &SMALL].concat(), &out);
    assert_eq!(
        (trace.status, &trace.facts["evaluation"]),
        (Some(0), &Value::Null)
    );
    assert!(!trace.metrics.contains("test_score"), "{}", trace.metrics);
}

/// How long a run takes depends on the true number of records.
#[test]
fn seconds_are_printed_only_if_asked_for_and_labelled() {
    let folder = empty("neighbours", "timing");
    let said = |extra: &[&str], name: &str| {
        let out = folder.join(name);
        let fixed = [
            "train",
            "--model",
            "logistic",
            "--steps",
            "3",
            "--quiet",
            "--out",
            path(&out),
        ];
        let output = tacita(&[&fixed[..], extra].concat());
        assert!(output.status.success());
        [text(&output.stdout), text(&output.stderr)]
    };
    let [plain, nothing] = said(&[], "plain");
    assert!(
        !plain.contains(" s\n") && !plain.contains(" s,") && nothing.is_empty(),
        "{plain}"
    );
    let [json, _] = said(&["--json"], "json");
    assert!(!json.contains("seconds"), "{json}");
    let [plain, labelled] = said(&["--timing"], "timing");
    assert!(!plain.contains(" s\n"), "{plain}");
    assert!(
        labelled.starts_with("NOT PRIVATE: training took "),
        "{labelled}"
    );
}
