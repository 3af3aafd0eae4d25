//! What the tests of the command share.
#![allow(dead_code, clippy::unwrap_used)]

use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

/// A folder that does not exist yet, in an own corner of the target directory.
pub fn fresh(corner: &str, name: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR"))
        .join(corner)
        .join(name);
    if path.exists() {
        fs::remove_dir_all(&path).unwrap();
    }
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    path
}

/// An empty folder.
pub fn empty(corner: &str, name: &str) -> PathBuf {
    let path = fresh(corner, name);
    fs::create_dir_all(&path).unwrap();
    path
}

/// The command, not yet started, with nothing to see on the terminal.
pub fn command(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tacita"));
    command
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

pub fn tacita(arguments: &[&str]) -> Output {
    command(arguments).output().unwrap()
}

pub fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

/// What a command that must succeed prints.
pub fn printed(arguments: &[&str]) -> String {
    let output = tacita(arguments);
    let message = text(&output.stderr);
    assert!(output.status.success(), "{arguments:?}: {message}");
    text(&output.stdout)
}

/// The summary of a run that must succeed and say nothing else.
pub fn summary(arguments: &[&str]) -> Value {
    let arguments = [arguments, &["--json", "--quiet"]].concat();
    let output = tacita(&arguments);
    let message = text(&output.stderr);
    assert!(output.status.success(), "{arguments:?}: {message}");
    assert_eq!(message, "");
    serde_json::from_slice(&output.stdout).unwrap()
}

/// The message of a command that must refuse, as a user's mistake and not as a crash.
pub fn refused(arguments: &[&str], wanted: &[&str]) -> String {
    let output = tacita(arguments);
    let message = text(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{arguments:?}: {message}");
    assert_eq!(text(&output.stdout), "", "{arguments:?}");
    assert!(message.starts_with("error: "), "{arguments:?}: {message}");
    for part in wanted {
        assert!(message.contains(part), "{arguments:?}: {part}: {message}");
    }
    message
}

pub fn json(path: &Path) -> Value {
    serde_json::from_slice(&fs::read(path).unwrap()).unwrap()
}

/// The names of the files in a folder.
pub fn files(folder: &Path) -> BTreeSet<String> {
    fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect()
}

pub fn path(path: &Path) -> &str {
    path.to_str().unwrap()
}

/// Ctrl-C.
pub fn interrupt(child: &Child) {
    let pid = child.id().to_string();
    let sent = Command::new("kill").args(["-INT", &pid]).status().unwrap();
    assert!(sent.success());
}
