//! A disk that fills up at any moment of a run.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, missing_docs)]

mod common;

use common::{empty, fresh, path, printed, tacita, text};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A file system in memory, taken away at the end.
struct SmallDisk(PathBuf);

impl SmallDisk {
    /// Nothing if this user cannot mount one.
    fn new(name: &str, size: &str) -> Option<Self> {
        let at = empty("disk-full", name);
        let options = format!("size={size}");
        let mounted = Command::new("mount")
            .args(["-t", "tmpfs", "-o", &options, "tmpfs"])
            .arg(&at)
            .output()
            .ok()?;
        mounted.status.success().then_some(Self(at))
    }

    /// Leaves so many bytes free.
    fn fill(&self, free: usize) {
        let filler = self.0.join("filler");
        let mut length = 1 << 20;
        fs::write(&filler, vec![0; length]).ok();
        length = fs::metadata(&filler).unwrap().len() as usize;
        let file = fs::OpenOptions::new().write(true).open(&filler).unwrap();
        file.set_len(length.saturating_sub(free) as u64).unwrap();
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        Command::new("umount").arg("-l").arg(&self.0).status().ok();
    }
}

fn arguments(out: &Path) -> Vec<&str> {
    let run = "train --quiet --model logistic --batch 64 --noise 2 --delta 1e-5 --steps 20 --seed 4 --out";
    run.split(' ').chain([path(out)]).collect()
}

#[test]
fn a_full_disk_is_named_and_the_run_goes_on_when_there_is_space() {
    let Some(disk) = SmallDisk::new("disk", "256k") else {
        eprintln!("skipped: this user cannot mount a small file system");
        return;
    };
    let whole = fresh("disk-full", "whole");
    printed(&arguments(&whole));
    let wanted = fs::read(whole.join("model.safetensors")).unwrap();
    let (mut refused, mut resumed) = (0, 0);
    for free in (0..128).step_by(4) {
        disk.fill(free << 10);
        let out = disk.0.join("run");
        let output = tacita(&arguments(&out));
        let message = text(&output.stderr);
        if output.status.success() {
            fs::remove_dir_all(&out).unwrap();
            break;
        }
        assert_eq!(output.status.code(), Some(2), "{free} KiB: {message}");
        assert!(message.contains("No space left"), "{free} KiB: {message}");
        if out.exists() {
            assert!(message.contains("tacita resume"), "{free} KiB: {message}");
            assert!(
                common::files(&out)
                    .iter()
                    .all(|name| !name.ends_with(".new"))
            );
            // Still full: refused again, and no harm done.
            let again = tacita(&["resume", "--quiet", path(&out)]);
            assert_eq!(again.status.code(), Some(2), "{}", text(&again.stderr));
            disk.fill(200 << 10);
            printed(&["resume", "--quiet", path(&out)]);
            assert!(fs::read(out.join("model.safetensors")).unwrap() == wanted);
            fs::remove_dir_all(&out).unwrap();
            resumed += 1;
        } else {
            refused += 1;
        }
    }
    assert!(refused > 0 && resumed > 2, "{refused} {resumed}");
}

/// A copy of records for which there is no room is an error, and nothing of it stays.
#[test]
fn a_disk_too_small_for_a_copy_of_the_records_is_named() {
    let Some(disk) = SmallDisk::new("copy", "64k") else {
        eprintln!("skipped: this user cannot mount a small file system");
        return;
    };
    let folder = empty("disk-full", "copied");
    let lines: String = (0..20_000)
        .map(|at| format!("{},{}\n", at % 90, at % 2))
        .collect();
    let table = folder.join("table.csv");
    fs::write(&table, format!("age,ill\n{lines}")).unwrap();
    let schema = folder.join("schema.toml");
    fs::write(&schema, "records = 20000\n[label]\ncolumn = \"ill\"\nclasses = [\"0\", \"1\"]\n[columns.age]\nmin = 0\nmax = 90\n")
        .unwrap();
    let (out, copies) = (folder.join("run"), disk.0.join("copies"));
    let on_disk = format!("--on-disk={}", copies.display());
    let output = tacita(&[
        "train",
        "--quiet",
        "--csv",
        path(&table),
        "--schema",
        path(&schema),
        "--noise",
        "2",
        "--steps",
        "2",
        "--out",
        path(&out),
        &on_disk,
    ]);
    let message = text(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{message}");
    for part in ["No space left", "--on-disk=DIR", "Nothing was spent"] {
        assert!(message.contains(part), "{part}: {message}");
    }
    assert!(!out.exists());
    let left: Vec<_> = fs::read_dir(&copies)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    assert!(
        left.iter()
            .all(|path| path.extension().is_some_and(|end| end == "lock")),
        "{left:?}"
    );
}
