//! The reference of the book lists what the program has: every flag, every key, every field of a run folder.
#![allow(clippy::unwrap_used)]

use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

type Names = BTreeSet<String>;

fn tacita(arguments: &[&str]) -> (String, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tacita"));
    let output = command.args(arguments).output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (text(&output.stdout), text(&output.stderr))
}

fn page(name: &str) -> String {
    let book = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/src/reference");
    fs::read_to_string(book.join(name)).unwrap()
}

/// What the first cells of the tables below a heading name, without dashes before it and values after it.
fn rows(page: &str, heading: &str) -> Names {
    let level = heading.split(' ').next().unwrap().len();
    let same = |line: &&str| {
        let marks = line.chars().take_while(|letter| *letter == '#').count();
        marks == 0 || marks > level
    };
    let below = page.lines().skip_while(|line| *line != heading).skip(1);
    let cells = below.take_while(same).filter_map(|line| {
        let cell = line.strip_prefix("| `")?;
        Some(cell.split(" | ").next().unwrap_or_default())
    });
    let names = cells.flat_map(|cell| cell.split("`, `").map(|name| name.trim_end_matches('`')));
    let names: Names = names
        .filter_map(|name| name.trim_start_matches("--").split([' ', '[']).next())
        .map(String::from)
        .collect();
    assert!(!names.is_empty(), "the page has no table below `{heading}`");
    names
}

/// The flags that a command shows below some of its headings.
fn flags(command: &str, wanted: impl Fn(&str) -> bool) -> Names {
    let (help, _) = tacita(&[command, "--help"]);
    let mut heading = String::new();
    let mut flags = Names::new();
    for line in help.lines() {
        if let Some(name) = line.strip_suffix(':').filter(|name| !name.starts_with(' ')) {
            heading = name.to_string();
        }
        // What is said of a flag stands further to the right.
        let flag = line.strip_prefix("      --").filter(|_| wanted(&heading));
        if let Some(flag) = flag {
            flags.insert(flag.split([' ', '[']).next().unwrap().to_string());
        }
    }
    flags
}

/// The keys that a file may have: a wrong one is refused with a list of them.
fn keys(name: &str, text: &str, arguments: &[&str]) -> Names {
    let folder = std::env::temp_dir().join(format!("tacita-book-{}-{name}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    let file = folder.join(name);
    fs::write(&file, text).unwrap();
    let mut all = arguments.to_vec();
    all.push(file.to_str().unwrap());
    let (_, error) = tacita(&all);
    fs::remove_dir_all(&folder).unwrap();
    let known = error
        .split_once("there are ")
        .or_else(|| error.split_once("expected "));
    let (_, known) = known.unwrap_or_else(|| panic!("{error}"));
    let quoted = known.split(['“', '”', '`']).skip(1).step_by(2);
    let keys: Names = quoted.map(String::from).collect();
    assert!(!keys.is_empty(), "{error}");
    keys
}

#[test]
fn every_command_and_flag_is_in_the_reference() {
    let page = page("commands.md");
    let (help, _) = tacita(&["--help"]);
    let commands: Vec<&str> = (help.lines())
        .skip_while(|line| *line != "Commands:")
        .skip(1)
        .take_while(|line| line.starts_with("  "))
        .filter_map(|line| line.split_whitespace().next())
        .filter(|command| *command != "help")
        .collect();
    let listed: Vec<&str> = (page.lines())
        .filter_map(|line| line.strip_prefix("## tacita "))
        .collect();
    assert_eq!(listed, commands);
    let settings = flags("train", |heading| heading != "Options");
    assert!(settings.contains("epsilon"));
    for command in commands {
        let mut shown = flags(command, |_| true);
        if command == "check" {
            // It takes the settings of `train`, which are listed there.
            shown = &shown - &settings;
        }
        if shown.is_empty() {
            continue;
        }
        assert_eq!(
            rows(&page, &format!("## tacita {command}")),
            shown,
            "{command}"
        );
    }
}

#[test]
fn every_setting_is_in_the_reference() {
    let page = page("settings.md");
    let listed: Names = ["## Data", "## Model", "## Privacy", "## Training"]
        .iter()
        .flat_map(|heading| rows(&page, heading))
        .collect();
    let mut settings = flags("train", |heading| heading != "Options");
    settings.extend(["declared", "about"].map(String::from));
    assert_eq!(listed, settings);
    let known = keys(
        "run.toml",
        "[about]\nno-such-key = 1",
        &["train", "--dry-run"],
    );
    assert_eq!(rows(&page, "## `[about]`"), known);
}

#[test]
fn every_key_of_schema_and_search_space_is_in_the_reference() {
    let schema = page("schema.md");
    for (heading, text) in [
        ("## Top level", "no-such-key = 1"),
        ("## `[label]`", "[label]\nno-such-key = 1"),
        ("## `[columns.NAME]`", "[columns.age]\nno-such-key = 1"),
        ("## `[text]`", "[text]\nno-such-key = 1"),
        ("## `[image]`", "[image]\nno-such-key = 1"),
    ] {
        let arguments = ["train", "--csv", "none.csv", "--dry-run", "--schema"];
        let listed = rows(&schema, heading);
        assert_eq!(listed, keys("schema.toml", text, &arguments), "{heading}");
    }
    let space = page("search-space.md");
    let runs = "mode = \"random\"\nchoose-by = \"test-set\"\n[runs]\nno-such-key = 1";
    for (heading, text) in [("## Top level", "no-such-key = 1"), ("## `[runs]`", runs)] {
        let mut known = keys("space.toml", text, &["tune", "--dry-run"]);
        // The old name of `distribution` is still read.
        known.remove("law");
        assert_eq!(rows(&space, heading), known, "{heading}");
    }
}

#[test]
fn every_field_of_a_run_folder_is_in_the_reference() {
    let folder: PathBuf =
        std::env::temp_dir().join(format!("tacita-book-run-{}", std::process::id()));
    let out = folder.to_str().unwrap();
    let arguments = ["train", "--data", "digits", "--steps", "1", "--quiet"];
    let (_, error) = tacita(&[&arguments[..], &["--out", out]].concat());
    let run_folder = page("run-folder.md");
    let files: Names = fs::read_dir(&folder)
        .unwrap_or_else(|_| panic!("{error}"))
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    for file in &files {
        assert!(run_folder.contains(&format!("`{file}`")), "{file}");
    }
    let object = |name: &str| -> Names {
        let text = fs::read_to_string(folder.join(name)).unwrap();
        let first = match name.ends_with(".jsonl") {
            true => text.lines().next().unwrap(),
            false => text.as_str(),
        };
        let value: Value = serde_json::from_str(first).unwrap();
        value.as_object().unwrap().keys().cloned().collect()
    };
    for (name, page) in [
        ("run.json", &run_folder),
        ("facts.json", &run_folder),
        ("metrics.jsonl", &run_folder),
        ("ledger.jsonl", &run_folder),
        ("report.json", &page("report.md")),
        ("registry.json", &page("report.md")),
    ] {
        let listed = rows(page, &format!("## `{name}`"));
        let there = object(name);
        assert!(there.is_subset(&listed), "{name}: {:?}", &there - &listed);
    }
    fs::remove_dir_all(&folder).unwrap();
}
