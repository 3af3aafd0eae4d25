//! The files of a table or of texts: one, those of a folder, or those of a pattern.

use super::format::Format;
use crate::formats::compressed;
use anyhow::{Context, Result, ensure};
use std::fs;
use std::path::{Path, PathBuf};

/// The files in the order of their names, which is the order of their records. A folder gives its visible files of the
/// format, a pattern such as `DIR/*/part-?.parquet` the files it matches; one file is itself.
///
/// A record is in one file, so two names of the same file are refused.
pub fn shards(path: &Path, format: Format) -> Result<Vec<PathBuf>> {
    let mut files = if path.is_dir() {
        in_folder(path, format)?
    } else if path.as_os_str() != "-" && !path.exists() && is_pattern(path) {
        matching(path)?
    } else {
        return Ok(vec![path.to_path_buf()]);
    };
    files.sort();
    check_distinct(&files)?;
    Ok(files)
}

fn is_pattern(path: &Path) -> bool {
    path.to_string_lossy().contains(['*', '?', '['])
}

fn in_folder(folder: &Path, format: Format) -> Result<Vec<PathBuf>> {
    let unreadable = || format!("cannot read the folder {}", folder.display());
    let entries = fs::read_dir(folder).with_context(unreadable)?;
    let paths = entries.map(|entry| Ok(entry?.path()));
    let mut files: Vec<PathBuf> =
        (paths.collect::<std::io::Result<Vec<_>>>()).with_context(unreadable)?;
    files.retain(|path| is_shard(path, format) && path.is_file());
    ensure!(
        !files.is_empty(),
        "there is no {} file in the folder {}; for those in its folders give a pattern: '{}/*/*'",
        match format {
            Format::Csv => "CSV",
            Format::Jsonl => "JSON lines",
            Format::Parquet => "Parquet",
        },
        folder.display(),
        folder.display()
    );
    Ok(files)
}

/// Whether the name of a file in a folder is that of some of the records. Programs leave others beside them, such as
/// `_SUCCESS`.
fn is_shard(path: &Path, format: Format) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    if name.starts_with(['.', '_']) || Format::of(path) != format {
        return false;
    }
    let plain = compressed::plain_name(path);
    let end = plain
        .extension()
        .map(|end| end.to_string_lossy().to_lowercase());
    format != Format::Csv || end.is_some_and(|end| ["csv", "tsv", "txt"].contains(&end.as_str()))
}

fn matching(pattern: &Path) -> Result<Vec<PathBuf>> {
    let text = (pattern.to_str())
        .with_context(|| format!("the pattern {} is not UTF-8", pattern.display()))?;
    let found = glob::glob(text).with_context(|| format!("{text} is no pattern of files"))?;
    let mut files = found.collect::<Result<Vec<_>, _>>()?;
    files.retain(|path| path.is_file());
    ensure!(!files.is_empty(), "no file matches {text}");
    Ok(files)
}

/// Refuses two names of one file, by whatever link.
fn check_distinct(files: &[PathBuf]) -> Result<()> {
    let mut seen = std::collections::HashMap::new();
    for file in files {
        if let Some(other) = seen.insert(identity(file)?, file) {
            anyhow::bail!(
                "{} and {} are the same file, so its records would be there twice; remove one",
                other.display(),
                file.display()
            );
        }
    }
    Ok(())
}

#[cfg(unix)]
fn identity(file: &Path) -> Result<(u64, u64)> {
    use std::os::unix::fs::MetadataExt;
    let found = fs::metadata(file).with_context(|| format!("cannot read {}", file.display()))?;
    Ok((found.dev(), found.ino()))
}

#[cfg(not(unix))]
fn identity(file: &Path) -> Result<PathBuf> {
    fs::canonicalize(file).with_context(|| format!("cannot read {}", file.display()))
}
