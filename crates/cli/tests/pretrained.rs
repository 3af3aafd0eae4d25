//! `tacita train --pretrained`: small checkpoints that `transformers` wrote, on texts of one's own.
#![allow(clippy::unwrap_used, missing_docs)]

mod common;

use common::{empty, files, fresh, interrupt, json, path, printed, refused, summary};
use std::fs;
use std::path::{Path, PathBuf};

fn small(name: &str) -> PathBuf {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    crates.join("pretrained/tests/small").join(name)
}

/// Texts whose first word tells the class.
fn texts(test: &str) -> PathBuf {
    let folder = empty("pretrained", &format!("{test}-data"));
    let lines = (0..400).map(|at| {
        let (word, class) = [("good", "pos"), ("bad", "neg")][at % 2];
        format!(
            "{{\"body\": \"{word} film {}\", \"again\": \"the {word}\", \"label\": \"{class}\"}}\n",
            at % 7
        )
    });
    let file = folder.join("texts.jsonl");
    fs::write(&file, lines.collect::<String>()).unwrap();
    file
}

fn train<'a>(model: &'a Path, texts: &'a Path, more: &[&'a str]) -> Vec<&'a str> {
    let data = [
        "train",
        "--jsonl",
        path(texts),
        "--text",
        "body",
        "--label",
        "label",
    ];
    let declared = ["--classes", "neg,pos", "--records", "400", "--pretrained"];
    [&data[..], &declared, &[path(model)], more].concat()
}

/// With hardly any noise, and always the same, to see that something is learned.
const LEARNS: [&str; 13] = [
    "--public-test",
    "--test-share",
    "0.25",
    "--noise",
    "0.05",
    "--seed",
    "3",
    "--epochs",
    "15",
    "--max-tokens",
    "12",
    "--batch",
    "60",
];

#[test]
fn every_choice_learns_and_predicts_and_the_folder_names_the_weights() {
    let texts = texts("choices");
    let model = small("bert");
    for adapt in ["lora:2", "head", "full", "last:1", "bias"] {
        let out = fresh("pretrained", &adapt.replace(':', ""));
        let rest = [
            "--learning-rate",
            "0.02",
            "--adapt",
            adapt,
            "--out",
            path(&out),
        ];
        summary(&train(&model, &texts, &[&LEARNS[..], &rest].concat()));
        let record = json(&out.join("run.json"));
        assert_eq!(record["settings"]["adapt"], adapt);
        assert_eq!(record["settings"]["pretrained"], "bert");
        assert_eq!(
            record["start"]["sha256"],
            record["settings"]["pretrained-sha256"]
        );
        assert_eq!(record["start"]["sha256"].as_str().unwrap().len(), 64);
        let facts = fs::read_to_string(out.join("facts.json")).unwrap();
        assert!(facts.contains("tokenizer of the pre-trained model"));
        let input = out.with_extension("txt");
        fs::write(&input, "good film 3\nbad film 3\n").unwrap();
        let answers = printed(&["predict", path(&out), "--input", path(&input)]);
        let (merged, adapter) = (out.with_extension("merged"), out.with_extension("adapter"));
        for folder in [&merged, &adapter] {
            if folder.exists() {
                fs::remove_dir_all(folder).unwrap();
            }
        }
        printed(&[
            "export",
            path(&out),
            "--merged",
            path(&merged),
            "--adapter",
            path(&adapter),
        ]);
        assert!(files(&merged).contains("tokenizer.json"));
        assert_eq!(
            files(&adapter).contains("adapter_config.json"),
            adapt == "lora:2"
        );
        let classes: Vec<&str> = answers
            .lines()
            .skip(1)
            .map(|line| line.split(',').nth(1).unwrap())
            .collect();
        // A head on the features of a random encoder has little to go by.
        assert_eq!(classes.len(), 2, "{adapt}: {answers}");
        assert!(
            adapt == "head" || classes == ["pos", "neg"],
            "{adapt}: {answers}"
        );
    }
}

#[test]
fn pairs_of_texts_are_read_and_answered() {
    let (texts, out) = (texts("pairs"), fresh("pretrained", "pairs"));
    let more = [
        "--text-pair",
        "again",
        "--epochs",
        "1",
        "--adapt",
        "head",
        "--max-tokens",
        "20",
        "--out",
        path(&out),
    ];
    let model = small("roberta");
    let summary = summary(&train(&model, &texts, &more));
    assert!(
        summary["epsilon"]["upper"].as_f64().unwrap() <= 3.0,
        "{summary}"
    );
    let answers = printed(&["predict", path(&out), "--input", path(&texts)]);
    assert_eq!(answers.lines().count(), 401);
}

#[test]
fn a_dry_run_says_what_is_trained_and_opens_nothing() {
    let missing = texts("dry");
    let model = small("distilbert");
    let more = [
        "--dry-run",
        "--adapt",
        "lora:2",
        "--max-tokens",
        "16",
        "--json",
    ];
    let output = printed(&train(&model, &missing, &more));
    let plan: serde_json::Value = serde_json::from_str(&output).unwrap();
    let (all, trained) = (
        plan["parameters"].as_u64().unwrap(),
        plan["trained_parameters"].as_u64().unwrap(),
    );
    // Adapters of two blocks, and the two layers of the head.
    assert_eq!(trained, 2 * 2 * (4 * 16 + 2 * 24) + (64 + 8) + (16 + 2));
    assert!(all > 2 * trained, "{plan}");
    let words = printed(&train(
        &model,
        &missing,
        &["--dry-run", "--adapt", "head", "--max-tokens", "16"],
    ));
    assert!(
        words.contains("trained") && words.contains("frozen"),
        "{words}"
    );
}

#[test]
fn a_run_that_was_stopped_resumes_with_the_same_weights_and_no_others() {
    let (texts, out) = (texts("resume"), fresh("pretrained", "resume"));
    let copy = empty("pretrained", "model");
    for file in files(&small("bert")) {
        fs::copy(small("bert").join(&file), copy.join(&file)).unwrap();
    }
    let more = [
        "--epochs",
        "4000",
        "--checkpoint-every",
        "1",
        "--adapt",
        "lora:2",
        "--max-tokens",
        "12",
        "--out",
    ];
    let mut child = common::command(&train(&copy, &texts, &[&more[..], &[path(&out)]].concat()))
        .spawn()
        .unwrap();
    while fs::metadata(out.join("metrics.jsonl")).map_or(0, |file| file.len()) == 0 {
        assert!(child.try_wait().unwrap().is_none(), "it should not end");
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    interrupt(&child);
    child.wait().unwrap();
    let weights = copy.join("model.safetensors");
    let mut bytes = fs::read(&weights).unwrap();
    let end = bytes.len() - 1;
    bytes[end] ^= 1;
    fs::write(&weights, &bytes).unwrap();
    refused(&["resume", path(&out)], &["other weights", "restore"]);
    bytes[end] ^= 1;
    fs::write(&weights, &bytes).unwrap();
    let mut child = common::command(&["resume", path(&out)]).spawn().unwrap();
    std::thread::sleep(std::time::Duration::from_millis(300));
    interrupt(&child);
    assert!(child.wait().is_ok());
}

#[test]
fn what_cannot_be_is_refused_before_a_folder_is_made() {
    let (texts, out) = (texts("refused"), fresh("pretrained", "none"));
    let model = small("bert");
    let refuses = |more: &[&str], wanted: &[&str]| {
        let out = ["--out", path(&out)];
        refused(&train(&model, &texts, &[more, &out].concat()), wanted);
    };
    refuses(&["--max-tokens", "41"], &["41", "40 positions"]);
    refuses(&["--max-tokens", "2"], &["around"]);
    refuses(&["--adapt", "lora:0"], &["lora:RANK"]);
    refuses(&["--adapt", "last:3", "--max-tokens", "12"], &["2 blocks"]);
    refuses(&["--model", "lstm"], &["lstm"]);
    refuses(
        &["--pretrained-sha256", "ab", "--max-tokens", "12"],
        &["SHA-256"],
    );
    let nothing = empty("pretrained", "nothing");
    refused(
        &train(&nothing, &texts, &["--out", path(&out)]),
        &["config.json"],
    );
    refused(
        &["train", "--data", "digits", "--pretrained", path(&model)],
        &["texts"],
    );
    refused(&["train", "--adapt", "head"], &["--pretrained"]);
    fs::write(nothing.join("pytorch_model.bin"), "pickle").unwrap();
    for file in ["config.json", "tokenizer.json"] {
        fs::copy(model.join(file), nothing.join(file)).unwrap();
    }
    refused(
        &train(
            &nothing,
            &texts,
            &["--max-tokens", "12", "--out", path(&out)],
        ),
        &["pickle"],
    );
    assert!(!out.exists());
}
