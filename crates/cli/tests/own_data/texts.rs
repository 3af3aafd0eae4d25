//! Texts.

use crate::common::{empty, path, printed, summary};
use crate::share_right;
use std::fs;

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
        // Secret noise would misread the new texts in some runs.
        "--seed",
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
}
