//! No file speaks of the machine it was written on.

use crate::repository::Repository;
use anyhow::Result;

/// Paths that exist on one machine only. Written in two parts, so that this file does not hold them.
const LOCAL: &[&str] = &[concat!("/wo", "rk/"), concat!("/ro", "ot/")];

/// Lines of `text` that name a local path.
pub fn local_paths(text: &str) -> Vec<usize> {
    let named = |line: &str| LOCAL.iter().any(|path| line.contains(path));
    text.lines()
        .enumerate()
        .filter(|(_, line)| named(line))
        .map(|(number, _)| number + 1)
        .collect()
}

/// Every text file with a local path in it.
pub fn problems(repository: &Repository) -> Result<Vec<String>> {
    let mut problems = vec![];
    for file in repository.files() {
        // What is not text has no words.
        let Ok(text) = repository.read(file) else {
            continue;
        };
        problems.extend(
            local_paths(&text)
                .iter()
                .map(|line| format!("{file}:{line}: a local path")),
        );
    }
    Ok(problems)
}
