//! `tacita generate`: text from a decoder.
#![allow(clippy::unwrap_used, missing_docs)]

mod common;

use common::{fresh, path, printed, refused, tacita, text};
use serde_json::Value;
use std::fs;

fn fixture(name: &str) -> String {
    format!(
        "{}/../pretrained/tests/decoder/fixtures/{name}",
        env!("CARGO_MANIFEST_DIR")
    )
}

#[test]
fn a_prompt_is_continued_the_same_way_each_time_unless_chance_is_asked_for() {
    let model = fixture("llama.gguf");
    let arguments = [
        "generate",
        &model,
        "--prompt",
        "The Eagle is",
        "--length",
        "12",
    ];
    let greedy = printed(&arguments);
    assert_eq!(greedy, printed(&arguments));
    let one_beam = printed(&[&arguments[..], &["--beams", "1"]].concat());
    assert_eq!(greedy, one_beam);
    let chance = [&arguments[..], &["--top-p", "1", "--temperature", "100"]].concat();
    assert_ne!(printed(&chance), printed(&chance));
}

#[test]
fn lines_are_handed_on_with_what_was_generated_and_its_scores() {
    let folder = common::empty("generate", "lines");
    let (input, output) = (folder.join("input.jsonl"), folder.join("output.jsonl"));
    let lines = r#"{"mr": "name[The Eagle]", "refs": ["The Eagle is cheap .", "Eat at The Eagle ."], "id": 7}
{"mr": "food[French]", "refs": "French food ."}
"#;
    fs::write(&input, lines).unwrap();
    let model = fixture("llama.gguf");
    let arguments = [
        "generate",
        &model,
        "--input",
        path(&input),
        "--field",
        "mr",
        "--references",
        "refs",
        "--length",
        "6",
        "--output",
        path(&output),
    ];
    let seen = tacita(&arguments);
    assert!(seen.status.success(), "{}", text(&seen.stderr));
    assert!(
        text(&seen.stderr).contains("2 texts: BLEU "),
        "{}",
        text(&seen.stderr)
    );
    let written = fs::read_to_string(&output).unwrap();
    let written: Vec<Value> = written
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(written.len(), 2);
    assert_eq!(written[0]["id"], 7);
    assert!(written.iter().all(|line| line["generated"].is_string()));
    // Nothing is overwritten.
    refused(&arguments, &["cannot create"]);
}

#[test]
fn what_cannot_be_a_model_is_refused_by_name() {
    let folder = fresh("generate", "pickle");
    fs::create_dir_all(&folder).unwrap();
    let pickle = folder.join("model.gguf");
    fs::write(&pickle, b"\x80\x02}q\x00.").unwrap();
    let model = fixture("llama.gguf");
    for (model, more, wanted) in [
        (path(&pickle), vec![], "pickle"),
        ("/no/such/model", vec![], "cannot read the model"),
        (&model, vec!["--length", "100"], "64 positions"),
        (&model, vec!["--stop", "no such token"], "no token"),
        (&model, vec!["--length", "8", "--top-p", "2"], "top-p"),
    ] {
        refused(
            &[&["generate", model, "--prompt", "a"], &more[..]].concat(),
            &[wanted],
        );
    }
}
