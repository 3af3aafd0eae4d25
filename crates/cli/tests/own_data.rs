//! Training on the user's own tables, texts and images.
#![allow(clippy::unwrap_used, missing_docs)]

mod common;

use common::{empty, fresh, json, path, printed, refused, summary, tacita, text};
use std::fs;
use std::path::{Path, PathBuf};

/// A made-up table whose outcome follows the age.
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

fn schema(folder: &Path) -> PathBuf {
    let file = folder.join("schema.toml");
    let head = "records = 800\n[label]\nclasses = [\"healthy\", \"ill\"]\n";
    fs::write(&file, format!("{head}{COLUMNS}")).unwrap();
    file
}

/// The share of lines whose prediction is right.
fn share_right(predictions: &str, right: impl Fn(usize) -> &'static str) -> f64 {
    let lines: Vec<&str> = predictions.lines().collect();
    let good = lines.iter().enumerate().filter(|(index, line)| {
        let class = line.split('\t').nth(1).unwrap();
        class == right(*index)
    });
    good.count() as f64 / lines.len() as f64
}

#[test]
fn a_table_is_trained_on_scored_with_noise_reported_resumed_and_used() {
    let folder = empty("own", "table");
    let (csv, schema, out) = (table(&folder, 800), schema(&folder), folder.join("run"));
    let run = summary(&[
        "train",
        "--csv",
        path(&csv),
        "--label",
        "outcome",
        "--schema",
        path(&schema),
        "--estimate-bounds",
        "--test-share",
        "0.25",
        "--score-noise",
        "10",
        "--epsilon",
        "6",
        "--steps",
        "40",
        "--out",
        path(&out),
    ]);
    let accuracy = run["accuracy"].as_f64().unwrap();
    assert!(accuracy > 0.6, "{run}");
    assert!(run["epsilon"]["upper"].as_f64().unwrap() <= 6.0);

    // One statistic, the steps, two counts: all of it in the ledger, all of it in the report.
    let record = tacita::read_ledger_file(&out.join("ledger.jsonl")).unwrap();
    assert_eq!(record.released.steps(), 43);
    assert_eq!(record.released, record.plan);
    let facts = json(&out.join("facts.json"));
    assert_eq!(facts["rounds_made"], 43);
    assert_eq!(facts["evaluation"]["kind"], "noisy-count");
    assert_eq!(facts["data"]["public_record_count"], 600);
    let estimated = |fact: &&serde_json::Value| fact["origin"] == "privately-estimated";
    let preparation = facts["preparation"].as_array().unwrap();
    assert_eq!(preparation.iter().filter(estimated).count(), 1);

    // Resuming a finished run changes nothing; the score is not drawn again.
    let names = [
        "ledger.jsonl",
        "facts.json",
        "model.safetensors",
        "report.json",
    ];
    let before = names.map(|name| fs::read(out.join(name)).unwrap());
    let again = summary(&["resume", path(&out)]);
    assert_eq!(again["accuracy"], run["accuracy"]);
    assert!(before == names.map(|name| fs::read(out.join(name)).unwrap()));

    // The folder is all that is needed to predict: neither schema nor data.
    fs::rename(&schema, folder.join("moved.toml")).unwrap();
    let other = folder.join("new.csv");
    fs::rename(&csv, &other).unwrap();
    let said = printed(&["predict", path(&out), "--input", path(&other)]);
    let right = |index: usize| {
        if index * 37 % 100 > 50 {
            "ill"
        } else {
            "healthy"
        }
    };
    assert!(share_right(&said, right) > 0.8, "{said}");
    let said = printed(&["predict", path(&out), "--input", path(&other), "--json"]);
    let first: serde_json::Value = serde_json::from_str(said.lines().next().unwrap()).unwrap();
    let sum: f64 = ["healthy", "ill"]
        .iter()
        .map(|class| first["probability"][class].as_f64().unwrap())
        .sum();
    assert!((sum - 1.0).abs() < 1e-5, "{first}");

    // Input that does not fit is named.
    let bad = folder.join("bad.csv");
    fs::write(&bad, "agee,ward,income,postcode\n1,north,2,3\n").unwrap();
    refused(
        &["predict", path(&out), "--input", path(&bad)],
        &["bad.csv", "age", "agee"],
    );
    fs::write(&bad, "age,ward,income,postcode\n1,west,2,3\n").unwrap();
    refused(
        &["predict", path(&out), "--input", path(&bad)],
        &["line 2", "west"],
    );
    fs::write(&bad, "age,ward,income,postcode\n").unwrap();
    refused(
        &["predict", path(&out), "--input", path(&bad)],
        &["no input"],
    );
    refused(
        &["predict", path(&out), "--input", "/nonexistent.csv"],
        &["/nonexistent.csv"],
    );
    // The data are gone, so the run cannot go on.
    refused(&["resume", path(&out)], &["patients.csv"]);
}

#[test]
fn settings_in_a_file_with_a_public_test_share() {
    let folder = empty("own", "settings");
    let (csv, out) = (table(&folder, 400), folder.join("run"));
    let file = folder.join("run.toml");
    let columns = COLUMNS
        .replace("[columns.", "[declared.columns.")
        .replace("kind = \"numeric\"", "min = 0\nmax = 9000");
    let settings = format!(
        "csv = {:?}\nlabel = \"outcome\"\nrecords = 400\ntest-share = 0.3\npublic-test = true\n\
         steps = 10\nnoise = 1.0\ntest-every = 5\n[declared.label]\nclasses = [\"healthy\", \"ill\"]\n{columns}",
        path(&csv)
    );
    fs::write(&file, &settings).unwrap();
    let run = summary(&["train", path(&file), "--steps", "15", "--out", path(&out)]);
    assert_eq!(run["steps"], 15, "a flag counts more than the file");
    let facts = json(&out.join("facts.json"));
    assert_eq!(facts["evaluation"]["kind"], "public-test");
    let caveats = facts["data"]["caveats"].to_string();
    assert!(caveats.contains("declared public"), "{caveats}");
    // The resolved settings give the same plan again.
    let config = out.join("config.toml");
    let again = summary(&["train", path(&config), "--out", path(&folder.join("again"))]);
    assert_eq!(again["epsilon"], run["epsilon"]);

    for (from, to, wanted) in [
        ("noise = 1.0", "noize = 1.0", vec!["noize", "noise"]),
        (
            "[columns.age]\nmin",
            "[columns.age]\nminn",
            vec!["minn", "min"],
        ),
        ("steps = 10", "steps = \"ten\"", vec!["steps", "ten"]),
        ("steps = 10", "steps = ", vec!["run.toml"]),
    ] {
        let edited = settings.replacen(
            &from.replace("[columns.", "[declared.columns."),
            &to.replace("[columns.", "[declared.columns."),
            1,
        );
        assert_ne!(edited, settings);
        fs::write(&file, edited).unwrap();
        let out = fresh("own", "settings-refused");
        refused(&["train", path(&file), "--out", path(&out)], &wanted);
        assert!(!out.exists());
    }
    refused(&["train", "/nonexistent.toml"], &["/nonexistent.toml"]);
}

#[test]
fn a_test_share_must_be_public_or_scored_with_noise() {
    let folder = empty("own", "share");
    let (csv, schema, out) = (table(&folder, 200), schema(&folder), folder.join("run"));
    let arguments = [
        "train",
        "--csv",
        path(&csv),
        "--label",
        "outcome",
        "--schema",
        path(&schema),
        "--estimate-bounds",
        "--steps",
        "5",
        "--out",
        path(&out),
        "--test-share",
    ];
    let with = |extra: &[&'static str]| [&arguments[..], extra].concat();
    refused(&with(&["0.2"]), &["--public-test", "--score-noise"]);
    refused(&with(&["1.5", "--public-test"]), &["1.5"]);
    refused(
        &with(&["0.2", "--public-test", "--score-noise", "5"]),
        &["--score-noise"],
    );
    refused(
        &with(&["0.2", "--score-noise", "5", "--test-every", "2"]),
        &["--test-every"],
    );
    refused(
        &with(&["0.2", "--score-noise", "0.01"]),
        &["statistics and scores alone"],
    );
    // Checked before anything is spent on bounds.
    refused(
        &with(&["0.2", "--public-test", "--model", "cnn"]),
        &["cnn", "mlp"],
    );
    assert!(!out.exists());
}

#[test]
fn tables_with_mistakes_are_refused_in_words_and_leave_nothing_behind() {
    let folder = empty("own", "mistakes");
    let file = folder.join("t.csv");
    let out = folder.join("run");
    let schema = folder.join("schema.toml");
    let declared = "[columns.x]\nmin = 0\nmax = 1\n[columns.c]\ncategories = [\"p\", \"q\"]\n";
    fs::write(&schema, declared).unwrap();
    let good = "x,c,y\n0.5,p,a\n0.1,q,b\n";
    let arguments = [
        "train",
        "--csv",
        path(&file),
        "--schema",
        path(&schema),
        "--noise",
        "2",
        "--steps",
        "2",
        "--batch",
        "1",
        "--out",
        path(&out),
    ];
    let usual = ["--label", "y", "--classes", "a,b", "--records", "2"];
    let huge = format!("x,c,y\n0.5,\"{},a\n", "p".repeat(3 << 20));
    let cases: Vec<(Vec<u8>, &[&str], Vec<&str>)> = vec![
        (good.into(), &usual[..4], vec!["--records"]),
        (good.into(), &[], vec!["--label"]),
        (
            good.into(),
            &["--label", "y", "--records", "2"],
            vec!["--classes", "not read from private records"],
        ),
        (
            good.into(),
            &["--label", "why", "--classes", "a,b", "--records", "2"],
            vec!["why"],
        ),
        (
            good.into(),
            &["--label", "y", "--classes", "a", "--records", "2"],
            vec!["only one class", "“a”"],
        ),
        (
            good.into(),
            &["--label", "y", "--classes", "a,a", "--records", "2"],
            vec!["twice"],
        ),
        (
            good.into(),
            &["--label", "y", "--classes", "a,bb", "--records", "2"],
            vec!["line 3", "“b”", "“bb”"],
        ),
        (
            b"x,c,y\n0.5,p,a\n0.1,q,a\n".to_vec(),
            &usual,
            vec!["all records have the class “a”"],
        ),
        (
            b"x,c,y\nNaN,p,a\n0.1,q,b\n".to_vec(),
            &usual,
            vec!["line 2", "`x`", "NaN", "bad_rows"],
        ),
        (
            b"x,c,y\n0.5,p,a\n,q,b\n".to_vec(),
            &usual,
            vec!["line 3", "`x` is empty", "bad_rows"],
        ),
        (
            b"x,c,y\n0.5,p,a\nhalf,q,b\n".to_vec(),
            &usual,
            vec!["line 3", "“half”"],
        ),
        (
            b"x,c,y\n0.5,p,a\n0.1,q\n".to_vec(),
            &usual,
            vec!["line 3", "2 fields", "3"],
        ),
        (
            b"x,c,y\n0.5,p,a\n0.1,q,b,c\n".to_vec(),
            &usual,
            vec!["line 3", "4 fields", "3"],
        ),
        (
            b"x,c,y\n0.5,\xff\xfe,a\n0.1,q,b\n".to_vec(),
            &usual,
            vec!["line 2", "UTF-8"],
        ),
        (
            b"x,c,\xff\n0.5,p,a\n".to_vec(),
            &usual,
            vec!["line 1", "UTF-8"],
        ),
        (
            b"x,c,y\n0.5,r,a\n0.1,q,b\n".to_vec(),
            &usual,
            vec!["line 2", "`c`", "“r”"],
        ),
        (
            b"x,cc,y\n0.5,p,a\n0.1,q,b\n".to_vec(),
            &usual,
            vec!["`c`", "“cc”"],
        ),
        (
            b"x,c,d,y\n0.5,p,1,a\n0.1,q,1,b\n".to_vec(),
            &usual,
            vec!["`d` is not declared", "[declared]"],
        ),
        (b"x;c;y\n0.5;p;a\n".to_vec(), &usual, vec!["delimiter"]),
        (
            b"x,x,y\n0.5,p,a\n".to_vec(),
            &usual,
            vec!["two columns named `x`"],
        ),
        (huge.into_bytes(), &usual, vec!["line 2", "quote"]),
        (b"".to_vec(), &usual, vec!["empty"]),
        (b"x,c,y\n".to_vec(), &usual, vec!["no records"]),
        (vec![0, 159, 146, 150], &usual, vec!["t.csv"]),
    ];
    for (content, extra, wanted) in cases {
        fs::write(&file, content).unwrap();
        refused(&[&arguments[..], extra].concat(), &wanted);
        assert!(!out.exists(), "{wanted:?} left a folder");
    }
    fs::write(&file, good).unwrap();
    let larger = [&arguments[..], &usual, &["--batch"]].concat();
    assert_eq!(tacita(&larger).status.code(), Some(2));
    fs::remove_file(&file).unwrap();
    refused(
        &[&arguments[..], &usual].concat(),
        &["there is no file", "t.csv"],
    );

    // Declared so, bad rows are left out, and how many there were is not said.
    fs::write(&file, "x,c,y\nNaN,p,a\n,q,b\n0.1,q\n0.5,p,a\n0.1,q,b\n").unwrap();
    fs::write(&schema, format!("bad_rows = \"drop\"\n{declared}")).unwrap();
    let output = tacita(&[&arguments[..], &usual].concat());
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert_eq!(
        json(&out.join("facts.json"))["data"]["public_record_count"],
        2
    );
}

#[test]
fn texts_are_trained_on_and_classified() {
    let folder = empty("own", "texts");
    let file = folder.join("reviews.jsonl");
    let line = |index: usize| {
        let (words, class) = match index % 2 {
            0 => ("a wonderful and moving film", "good"),
            _ => ("dull, long and badly played", "bad"),
        };
        format!("{{\"body\": \"{words} number {index}\", \"mark\": \"{class}\"}}\n")
    };
    fs::write(&file, (0..400).map(line).collect::<String>()).unwrap();
    // Short texts and few words: what a small set can learn under noise.
    let schema = folder.join("schema.toml");
    fs::write(&schema, "[text]\nlength = 8\nvocabulary = 500\n").unwrap();
    let out = folder.join("run");
    let arguments = [
        "train",
        "--jsonl",
        path(&file),
        "--text",
        "body",
        "--label",
        "mark",
        "--classes",
        "good,bad",
        "--records",
        "400",
        "--noise",
        "1",
        "--steps",
        "60",
        "--hidden",
        "16",
        "--learning-rate",
        "0.05",
        "--schema",
        path(&schema),
        "--out",
        path(&out),
    ];
    let wrong: Vec<&str> = arguments
        .iter()
        .map(|a| if *a == "body" { "bdy" } else { a })
        .collect();
    refused(&wrong, &["line 1", "bdy", "body"]);
    assert!(!out.exists());
    let run = summary(&arguments);
    assert_eq!(run["accuracy"], serde_json::Value::Null);
    let said = printed(&[
        "predict",
        path(&out),
        "--input",
        path(&file),
        "--text",
        "body",
    ]);
    let right = |index: usize| ["good", "bad"][index % 2];
    assert!(share_right(&said, right) > 0.9, "{said}");
    let new = folder.join("new.txt");
    fs::write(&new, "wonderful and moving\nbadly played and dull\n").unwrap();
    let said = printed(&["predict", path(&out), "--input", path(&new)]);
    assert_eq!(share_right(&said, right), 1.0, "{said}");

    let out = folder.join("bad");
    for (content, wanted) in [
        (b"{\"body\": \"x\"}\n".to_vec(), vec!["line 1", "mark"]),
        (b"not json\n".to_vec(), vec!["line 1", "JSON"]),
        (
            b"{\"body\": 5, \"mark\": \"good\"}\n".to_vec(),
            vec!["line 1", "body"],
        ),
        (
            b"{\"body\": \"\xff\", \"mark\": \"good\"}\n".to_vec(),
            vec!["line 1", "UTF-8"],
        ),
        (
            b"{\"body\": \"x\", \"mark\": \"god\"}\n".to_vec(),
            vec!["god", "good"],
        ),
    ] {
        fs::write(&file, content).unwrap();
        let mut arguments = arguments;
        arguments[arguments.len() - 1] = path(&out);
        refused(&arguments, &wanted);
        assert!(!out.exists());
    }
}

fn png(level: u8) -> Vec<u8> {
    let mut file = Vec::new();
    let mut encoder = png::Encoder::new(&mut file, 8, 8);
    encoder.set_color(png::ColorType::Grayscale);
    let mut writer = encoder.write_header().unwrap();
    writer.write_image_data(&[level; 64]).unwrap();
    writer.finish().unwrap();
    file
}

#[test]
fn images_are_trained_on_and_classified() {
    let folder = empty("own", "images");
    let images = folder.join("scans");
    for index in 0..60_u8 {
        for (class, level) in [("dark", index), ("light", 255 - index)] {
            let place = images.join(class);
            fs::create_dir_all(&place).unwrap();
            fs::write(place.join(format!("{index}.png")), png(level)).unwrap();
        }
    }
    let schema = folder.join("schema.toml");
    fs::write(&schema, "image = { width = 8, height = 8, channels = 1 }\n").unwrap();
    let out = folder.join("run");
    let arguments = [
        "train",
        "--images",
        path(&images),
        "--schema",
        path(&schema),
        "--records",
        "120",
        "--noise",
        "1",
        "--steps",
        "40",
        "--model",
        "logistic",
        "--out",
        path(&out),
    ];
    refused(&arguments, &["--public-folder-names", "--classes"]);
    refused(
        &[&arguments[..], &["--classes", "dark,bright"]].concat(),
        &["light", "bright"],
    );
    summary(&[&arguments[..], &["--public-folder-names"]].concat());
    let said = printed(&["predict", path(&out), "--input", path(&images.join("dark"))]);
    assert!(share_right(&said, |_| "dark") > 0.9, "{said}");
    let said = printed(&[
        "predict",
        path(&out),
        "--input",
        path(&images.join("light").join("3.png")),
    ]);
    assert_eq!(share_right(&said, |_| "light"), 1.0, "{said}");
    refused(
        &["predict", path(&out), "--input", path(&schema)],
        &["schema.toml", "image"],
    );

    fs::write(images.join("dark").join("bad.png"), "no picture").unwrap();
    let out = folder.join("bad");
    let mut arguments = arguments;
    arguments[arguments.len() - 1] = path(&out);
    refused(
        &[&arguments[..], &["--public-folder-names"]].concat(),
        &["bad.png"],
    );
    assert!(!out.exists());
}
