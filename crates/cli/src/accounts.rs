//! Where the accounts of data sets lie, and what the ledgers of earlier runs know of them.

use crate::run_files::RunFiles;
use anyhow::{Context, Result, ensure};
use std::fs;
use std::path::{Path, PathBuf};
use tacita::AccountOfRun;

/// The file of an account and the folder where its head is kept too.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AccountPlace {
    /// The file.
    pub file: PathBuf,
    /// The folder of witnesses: in the user's state folder, wherever the file is.
    pub witnesses: PathBuf,
}

/// How the file of an account ends.
const ENDING: &str = "jsonl";

impl AccountPlace {
    /// The place of an account by its name, in the user's state folder, or by the path of its file.
    pub fn of(given: &str) -> Result<Self> {
        let state = state_folder()?;
        let file = match is_path(given) {
            true => PathBuf::from(given),
            false => {
                ensure!(
                    is_name(given),
                    "{given:?} is no name for an account: use letters, digits, dots, hyphens and underscores, or the \
                     path of a file that ends in .{ENDING}"
                );
                state.join("accounts").join(format!("{given}.{ENDING}"))
            }
        };
        Ok(Self {
            file,
            witnesses: state.join("heads"),
        })
    }

    /// The accounts in the user's state folder, by name.
    pub fn names() -> Result<Vec<String>> {
        let folder = state_folder()?.join("accounts");
        let Ok(entries) = fs::read_dir(&folder) else {
            return Ok(Vec::new());
        };
        let files = entries.filter_map(|entry| Some(entry.ok()?.path()));
        let mut names: Vec<String> = files
            .filter(|file| file.extension().is_some_and(|ending| ending == ENDING))
            .filter_map(|file| Some(file.file_stem()?.to_str()?.to_string()))
            .collect();
        names.sort();
        Ok(names)
    }
}

/// What may be published of the name or path that was given.
pub fn public_name(given: &str) -> String {
    match is_path(given) {
        true => (Path::new(given).file_stem())
            .map_or_else(String::new, |stem| stem.to_string_lossy().into_owned()),
        false => given.to_string(),
    }
}

fn is_path(given: &str) -> bool {
    given.contains(['/', '\\']) || given.ends_with(&format!(".{ENDING}"))
}

fn is_name(given: &str) -> bool {
    let letter = |letter: char| letter.is_alphanumeric() || ".-_".contains(letter);
    !given.is_empty() && !given.starts_with('.') && given.chars().all(letter)
}

/// The folder in which programs keep what must outlive them (XDG Base Directory Specification).
fn state_folder() -> Result<PathBuf> {
    let set = |name: &str| {
        let value = std::env::var_os(name).filter(|value| !value.is_empty());
        value.map(PathBuf::from)
    };
    let xdg = set("XDG_STATE_HOME").filter(|path| path.is_absolute());
    let folder = (xdg.or_else(|| Some(set("HOME")?.join(".local/state"))))
        .or_else(|| set("LOCALAPPDATA"))
        .context(
            "there is no folder for the state of programs: set XDG_STATE_HOME to one. Nothing was spent",
        )?;
    Ok(folder.join("tacita"))
}

/// What the ledgers of runs in the same folder as this one know of accounts. Those that cannot be read know nothing.
pub fn seen_beside(run: &Path) -> Vec<AccountOfRun> {
    let parent = match run.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    let Ok(entries) = fs::read_dir(parent) else {
        return Vec::new();
    };
    let folders = entries.filter_map(|entry| Some(entry.ok()?.path()));
    folders
        .filter_map(|folder| tacita::read_ledger_file(&RunFiles::of(&folder).ledger()).ok())
        .filter_map(|ledger| ledger.label.account.map(|account| *account))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_names_and_paths_are_paths() {
        for name in ["patients", "trial-7", "a.b_c", "Größe"] {
            assert!(is_name(name) && !is_path(name), "{name}");
            assert_eq!(public_name(name), name);
        }
        for path in [
            "a/b",
            "./a.jsonl",
            "a.jsonl",
            "C:\\a",
            "/srv/secret/a.jsonl",
        ] {
            assert!(is_path(path), "{path}");
        }
        assert_eq!(public_name("/srv/secret/patients.jsonl"), "patients");
        for bad in ["", "..", ".hidden", "a b", "a\nb"] {
            assert!(!is_name(bad), "{bad:?}");
        }
    }
}
