//! Training on records that are read from a disk: the same models, and nothing of it in the run folder.

use crate::common::{
    command, empty, files, interrupt, json, path, printed, refused, summary, tacita, text,
};
use crate::{schema_of_patients, table};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The table of patients in three shards.
fn shards(folder: &Path) -> PathBuf {
    let whole = fs::read_to_string(table(folder, 800)).unwrap();
    let (header, lines) = whole.split_once('\n').unwrap();
    let lines: Vec<&str> = lines.lines().collect();
    let shards = folder.join("shards");
    fs::create_dir_all(&shards).unwrap();
    for (at, lines) in lines.chunks(300).enumerate() {
        let text = format!("{header}\n{}\n", lines.join("\n"));
        fs::write(shards.join(format!("part-{at}.csv")), text).unwrap();
    }
    shards
}

fn model(run: &Path) -> Vec<u8> {
    fs::read(run.join("model.safetensors")).unwrap()
}

#[test]
fn a_run_on_a_disk_is_the_run_in_memory() {
    let folder = empty("own", "on-disk");
    let (shards, schema) = (shards(&folder), schema_of_patients(&folder));
    let train = |out: &Path, extra: &[&str]| {
        let arguments = [
            "train",
            "--csv",
            path(&shards),
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
            "--batch",
            "64",
            "--seed",
            "3",
            "--audit",
            "20",
            "--out",
            path(out),
        ];
        summary(&[&arguments[..], extra].concat())
    };
    let (memory, disk) = (folder.join("memory"), folder.join("disk"));
    let copies = folder.join("copies");
    let on_disk = format!("--on-disk={}", copies.display());
    let in_memory = train(&memory, &[]);
    let on_a_disk = train(&disk, &[&on_disk]);
    assert!(model(&memory) == model(&disk));
    assert_eq!(in_memory["utility"], on_a_disk["utility"]);
    assert_eq!(in_memory["epsilon"], on_a_disk["epsilon"]);

    // Nobody learns from the folder of the run where the copy lies; it is known beside it.
    for name in files(&disk) {
        let content = fs::read(disk.join(&name)).unwrap();
        let content = String::from_utf8_lossy(&content);
        assert!(!content.contains(path(&copies)), "{name}");
    }
    assert!(
        fs::read_to_string(disk.join("config.toml"))
            .unwrap()
            .contains("on-disk = \"cache\"")
    );
    let beside = json(&folder.join("disk.operator.json"));
    assert_eq!(beside["on_disk"], path(&copies));
    assert_eq!(files(&disk), files(&memory));
    // Resumed when it has ended, and without the copy, which is made again.
    fs::remove_dir_all(&copies).unwrap();
    assert_eq!(
        summary(&["resume", path(&disk)])["accuracy"],
        on_a_disk["accuracy"]
    );
    assert!(copies.exists());

    // Other columns need another copy; the records that cannot be used are found while it is made.
    let said = printed(&[
        "check",
        "--csv",
        path(&shards),
        "--label",
        "outcome",
        "--schema",
        path(&schema),
        "--estimate-bounds",
        &on_disk,
    ]);
    assert!(
        said.contains("To train on: 800 records") && said.contains("Every record can be used"),
        "{said}"
    );
}

#[test]
fn texts_and_images_on_a_disk_give_the_models_they_give_in_memory() {
    let folder = empty("own", "on-disk-kinds");
    let texts = folder.join("texts");
    fs::create_dir_all(&texts).unwrap();
    for shard in 0..2 {
        let line = |at: usize| {
            let words = ["a moving film", "dull and badly played"][at % 2];
            format!(
                "{{\"body\": \"{words} {at}\", \"mark\": \"{}\"}}\n",
                ["good", "bad"][at % 2]
            )
        };
        let lines: String = (100 * shard..100 * shard + 100).map(line).collect();
        fs::write(texts.join(format!("{shard}.jsonl")), lines).unwrap();
    }
    let images = folder.join("images");
    for at in 0..40_u8 {
        let place = images.join(["dark", "light"][usize::from(at % 2)]);
        fs::create_dir_all(&place).unwrap();
        let level = if at % 2 == 0 { at } else { 255 - at };
        fs::write(place.join(format!("{at}.png")), crate::images::png(level)).unwrap();
    }
    let schema = folder.join("images.toml");
    fs::write(&schema, "image = { width = 8, height = 8, channels = 1 }\n").unwrap();
    let pattern = texts.join("*.jsonl");
    let kinds = [
        vec![
            "--jsonl",
            path(&pattern),
            "--text",
            "body",
            "--label",
            "mark",
            "--classes",
            "good,bad",
            "--records",
            "200",
        ],
        vec![
            "--jsonl",
            path(&texts),
            "--text",
            "body",
            "--label",
            "mark",
            "--classes",
            "good,bad",
            "--records",
            "200",
            "--model",
            "embedding-mlp",
            "--hidden",
            "8",
        ],
        vec![
            "--images",
            path(&images),
            "--schema",
            path(&schema),
            "--classes",
            "dark,light",
            "--records",
            "40",
        ],
    ];
    let on_disk = format!("--on-disk={}", folder.join("copies").display());
    for (at, kind) in kinds.iter().enumerate() {
        let train = |name: &str, extra: &[&str]| {
            let out = folder.join(format!("{at}-{name}"));
            let rest = [
                "--noise",
                "1",
                "--steps",
                "5",
                "--batch",
                "16",
                "--seed",
                "1",
                "--out",
                path(&out),
            ];
            summary(&[&["train"], &kind[..], &rest, extra].concat());
            model(&out)
        };
        assert!(
            train("memory", &[]) == train("disk", &[&on_disk]),
            "{kind:?}"
        );
    }
}

#[test]
fn what_is_made_and_where_is_said_and_a_dry_run_makes_nothing() {
    let folder = empty("own", "on-disk-said");
    let (shards, schema) = (shards(&folder), schema_of_patients(&folder));
    let copies = folder.join("copies");
    let on_disk = format!("--on-disk={}", copies.display());
    let out = folder.join("run");
    let arguments = [
        "train",
        "--csv",
        path(&shards),
        "--label",
        "outcome",
        "--schema",
        path(&schema),
        "--estimate-bounds",
        "--steps",
        "2",
        "--noise",
        "4",
        "--out",
        path(&out),
        &on_disk,
    ];
    printed(&[&arguments[..], &["--dry-run"]].concat());
    assert!(!copies.exists());
    let output = tacita(&arguments);
    let said = text(&output.stderr);
    assert!(output.status.success(), "{said}");
    for part in [
        path(&copies),
        "copy of private records",
        "0600",
        "delete the folder",
    ] {
        assert!(said.contains(part), "{part}: {said}");
    }
    // Neither how many records there are nor how much room they take.
    let mut lines = said.lines().filter(|line| line.starts_with("The index"));
    assert!(lines.all(|line| !line.contains("800")), "{said}");
    fs::remove_file(shards.join("part-1.csv")).unwrap();
    let again = folder.join("again");
    let mut arguments = arguments;
    arguments[arguments.len() - 2] = path(&again);
    refused(&arguments, &["part-1.csv", "Nothing was spent"]);
    assert!(!again.exists());
    refused(
        &["train", "--data", "digits", "--on-disk"],
        &["--on-disk", "your own data"],
    );
}

/// A run that was begun in memory is resumed on a disk, and gives the model of an unbroken one.
#[test]
#[cfg(unix)]
fn a_run_that_was_stopped_is_resumed_on_a_disk() {
    let folder = empty("own", "on-disk-resumed");
    let (shards, schema) = (shards(&folder), schema_of_patients(&folder));
    let schema_text = fs::read_to_string(&schema).unwrap();
    fs::write(
        &schema,
        schema_text.replace("kind = \"numeric\"", "min = 0\nmax = 9000"),
    )
    .unwrap();
    let arguments = |out: &Path| -> Vec<String> {
        [
            "train",
            "--quiet",
            "--csv",
            path(&shards),
            "--label",
            "outcome",
            "--schema",
            path(&schema),
            "--noise",
            "2",
            "--steps",
            "2000",
            "--batch",
            "64",
            "--seed",
            "3",
            "--out",
            path(out),
        ]
        .map(String::from)
        .to_vec()
    };
    let (unbroken, stopped) = (folder.join("unbroken"), folder.join("stopped"));
    let given = arguments(&unbroken);
    printed(&given.iter().map(String::as_str).collect::<Vec<_>>());
    let given = arguments(&stopped);
    let child = command(&given.iter().map(String::as_str).collect::<Vec<_>>())
        .spawn()
        .unwrap();
    while !stopped.join("checkpoint.safetensors").exists() {
        std::thread::sleep(Duration::from_millis(5));
    }
    interrupt(&child);
    child.wait_with_output().unwrap();
    let on_disk = format!("--on-disk={}", folder.join("copies").display());
    printed(&["resume", "--quiet", path(&stopped), &on_disk]);
    assert!(model(&stopped) == model(&unbroken));
}
