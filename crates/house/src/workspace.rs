//! The crates of the workspace and those beside it, as trees of modules.

use crate::repository::Repository;
use crate::source::Crate;
use anyhow::{Context, Result};

/// Every library and program under `crates/`. A program beside a library has the suffix ` (program)`.
pub fn targets(repository: &Repository) -> Result<Vec<Crate>> {
    let mut targets = vec![];
    for manifest in repository.files().filter(|file| is_manifest(file)) {
        let folder = manifest.trim_end_matches("/Cargo.toml");
        let name =
            package_name(&repository.read(manifest)?).with_context(|| manifest.to_string())?;
        let library = format!("{folder}/src/lib.rs");
        let program = format!("{folder}/src/main.rs");
        let read = |file: &str| {
            repository
                .has(file)
                .then(|| repository.read(file).ok())
                .flatten()
        };
        if repository.has(&library) {
            targets.push(Crate::parse(&name, &library, &read)?);
        }
        if repository.has(&program) {
            let name = if repository.has(&library) {
                format!("{name} (program)")
            } else {
                name
            };
            targets.push(Crate::parse(&name, &program, &read)?);
        }
    }
    Ok(targets)
}

fn is_manifest(file: &str) -> bool {
    file.strip_prefix("crates/")
        .and_then(|rest| rest.strip_suffix("/Cargo.toml"))
        .is_some_and(|name| !name.contains('/'))
}

/// The name in a manifest.
pub fn package_name(manifest: &str) -> Result<String> {
    let table: toml::Table = manifest.parse()?;
    let name = table.get("package").and_then(|package| package.get("name"));
    Ok(name
        .and_then(toml::Value::as_str)
        .context("a manifest without a name")?
        .to_string())
}
