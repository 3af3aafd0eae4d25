//! Says which commit the program is built from, if git is there and knows.
//!
//! In a clone the variable is set to nothing (`.cargo/config.toml`), so that a commit compiles nothing anew; `cargo install`
//! from elsewhere finds it out.

use std::env;
use std::process::Command;

const COMMIT: &str = "TACITA_COMMIT";

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-env-changed={COMMIT}");
    if env::var_os(COMMIT).is_some() {
        return;
    }
    // Not the commit of a repository that this one was copied into.
    let ours = git(&["ls-files", "--error-unmatch", "build.rs"]).is_some();
    let commit = git(&[
        "describe",
        "--always",
        "--abbrev=12",
        "--dirty=-modified",
        "--exclude=*",
    ]);
    if let (true, Some(commit)) = (ours, commit) {
        println!("cargo::rustc-env={COMMIT}={commit}");
        if let Some(log) = git(&["rev-parse", "--git-path", "logs/HEAD"]) {
            println!("cargo::rerun-if-changed={log}");
        }
    }
}

/// What git says; none if it is not there or refuses.
fn git(arguments: &[&str]) -> Option<String> {
    let output = Command::new("git").args(arguments).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    let text = text.trim();
    (output.status.success() && !text.is_empty()).then(|| text.to_string())
}
