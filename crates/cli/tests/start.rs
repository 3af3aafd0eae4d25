//! `tacita train --start`: weights learned from public records.
#![allow(clippy::unwrap_used, missing_docs)]

mod common;

use common::{fresh, json, path, printed, refused, summary};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

const SHORT: [&str; 4] = ["train", "--epochs", "2", "--epsilon"];

/// A run of its own, whose weights others start from.
fn public(name: &str) -> PathBuf {
    let out = fresh("start", name);
    let rest = ["8", "--model", "logistic", "--seed", "1"];
    summary(&[&SHORT[..], &rest, &["--out", path(&out)]].concat());
    let elsewhere = out.with_extension("safetensors");
    fs::copy(out.join("model.safetensors"), &elsewhere).unwrap();
    elsewhere
}

/// A run that hardly moves from where it starts.
fn still<'a>(model: &'a str, weights: &'a Path, out: &'a Path) -> Vec<&'a str> {
    let rest = ["2", "--learning-rate", "1e-12", "--model", model];
    let paths = ["--start", path(weights), "--out", path(out)];
    [&SHORT[..], &rest, &paths].concat()
}

fn keep_only_what_begins_a_run(out: &Path) {
    for file in fs::read_dir(out).unwrap() {
        let file = file.unwrap().path();
        let kept = ["run.json", "config.toml", "ledger.jsonl"];
        if !kept.iter().any(|name| file.ends_with(name)) {
            fs::remove_file(file).unwrap();
        }
    }
}

fn values(file: &Path) -> Vec<f32> {
    let bytes = fs::read(file).unwrap();
    let file = safetensors::SafeTensors::deserialize(&bytes).unwrap();
    let tensors: BTreeMap<_, _> = file.tensors().into_iter().collect();
    let bytes = tensors.values().flat_map(|tensor| tensor.data());
    let bytes: Vec<u8> = bytes.copied().collect();
    let numbers = bytes.as_chunks::<4>().0.iter();
    numbers.map(|bytes| f32::from_le_bytes(*bytes)).collect()
}

#[test]
fn a_run_begins_with_the_weights_named_and_its_report_says_so() {
    let (weights, out) = (public("public"), fresh("start", "still"));
    summary(&still("logistic", &weights, &out));
    let (theirs, ours) = (values(&weights), values(&out.join("model.safetensors")));
    assert!(theirs.iter().any(|value| value.abs() > 0.01));
    for (theirs, ours) in theirs.iter().zip(&ours) {
        assert!((theirs - ours).abs() < 1e-6, "{theirs} {ours}");
    }
    let digest = Sha256::digest(fs::read(&weights).unwrap());
    let digest: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
    let facts = json(&out.join("facts.json"));
    let prepared = facts["preparation"].as_array().unwrap().last().unwrap();
    assert!(prepared["what"].as_str().unwrap().contains(&digest));
    assert_eq!(prepared["origin"], "declared");
    assert_eq!(
        json(&out.join("run.json"))["settings"]["start-sha256"],
        digest
    );
    let page = fs::read_to_string(out.join("report.html")).unwrap();
    assert!(page.contains(&digest) && page.contains("says nothing about the records"));
}

#[test]
fn weights_that_cannot_be_used_are_refused_before_a_folder_is_made() {
    let (weights, out) = (public("refused"), fresh("start", "none"));
    let missing = weights.with_extension("gone");
    refused(
        &still("logistic", &missing, &out),
        &[path(&missing), "nothing was spent"],
    );
    let text = weights.with_extension("txt");
    fs::write(&text, "0.5 0.5").unwrap();
    refused(
        &still("logistic", &text, &out),
        &[path(&text), "safetensors"],
    );
    let other = still("cnn", &weights, &out);
    refused(
        &other,
        &[path(&weights), "none of its weights", "nothing was spent"],
    );
    refused(
        &still("logistic", weights.parent().unwrap(), &out),
        &["not a file", "model.safetensors"],
    );
    let pinned = [
        &still("logistic", &weights, &out)[..],
        &["--start-sha256", "00ff"],
    ]
    .concat();
    refused(&pinned, &["other weights", "00ff", "nothing was spent"]);
    assert!(!out.exists());
}

#[test]
fn weights_of_the_same_records_are_not_public() {
    let (weights, out) = (public("own"), fresh("start", "same"));
    let beside = weights.with_extension("").join("model.safetensors");
    let arguments = still("logistic", &beside, &out);
    refused(
        &arguments,
        &["same records", path(&beside), "nothing was spent"],
    );
    assert!(!out.exists());
    // An experiment promises nothing.
    summary(&[&arguments[..], &["--seed", "1"]].concat());
}

/// Without a checkpoint there is nothing but the file to take the weights from.
#[test]
fn a_run_that_died_before_its_first_step_wants_the_same_weights() {
    let (weights, out) = (public("again"), fresh("start", "died"));
    summary(&still("logistic", &weights, &out));
    keep_only_what_begins_a_run(&out);
    // What the ledger holds before the first step: the plan, and the record it binds.
    let ledger = fs::read_to_string(out.join("ledger.jsonl")).unwrap();
    let begun: Vec<&str> = ledger.lines().take(2).collect();
    fs::write(out.join("ledger.jsonl"), begun.join("\n") + "\n").unwrap();
    let kept = fs::read(&weights).unwrap();
    fs::write(&weights, [&kept[..], b" "].concat()).unwrap();
    refused(
        &["resume", path(&out)],
        &["other weights", "SHA-256", "nothing more was spent"],
    );
    fs::write(&weights, kept).unwrap();
    summary(&["resume", path(&out)]);
    assert_eq!(
        values(&weights).len(),
        values(&out.join("model.safetensors")).len()
    );
}

/// The release of means and spreads is no step: what was to be trained on from is still the file.
#[test]
fn a_run_that_died_after_its_statistics_starts_from_the_same_weights() {
    let folder = fresh("start", "statistics");
    fs::create_dir_all(&folder).unwrap();
    let table = |name: &str, shift: usize| {
        let row = |at: usize| format!("{},{}\n", (at + shift) % 10, ["a", "b"][at % 10 / 5]);
        let file = folder.join(name);
        fs::write(
            &file,
            format!("x,y\n{}", (0..200).map(row).collect::<String>()),
        )
        .unwrap();
        file
    };
    let (theirs, ours) = (table("theirs.csv", 0), table("ours.csv", 1));
    let schema = folder.join("schema.toml");
    let declared = "records = 200\n[label]\ncolumn = \"y\"\nclasses = [\"a\", \"b\"]\n[columns.x]\nmin = 0\nmax = 10\n";
    fs::write(&schema, declared).unwrap();
    let run = |csv: &Path, out: &Path, rest: &[&str]| {
        let data = [
            "train",
            "--csv",
            path(csv),
            "--schema",
            path(&schema),
            "--epsilon",
            "8",
        ];
        summary(&[&data[..], rest, &["--out", path(out)]].concat());
    };
    let public = folder.join("public");
    run(&theirs, &public, &["--seed", "1"]);
    let weights = folder.join("public.safetensors");
    fs::copy(public.join("model.safetensors"), &weights).unwrap();
    let out = folder.join("run");
    run(
        &ours,
        &out,
        &["--start", path(&weights), "--learning-rate", "1e-12"],
    );
    // The plan, the statistic, and the record of the run.
    let ledger = fs::read_to_string(out.join("ledger.jsonl")).unwrap();
    let begun: Vec<&str> = ledger.lines().take(3).collect();
    assert!(begun[1].starts_with("{\"first\":0") && begun[2].starts_with("{\"file\":\"run.json\""));
    keep_only_what_begins_a_run(&out);
    fs::write(out.join("ledger.jsonl"), begun.join("\n") + "\n").unwrap();
    summary(&["resume", path(&out)]);
    let (wanted, made) = (values(&weights), values(&out.join("model.safetensors")));
    assert!(wanted.iter().any(|value| value.abs() > 0.01));
    for (wanted, made) in wanted.iter().zip(&made) {
        assert!((wanted - made).abs() < 1e-6, "{wanted} {made}");
    }
}

/// Whatever way leads to the data: another spelling of the path, a link, a copy.
#[cfg(unix)]
#[test]
fn weights_of_the_same_file_are_not_public_by_any_way_to_it() {
    let folder = common::empty("start", "ways");
    let rows = |shift: usize| -> String {
        let rows = (0..60).map(|row| format!("{},{}\n", (row + shift) % 10, row % 2));
        rows.collect()
    };
    let file = |name: &str| folder.join(name);
    fs::write(file("a.csv"), format!("x,y\n{}", rows(0))).unwrap();
    fs::write(file("b.csv"), format!("x,y\n{}", rows(1))).unwrap();
    fs::copy(file("a.csv"), file("copy.csv")).unwrap();
    fs::hard_link(file("a.csv"), file("hard.csv")).unwrap();
    std::os::unix::fs::symlink(file("a.csv"), file("soft.csv")).unwrap();
    fs::write(file("schema.toml"), "[columns.x]\nmin = 0\nmax = 10\n").unwrap();
    let declared = "--schema schema.toml --label y --classes 0,1 --records 60 --noise 3 --steps 2 --batch 10 \
                    --model logistic --quiet";
    let train = |csv: &str, rest: &[&str]| {
        let mut command = common::command(&["train", "--csv", csv]);
        let command = command
            .current_dir(&folder)
            .args(declared.split_whitespace());
        command.args(rest).output().unwrap()
    };
    assert!(train("a.csv", &["--out", "first"]).status.success());
    let start = ["--start", "first/model.safetensors", "--out", "second"];
    let absolute = file("a.csv");
    for way in [
        "a.csv",
        "./a.csv",
        "first/../a.csv",
        path(&absolute),
        "copy.csv",
        "hard.csv",
        "soft.csv",
    ] {
        let output = train(way, &start);
        let said = common::text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{way}");
        assert!(
            said.contains("same records") && !file("second").exists(),
            "{way}: {said}"
        );
    }
    // By a link to the weights as well.
    std::os::unix::fs::symlink(file("first/model.safetensors"), file("w.safetensors")).unwrap();
    let linked = ["--start", "w.safetensors", "--out", "second"];
    assert_eq!(train("a.csv", &linked).status.code(), Some(2));
    let output = train("b.csv", &start);
    assert!(output.status.success(), "{}", common::text(&output.stderr));
    // Where it is not known which records they are of, they are not taken for others.
    fs::remove_file(file("first.operator.json")).unwrap();
    let output = train(
        "b.csv",
        &["--start", "first/model.safetensors", "--out", "third"],
    );
    let said = common::text(&output.stderr);
    assert!(
        output.status.code() == Some(2) && said.contains("may be the same records"),
        "{said}"
    );
}

/// Runs of a search must be alike in distribution, so all begin with the weights it was certified for.
#[test]
fn a_search_keeps_to_its_weights_and_names_them() {
    let (weights, out) = (public("searched"), fresh("start", "search"));
    let space = out.with_extension("toml");
    let settings = "data = \"digits\"\nmodel = \"logistic\"\nepsilon = 2.0\ndelta = 1e-5";
    let text = format!(
        "mode = \"grid\"\nchoose-by = \"test-set\"\n[settings]\n{settings}\nstart = {:?}\n[grid]\nsteps = [3, 6]\n",
        path(&weights)
    );
    fs::write(&space, text).unwrap();
    let arguments = ["tune", path(&space), "--quiet", "--out", path(&out)];
    printed(&arguments);
    let digest = json(&out.join("runs/1/run.json"))["start"]["sha256"].clone();
    let report = fs::read_to_string(out.join("report.json")).unwrap();
    assert!(report.contains(digest.as_str().unwrap()) && report.contains("declared public"));

    fs::copy(public("others"), &weights).unwrap();
    let changed = fs::read(&weights).unwrap();
    fs::write(&weights, [&changed[..changed.len() - 1], &[1]].concat()).unwrap();
    fs::remove_file(out.join("report.json")).unwrap();
    refused(&arguments, &["other plans", "weights"]);
}
