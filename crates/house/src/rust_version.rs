//! One minimum version of Rust, in the manifest and wherever a document names it.

use crate::repository::Repository;
use anyhow::{Context, Result};

/// Versions that `text` names in words like “Rust 1.95”.
pub fn named_in(text: &str) -> Vec<String> {
    text.match_indices("Rust 1.")
        .map(|(start, found)| {
            let rest = &text[start + found.len()..];
            let end = rest
                .find(|sign: char| !sign.is_ascii_digit())
                .unwrap_or(rest.len());
            format!("1.{}", &rest[..end])
        })
        .collect()
}

/// Documents and manifests that name another version than the workspace's `rust-version`.
pub fn problems(repository: &Repository) -> Result<Vec<String>> {
    let manifest: toml::Table = repository.read("Cargo.toml")?.parse()?;
    let version = manifest
        .get("workspace")
        .and_then(|workspace| workspace.get("package")?.get("rust-version")?.as_str())
        .context("the workspace has no rust-version")?;
    let mut problems = vec![];
    let mut named = 0;
    for file in repository
        .with_extension("md")
        .filter(|file| *file != "CHANGELOG.md")
    {
        for other in named_in(&repository.read(file)?) {
            named += 1;
            if other != version {
                problems.push(format!(
                    "{file} asks for Rust {other}, Cargo.toml for {version}"
                ));
            }
        }
    }
    for file in repository
        .files()
        .filter(|file| file.ends_with("/Cargo.toml"))
    {
        let manifest: toml::Table = repository.read(file)?.parse()?;
        let own = manifest
            .get("package")
            .and_then(|package| package.get("rust-version")?.as_str());
        if let Some(other) = own.filter(|other| *other != version) {
            problems.push(format!(
                "{file} asks for Rust {other}, the workspace for {version}"
            ));
        }
    }
    if named == 0 {
        problems.push(format!("no document says that Rust {version} is needed"));
    }
    Ok(problems)
}
