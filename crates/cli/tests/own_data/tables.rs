//! Tables: trained on, scored with noise, reported, resumed and used.

use crate::common::{empty, fresh, json, path, printed, refused, summary};
use crate::{COLUMNS, schema_of_patients as schema, share_right, table};
use std::fs;

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

    // Two statistics (bounds, then means and spreads), the steps, one score: all of it in the ledger and the report.
    let record = tacita::read_ledger_file(&out.join("ledger.jsonl")).unwrap();
    assert_eq!(record.released.rounds_made(), 43);
    assert_eq!(record.released, record.plan);
    let facts = json(&out.join("facts.json"));
    assert_eq!(facts["rounds_made"], 43);
    assert_eq!(facts["evaluation"]["kind"], "noisy-count");
    // Two tables with noise of 10 records on a cell; every figure has its band.
    let last = record.plan.round_at(42).unwrap();
    assert_eq!(last.noise_multipliers, [10.0 / 2_f64.sqrt()]);
    let utility = &facts["utility"];
    assert!((utility["count_noise"].as_f64().unwrap() - 10.0).abs() < 1e-9);
    for figure in ["accuracy", "majority_share"] {
        assert!(
            utility[figure]["plus_minus"].as_f64().unwrap() > 0.0,
            "{figure}"
        );
        assert_eq!(run["utility"][figure], utility[figure]);
    }
    let page = fs::read_to_string(out.join("report.html")).unwrap();
    assert!(page.contains("How well it does") && page.contains("Confusion matrix"));
    assert_eq!(facts["data"]["public_record_count"], 600);
    let estimated = |fact: &&serde_json::Value| fact["origin"] == "privately-estimated";
    let preparation = facts["preparation"].as_array().unwrap();
    assert_eq!(preparation.iter().filter(estimated).count(), 2);

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
    let said = crate::common::tacita(&["predict", path(&out), "--input", path(&bad)]);
    let message = crate::common::text(&said.stderr);
    assert_eq!(said.status.code(), Some(3));
    assert!(
        message.contains("line 2: column `ward`") && !message.contains("west"),
        "{message}"
    );
    fs::write(&bad, "age,ward,income,postcode\n").unwrap();
    let said = crate::common::tacita(&["predict", path(&out), "--input", path(&bad)]);
    assert_eq!(said.status.code(), Some(2));
    assert!(crate::common::text(&said.stderr).contains("no input"));
    refused(
        &["predict", path(&out), "--input", "/nonexistent.csv"],
        &["/nonexistent.csv"],
    );
    // The data have moved, so the run cannot be resumed until it is said where they are.
    refused(&["resume", path(&out)], &["patients.csv"]);
    let moved = summary(&["resume", path(&out), "--data", path(&other)]);
    assert_eq!(moved["accuracy"], run["accuracy"]);
    // That is kept for the next time, beside the folder.
    summary(&["resume", path(&out)]);
    fs::remove_file(folder.join("run.operator.json")).unwrap();
    refused(
        &["resume", path(&out)],
        &["run.operator.json", "--data FILE"],
    );
}

/// One in twelve is positive and hardly told apart: the majority share says that accuracy is worth nothing, and the
/// AUC what the model knows.
#[test]
fn an_imbalanced_table_warns_and_reports_its_auc() {
    let folder = empty("own", "imbalanced");
    let mut rows = String::from("id,visits,outcome\n");
    for row in 0..1200 {
        let visits = row * 37 % 100;
        let rare = row % 12 == 0 && visits % 4 != 3 || visits > 96;
        let shown = if rare { visits / 3 + 60 } else { visits };
        rows += &format!("{row},{shown},{}\n", if rare { "ill" } else { "healthy" });
    }
    let (csv, schema) = (folder.join("visits.csv"), folder.join("schema.toml"));
    fs::write(&csv, rows).unwrap();
    let columns = "[columns.visits]\nmin = 0\nmax = 100\n[columns.id]\nkind = \"ignored\"\n";
    let label = "records = 1200\n[label]\ncolumn = \"outcome\"\nclasses = [\"healthy\", \"ill\"]\n";
    fs::write(&schema, format!("{label}{columns}")).unwrap();
    for (name, scored) in [
        ("public", ["--public-test", "--quiet"]),
        ("private", ["--score-noise", "1"]),
    ] {
        let out = folder.join(name);
        let fixed = [
            "train",
            "--csv",
            path(&csv),
            "--schema",
            path(&schema),
            "--model",
            "logistic",
            "--clipping",
            "abadi:1",
        ];
        let rest = [
            "--epsilon",
            "8",
            "--steps",
            "60",
            "--batch",
            "200",
            "--test-share",
            "0.4",
            "--out",
            path(&out),
        ];
        let said = printed(&[&fixed[..], &rest, &scored].concat());
        for wanted in [
            "Accuracy",
            "majority share",
            "balanced accuracy",
            "AUC",
            "log loss",
            "WARNING",
        ] {
            assert!(said.contains(wanted), "{wanted}: {said}");
        }
        // Which of the two it is, the noise of training decides.
        let judged = [
            "no better than",
            "below the share of the most frequent class",
        ];
        assert!(judged.iter().any(|wanted| said.contains(wanted)), "{said}");
        let utility = json(&out.join("facts.json"))["utility"].clone();
        let value = |figure: &str| utility[figure]["value"].as_f64().unwrap();
        assert!(value("majority_share") > 0.8, "{said}");
        assert!(value("roc_area") > 0.6, "{said}");
        assert_eq!(
            utility["roc_area"].get("from_bins").is_some(),
            name == "private"
        );
        let page = fs::read_to_string(out.join("report.html")).unwrap();
        assert!(page.contains("class=\"note warning\""));
    }
}

/// What ran away is not passed off as a model, and its cost stays spent.
#[test]
fn a_run_that_diverges_says_so_and_keeps_its_ledger() {
    let folder = empty("own", "diverged");
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
        "--records",
        "200",
        "--steps",
        "4",
        "--batch",
        "50",
        "--learning-rate",
        "1e30",
        "--quiet",
        "--out",
        path(&out),
    ];
    refused(
        &arguments,
        &[
            "training diverged",
            "--learning-rate",
            "stays spent",
            "1e30",
        ],
    );
    let ledger = tacita::read_ledger_file(&out.join("ledger.jsonl")).unwrap();
    assert_eq!(ledger.released, ledger.plan);
    assert!(!out.join("model.safetensors").exists());
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
    assert_eq!(run["steps"], 15, "a flag takes precedence over the file");
    let facts = json(&out.join("facts.json"));
    assert_eq!(facts["evaluation"]["kind"], "public-test");
    let caveats = facts["data"]["caveats"].to_string();
    assert!(caveats.contains("declared public"), "{caveats}");
    // The resolved settings give the same plan again.
    let config = out.join("config.toml");
    let again = folder.join("again");
    refused(
        &["train", path(&config), "--out", path(&again)],
        &["there is no file table"],
    );
    let again = summary(&[
        "train",
        path(&config),
        "--csv",
        path(&csv),
        "--out",
        path(&again),
    ]);
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
        &["cnn", "logistic"],
    );
    assert!(!out.exists());
}
