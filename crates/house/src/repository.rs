//! The files of this repository.

use anyhow::{Context, Result, bail};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A working copy and the files that git knows of or would add.
#[derive(Debug)]
pub struct Repository {
    root: PathBuf,
    files: Vec<String>,
}

impl Repository {
    /// The repository that holds this crate.
    pub fn here() -> Result<Self> {
        Self::open(Path::new(env!("CARGO_MANIFEST_DIR")).join("../.."))
    }

    /// The repository at `root`. Files that git ignores are left out, deleted ones too.
    pub fn open(root: impl Into<PathBuf>) -> Result<Self> {
        let root = fs::canonicalize(root.into()).context("the repository's folder is missing")?;
        let listed = Command::new("git")
            // In a container the files often belong to another user, which git refuses by default.
            .args(["-c", "safe.directory=*", "ls-files", "-z"])
            .args(["--cached", "--others", "--exclude-standard"])
            .current_dir(&root)
            .output()
            .context("git is needed to list the files of the repository")?;
        if !listed.status.success() {
            bail!(
                "git ls-files failed in {}: {}",
                root.display(),
                String::from_utf8_lossy(&listed.stderr)
            );
        }
        let mut files: Vec<String> = String::from_utf8(listed.stdout)?
            .split('\0')
            .filter(|file| !file.is_empty() && root.join(file).is_file())
            .map(str::to_owned)
            .collect();
        files.sort();
        files.dedup();
        Ok(Self { root, files })
    }

    /// Every file, relative to the root, in order.
    pub fn files(&self) -> impl Iterator<Item = &str> {
        self.files.iter().map(String::as_str)
    }

    /// Every file whose name ends in `.extension`.
    pub fn with_extension(&self, extension: &str) -> impl Iterator<Item = &str> {
        let ending = format!(".{extension}");
        self.files().filter(move |file| file.ends_with(&ending))
    }

    /// Whether `path` is a file of the repository or a folder with one in it.
    pub fn has(&self, path: &str) -> bool {
        let path = path.trim_end_matches('/');
        path.is_empty()
            || self.files().any(|file| {
                file == path
                    || file
                        .strip_prefix(path)
                        .is_some_and(|rest| rest.starts_with('/'))
            })
    }

    /// The text of a file.
    pub fn read(&self, file: &str) -> Result<String> {
        fs::read_to_string(self.root.join(file)).with_context(|| format!("cannot read {file}"))
    }

    /// Replaces the text of a file.
    pub fn write(&self, file: &str, text: &str) -> Result<()> {
        fs::write(self.root.join(file), text).with_context(|| format!("cannot write {file}"))
    }
}
