//! Runs that die or are stopped at any moment, and are resumed.
#![cfg(unix)]
#![allow(clippy::unwrap_used, missing_docs)]

mod common;

use common::{command, fresh, interrupt, json, path, refused, summary, text};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Child;
use std::thread::sleep;
use std::time::Duration;

/// A small model, so that a run lasts about as long as it takes to start.
const SMALL: [&str; 11] = [
    "train", "--quiet", "--model", "logistic", "--batch", "64", "--noise", "2", "--delta", "1e-5",
    "--steps",
];

fn small<'a>(steps: &'a str, extra: &[&'a str], out: &'a Path) -> Vec<&'a str> {
    [&SMALL[..], &[steps], extra, &["--out", path(out)]].concat()
}

/// Numbers from a fixed seed; when the moments they give fall is up to the machine.
struct Moments(u64);

impl Moments {
    fn next(&mut self, below_milliseconds: u64) -> Duration {
        self.0 = self
            .0
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        Duration::from_millis((self.0 >> 33) % below_milliseconds)
    }
}

/// True if the process was still at work when it was killed; it must not have failed by itself.
fn kill_after(mut child: Child, wait: Duration) -> bool {
    sleep(wait);
    let died = child.try_wait().unwrap();
    if died.is_none() {
        child.kill().unwrap();
    }
    let output = child.wait_with_output().unwrap();
    assert!(
        died.is_none() || output.status.success(),
        "{}",
        text(&output.stderr)
    );
    died.is_none()
}

/// Starts a run, or resumes it if it got so far that it can be.
fn start_or_resume(steps: &str, extra: &[&str], out: &Path) -> Child {
    if out.join("run.json").exists() {
        return command(&["resume", "--quiet", path(out)]).spawn().unwrap();
    }
    // It died before its record was written: nothing was spent.
    if let Ok(ledger) = tacita::read_ledger_file(&out.join("ledger.jsonl")) {
        assert_eq!(ledger.released.rounds_made(), 0);
    }
    if out.exists() {
        fs::remove_dir_all(out).unwrap();
    }
    command(&small(steps, extra, out)).spawn().unwrap()
}

fn model(out: &Path) -> Vec<u8> {
    fs::read(out.join("model.safetensors")).unwrap()
}

#[test]
fn a_fixed_seed_run_killed_at_random_moments_ends_as_an_unbroken_one() {
    let extra = [
        "--seed",
        "5",
        "--checkpoint-every",
        "7",
        "--clipping",
        "quantile:0.5",
        "--average",
        "0.9",
    ];
    let unbroken = fresh("resume", "unbroken");
    common::printed(&small("200", &extra, &unbroken));

    let mut moments = Moments(1);
    let mut kills = 0;
    while kills < 30 {
        let out = fresh("resume", "killed");
        for _ in 0..6 {
            let child = start_or_resume("200", &extra, &out);
            kills += u32::from(kill_after(child, moments.next(500)));
        }
        let end = start_or_resume("200", &extra, &out)
            .wait_with_output()
            .unwrap();
        assert!(end.status.success(), "{}", text(&end.stderr));
        for name in [
            "model.safetensors",
            "facts.json",
            "metrics.jsonl",
            "report.json",
        ] {
            let [one, other] = [&unbroken, &out].map(|out| {
                let file = out.join(name);
                match name {
                    // The ledger tells of the kills, and so does its hash.
                    "report.json" => {
                        let mut report = json(&file);
                        report["files"]["ledger_sha256"].take();
                        report.to_string().into_bytes()
                    }
                    _ => fs::read(file).unwrap(),
                }
            });
            assert!(one == other, "{name} differs after kills");
        }
    }
}

#[test]
fn a_private_run_killed_at_random_moments_goes_on_and_never_unspends() {
    let mut moments = Moments(2);
    let (mut kills, mut runs) = (0, 0);
    while kills < 25 {
        let out = fresh("resume", "private");
        let mut spent = 0;
        let mut plan = None;
        for _ in 0..8 {
            let child = start_or_resume("300", &[], &out);
            kills += u32::from(kill_after(child, moments.next(500)));
            let ledger = out.join("ledger.jsonl");
            let begun = fs::read(&ledger).is_ok_and(|bytes| bytes.contains(&b'\n'));
            if !begun {
                continue;
            }
            let record = tacita::read_ledger_file(&ledger).unwrap();
            let steps = record.released.rounds_made();
            assert!(record.private && steps >= spent, "{spent} {steps}");
            assert_eq!(record.released, record.plan.prefix(steps));
            assert_eq!(*plan.get_or_insert(record.plan.clone()), record.plan);
            spent = steps;
        }
        let end = start_or_resume("300", &[], &out)
            .wait_with_output()
            .unwrap();
        assert!(end.status.success(), "{}", text(&end.stderr));
        let record = tacita::read_ledger_file(&out.join("ledger.jsonl")).unwrap();
        assert_eq!(record.released, record.plan);
        assert_eq!(json(&out.join("facts.json"))["rounds_made"], 300);
        runs += 1;
    }
    assert!(runs > 0);
}

/// Waits until a run has made steps.
fn under_way(out: &Path) {
    for _ in 0..2000 {
        let metrics = fs::read_to_string(out.join("metrics.jsonl")).unwrap_or_default();
        if metrics.lines().count() > 3 {
            return;
        }
        sleep(Duration::from_millis(5));
    }
    panic!("no step was made");
}

/// A private run that was killed after some steps.
fn killed(name: &str, extra: &[&str]) -> PathBuf {
    let out = fresh("resume", name);
    let mut child = command(&small("8000", extra, &out)).spawn().unwrap();
    under_way(&out);
    child.kill().unwrap();
    child.wait().unwrap();
    out
}

fn copied(from: &Path, name: &str) -> PathBuf {
    let to = common::empty("resume", name);
    for file in common::files(from) {
        fs::copy(from.join(&file), to.join(&file)).unwrap();
    }
    to
}

#[test]
fn a_resumed_private_run_takes_fresh_keys() {
    let out = fresh("resume", "keys");
    let mut child = command(&small("400", &[], &out)).spawn().unwrap();
    under_way(&out);
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(
        !out.join("model.safetensors").exists(),
        "the run was too quick to be killed"
    );
    let other = copied(&out, "keys-copy");
    for out in [&out, &other] {
        common::printed(&["resume", "--quiet", path(out)]);
    }
    assert_ne!(model(&out), model(&other));
}

#[test]
fn ctrl_c_checkpoints_says_what_was_spent_and_the_run_can_be_resumed() {
    let extra = ["--seed", "3"];
    let unbroken = fresh("resume", "uninterrupted");
    common::printed(&small("1000", &extra, &unbroken));
    let out = fresh("resume", "interrupted");
    let child = command(&small("1000", &extra, &out)).spawn().unwrap();
    under_way(&out);
    interrupt(&child);
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130), "{}", text(&output.stderr));
    let said = text(&output.stdout);
    for part in [
        "Stopped after",
        "of 1000 steps",
        "ε ≈",
        "tacita resume",
        "report.html",
    ] {
        assert!(said.contains(part), "{part}: {said}");
    }
    let steps: u64 = said.split_whitespace().nth(2).unwrap().parse().unwrap();
    assert!(steps > 0 && steps < 1000, "{said}");
    let record = tacita::read_ledger_file(&out.join("ledger.jsonl")).unwrap();
    assert_eq!(record.released.rounds_made(), steps);
    let report = json(&out.join("report.json"));
    assert_eq!(report["facts"]["rounds_made"], steps);

    let summary = summary(&["resume", path(&out)]);
    assert_eq!(summary["steps"], 1000);
    assert!(model(&out) == model(&unbroken));
}

/// With a fixed seed a resumed run goes back behind what its ledger holds; stopping there must not
/// spoil the ledger.
#[test]
fn a_run_that_went_back_can_be_stopped_and_resumed() {
    let out = killed("back", &["--seed", "3", "--checkpoint-every", "7000"]);
    let child = command(&["resume", "--quiet", path(&out)]).spawn().unwrap();
    sleep(Duration::from_millis(400));
    interrupt(&child);
    let output = child.wait_with_output().unwrap();
    // If it was stopped before it listened, it ended by the signal itself; a fast machine may be done.
    assert!(
        matches!(output.status.code(), Some(0 | 130) | None),
        "{}",
        text(&output.stderr)
    );
    tacita::read_ledger_file(&out.join("ledger.jsonl")).unwrap();
    // It resumes: killed on the way, or at its end.
    let child = command(&["resume", "--quiet", path(&out)]).spawn().unwrap();
    kill_after(child, Duration::from_millis(500));
}

#[test]
fn two_processes_cannot_write_one_run_folder() {
    let out = fresh("resume", "two");
    let mut child = command(&small("8000", &[], &out)).spawn().unwrap();
    under_way(&out);
    let before = fs::read(out.join("metrics.jsonl")).unwrap();
    refused(
        &["resume", "--quiet", path(&out)],
        &["in use by another process", path(&out)],
    );
    refused(&small("8000", &[], &out), &["exists already"]);
    let after = fs::read(out.join("metrics.jsonl")).unwrap();
    assert!(after.starts_with(&before));
    assert!(child.try_wait().unwrap().is_none());
    child.kill().unwrap();
    child.wait().unwrap();
    // The lock went with its holder.
    let child = command(&["resume", "--quiet", path(&out)]).spawn().unwrap();
    kill_after(child, Duration::from_millis(300));
}

#[test]
fn a_ledger_that_was_edited_is_behind_or_is_another_is_refused() {
    let out = killed("edited", &["--checkpoint-every", "5"]);
    let file = out.join("ledger.jsonl");
    let ledger = fs::read_to_string(&file).unwrap();
    let other = killed("edited-other", &["--clipping", "quantile:0.5"]);
    let header = ledger.lines().next().unwrap();
    let cases = [
        (
            ledger.replacen("\"steps\":80", "\"steps\":79", 1),
            "changed or damaged",
        ),
        (
            ledger.replacen("\"private\":true", "\"private\":false", 1),
            "changed or damaged",
        ),
        (
            ledger.replacen("\"first\":0", "\"first\":1", 1),
            "changed or damaged",
        ),
        (format!("{header}\n"), "entries have been lost or removed"),
        (
            fs::read_to_string(other.join("ledger.jsonl")).unwrap(),
            "not the one that the ledger binds",
        ),
        (String::new(), "lost or removed, and the run has made steps"),
        (
            header[..20].to_string(),
            "lost or removed, and the run has made steps",
        ),
        ("\n".into(), "changed or damaged"),
    ];
    let untouched = common::files(&out);
    for (content, wanted) in cases {
        if content == ledger {
            panic!("the case for “{wanted}” changes nothing: {header}");
        }
        fs::write(&file, &content).unwrap();
        refused(&["resume", "--quiet", path(&out)], &[wanted]);
        assert_eq!(fs::read_to_string(&file).unwrap(), content);
        assert_eq!(common::files(&out), untouched);
    }
    fs::remove_file(&file).unwrap();
    refused(&["resume", "--quiet", path(&out)], &["ledger.jsonl"]);
    // The checkpoint of another run, and none.
    fs::write(&file, &ledger).unwrap();
    let checkpoint = out.join("checkpoint.safetensors");
    fs::write(&checkpoint, "{}").unwrap();
    refused(
        &["resume", "--quiet", path(&out)],
        &["checkpoint.safetensors"],
    );
    fs::remove_file(&checkpoint).unwrap();
    refused(
        &["resume", "--quiet", path(&out)],
        &["checkpoint.safetensors"],
    );
    assert_eq!(fs::read_to_string(&file).unwrap(), ledger);
}

#[test]
fn settings_that_were_edited_do_not_resume_under_the_old_ledger() {
    let out = killed("settings", &[]);
    let file = out.join("run.json");
    let record = fs::read_to_string(&file).unwrap();
    for (from, to, wanted) in [
        ("\"scale\": 2.0", "\"scale\": 1.9", "ledger binds"),
        ("\"batch\": 64", "\"batch\": 60", "ledger binds"),
        ("\"seed\": null", "\"seed\": 1", "ledger binds"),
        ("\"origin\": \"", "\"origin\": \"other ", "ledger binds"),
        ("\"name\"", "\"nme\"", "nme"),
    ] {
        let edited = record.replacen(from, to, 1);
        assert_ne!(edited, record, "{from}");
        fs::write(&file, edited).unwrap();
        refused(&["resume", "--quiet", path(&out)], &[wanted]);
    }
}

/// Once a run has made steps, no selection of its files makes it train anew under the budget it has spent.
#[test]
fn a_run_without_its_ledger_is_refused_whatever_else_is_missing() {
    let out = killed("lost", &[]);
    for gone in [
        &["ledger.jsonl"][..],
        &["ledger.jsonl", "checkpoint.safetensors"],
        &["ledger.jsonl", "checkpoint.safetensors", "metrics.jsonl"],
    ] {
        let copy = copied(&out, "lost-copy");
        for name in gone {
            fs::remove_file(copy.join(name)).unwrap();
        }
        let before = common::files(&copy);
        refused(
            &["resume", "--quiet", path(&copy)],
            &[
                "ledger.jsonl is missing or empty",
                "lost or removed",
                "start a new run",
            ],
        );
        assert_eq!(common::files(&copy), before);
    }
}

fn modified(path: &Path) -> std::time::SystemTime {
    fs::metadata(path).unwrap().modified().unwrap()
}

fn has_one_time(out: &Path) {
    for name in common::files(out) {
        assert_eq!(modified(&out.join(&name)), std::time::UNIX_EPOCH, "{name}");
    }
    assert_eq!(modified(out), std::time::UNIX_EPOCH);
}

/// However a run ends; only the folder of a killed one keeps its time until it is resumed or reported on.
#[test]
fn files_have_one_time_after_a_stop_an_error_a_kill_and_a_resume() {
    let out = fresh("resume", "times");
    let child = command(&small("8000", &[], &out)).spawn().unwrap();
    under_way(&out);
    interrupt(&child);
    assert_eq!(child.wait_with_output().unwrap().status.code(), Some(130));
    has_one_time(&out);
    // An error: the checkpoint is damaged.
    let damaged = copied(&out, "times-damaged");
    fs::write(damaged.join("checkpoint.safetensors"), "{}").unwrap();
    refused(&["resume", "--quiet", path(&damaged)], &["checkpoint"]);
    has_one_time(&damaged);
    let dead = fresh("resume", "times-killed");
    let mut child = command(&small("1000", &[], &dead)).spawn().unwrap();
    under_way(&dead);
    child.kill().unwrap();
    child.wait().unwrap();
    // The one that was being written may have a time of its own, which tells no span.
    let mut others = common::files(&dead);
    others.retain(|name| modified(&dead.join(name)) != std::time::UNIX_EPOCH);
    assert!(others.len() <= 1, "{others:?}");
    assert_ne!(modified(&dead), std::time::UNIX_EPOCH);
    common::printed(&["resume", "--quiet", path(&dead)]);
    has_one_time(&dead);
    // As an earlier version left it.
    fs::write(dead.join("notes"), "").unwrap();
    common::printed(&["report", path(&dead)]);
    has_one_time(&dead);
}
