//! The program as people expect one: completions, manual pages, exit codes, defaults, lines for logs, and other formats.
#![allow(clippy::unwrap_used, missing_docs)]

mod common;

use common::{empty, files, fresh, path, printed, refused, tacita, text};
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

#[test]
fn completions_know_every_command_and_its_flags() {
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let script = printed(&["completions", shell]);
        for wanted in [
            "calibrate",
            "budget",
            "completions",
            "epsilon",
            "threshold-decay",
        ] {
            assert!(script.contains(wanted), "{shell}: {wanted}");
        }
    }
    let output = tacita(&["completions", "no-such-shell"]);
    assert_eq!(output.status.code(), Some(2));
}

#[test]
fn there_is_a_manual_page_for_every_command() {
    let out = empty("program", "man");
    printed(&["man", "--out", path(&out)]);
    let help = printed(&["--help"]);
    let commands = (help.lines())
        .skip_while(|line| *line != "Commands:")
        .skip(1)
        .take_while(|line| line.starts_with("  "))
        .filter_map(|line| line.split_whitespace().next());
    let pages = files(&out);
    assert!(pages.contains("tacita.1"), "{pages:?}");
    for command in commands.filter(|command| *command != "help") {
        assert!(
            pages.contains(&format!("tacita-{command}.1")),
            "{command}: {pages:?}"
        );
    }
    let train = fs::read_to_string(out.join("tacita-train.1")).unwrap();
    assert!(
        train.contains(".TH tacita-train 1") && train.contains("Budget"),
        "{train}"
    );
}

/// Every status that the source can end with, by whatever way, is in the table of the book.
#[test]
fn exit_codes_are_those_of_the_book() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let page = fs::read_to_string(root.join("../../docs/src/reference/exit-codes.md")).unwrap();
    let codes: BTreeSet<u8> = (page.lines())
        .filter_map(|line| line.strip_prefix("| ")?.split(' ').next()?.parse().ok())
        .collect();
    // 101 is Rust's own for a panic.
    let known = BTreeSet::from([0, 1, tacita_cli::exit_codes::BAD_INPUT, 3, 4, 101, 130]);
    assert_eq!(codes, known);

    let mut folders = vec![root.join("src")];
    let mut ends = BTreeSet::new();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().path())
        {
            if entry.is_dir() {
                folders.push(entry);
                continue;
            }
            let source = fs::read_to_string(&entry).unwrap_or_default();
            for call in ["ExitCode::from(", "process::exit("] {
                let arguments = source.split(call).skip(1);
                ends.extend(arguments.map(|rest| rest.split(')').next().unwrap().to_string()));
            }
        }
    }
    let ends: BTreeSet<&str> = ends.iter().map(String::as_str).collect();
    assert_eq!(
        ends,
        BTreeSet::from([
            "130",
            "AUDIT_ALARM",
            "BAD_INPUT",
            "NOT_PROVED",
            "SOME_UNUSABLE",
            "STOPPED",
            "crate::exit_codes::BAD_INPUT.into("
        ])
    );
    assert_eq!(tacita(&["train", "--no-such-flag"]).status.code(), Some(2));
    assert_eq!(tacita(&["--version"]).status.code(), Some(0));
}

#[test]
fn where_there_is_no_terminal_progress_is_plain_lines() {
    let out = fresh("program", "lines");
    let arguments = [
        "train",
        "--model",
        "logistic",
        "--batch",
        "64",
        "--noise",
        "2",
        "--steps",
        "20",
        "--out",
        path(&out),
    ];
    let output = tacita(&arguments);
    let said = text(&output.stderr);
    assert!(output.status.success(), "{said}");
    let steps: Vec<&str> = said
        .lines()
        .filter(|line| line.starts_with("  step "))
        .collect();
    assert_eq!(steps.len(), 10, "{said}");
    assert!(steps[0].starts_with("  step 2/20  ε so far ≈ "), "{said}");
    assert!(!said.contains(['\r', '\u{1b}']), "{said:?}");
}

#[test]
fn the_help_says_what_is_used_where_nothing_is_set() {
    let help = printed(&["train", "--help"]);
    // What a flag is said to do may fill several lines.
    let entry = |flag: &str| {
        let start = help
            .find(&format!("--{flag} "))
            .unwrap_or_else(|| panic!("{flag}"));
        let rest = &help[start..];
        let end = rest.find("\n      --").unwrap_or(rest.len());
        rest[..end].split_whitespace().collect::<Vec<_>>().join(" ")
    };
    // What is filled in without being asked for.
    for flag in [
        "data",
        "data-name",
        "model",
        "hidden",
        "epsilon",
        "delta",
        "batch",
        "epochs",
        "clipping",
        "optimizer",
        "learning-rate",
        "rate-schedule",
        "checkpoint-every",
        "device",
        "precision",
        "out",
    ] {
        assert!(
            entry(flag).contains("[default: "),
            "{flag}: {}",
            entry(flag)
        );
    }
}

#[test]
fn a_trained_model_is_exported_with_what_one_must_know_to_use_it() {
    let out = fresh("program", "export");
    let train = [
        "train",
        "--quiet",
        "--model",
        "logistic",
        "--batch",
        "64",
        "--noise",
        "2",
        "--steps",
        "2",
        "--out",
        path(&out),
    ];
    printed(&train);
    let file = empty("program", "onnx").join("digits.onnx");
    printed(&["export", path(&out), "--onnx", path(&file)]);
    let bytes = fs::read(&file).unwrap();
    let text = String::from_utf8_lossy(&bytes);
    for wanted in [
        "tacita",
        "input",
        "scores",
        "probabilities",
        "layers.0.weight",
        "tacita_classes",
        "tacita_preparation",
    ] {
        assert!(text.contains(wanted), "{wanted}");
    }
    // Every parameter is in it, number by number.
    let model = fs::read(out.join("model.safetensors")).unwrap();
    let model = safetensors::SafeTensors::deserialize(&model).unwrap();
    let weights = model.tensor("layers.0.weight").unwrap().data().to_vec();
    assert!(bytes.windows(weights.len()).any(|window| window == weights));
    let none = empty("program", "no-run");
    refused(
        &["export", path(&none), "--onnx", path(&file)],
        &["does not exist"],
    );
}

/// A trained model of a table with a number and a category, and a file to predict.
fn table(name: &str) -> (std::path::PathBuf, std::path::PathBuf) {
    let folder = empty("program", name);
    let [data, schema, new] = ["t.csv", "s.toml", "new.csv"].map(|file| folder.join(file));
    let row = |i: usize| {
        format!(
            "{},{},{}\n",
            i % 10,
            ["red", "blue"][i % 2],
            ["no", "yes"][i / 2 % 2]
        )
    };
    let rows: String = (0..60).map(row).collect();
    fs::write(&data, format!("size,colour,bought\n{rows}")).unwrap();
    fs::write(&new, "size,colour\n3,red\n12,blue\n-1,red\n").unwrap();
    let declared = "records = 60\n[label]\ncolumn = \"bought\"\nclasses = [\"no\", \"yes\"]\n\
                    [columns.size]\nmin = 0\nmax = 9\n[columns.colour]\ncategories = [\"red\", \"blue\"]\n";
    fs::write(&schema, declared).unwrap();
    let out = folder.join("run");
    let arguments = [
        "train",
        "--quiet",
        "--csv",
        path(&data),
        "--schema",
        path(&schema),
        "--model",
        "mlp",
        "--noise",
        "2",
        "--delta",
        "1e-3",
        "--batch",
        "15",
        "--steps",
        "20",
        "--out",
        path(&out),
    ];
    printed(&arguments);
    (out, new)
}

/// Where Python has PyTorch and safetensors (`TACITA_PYTHON` names another Python), the recipe of the book says what
/// `tacita predict` says. Elsewhere the orientation of parameters is tested by the ONNX file alone.
#[test]
fn the_recipe_for_pytorch_predicts_what_tacita_does() {
    let python = std::env::var("TACITA_PYTHON").unwrap_or_else(|_| "python3".into());
    let has = std::process::Command::new(&python)
        .args(["-c", "import torch, safetensors"])
        .output();
    if !has.is_ok_and(|output| output.status.success()) {
        eprintln!("not tested: {python} has no torch and safetensors");
        return;
    }
    let (out, new) = table("pytorch");
    let recipe = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/load_in_pytorch.py");
    let output = std::process::Command::new(&python)
        .args([path(&recipe), path(&out), path(&new)])
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", text(&output.stderr));
    let lines = |text: &str| -> Vec<serde_json::Value> {
        text.lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect()
    };
    let theirs = lines(&text(&output.stdout));
    let ours = lines(&printed(&[
        "predict",
        path(&out),
        "--input",
        path(&new),
        "--json",
    ]));
    assert_eq!(ours.len(), 3);
    for (one, other) in ours.iter().zip(&theirs) {
        assert_eq!(
            (&one["input"], &one["class"]),
            (&other["input"], &other["class"])
        );
        for class in ["no", "yes"] {
            let [a, b] = [one, other].map(|line| line["probability"][class].as_f64().unwrap());
            assert!((a - b).abs() < 1e-5, "{a} and {b}");
        }
    }
}
