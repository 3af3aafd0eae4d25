//! The page of the trusted base is true: it lists every file that must be right for the guarantee,
//! once, with about how many lines of code it has, and gives a reason for every file that it leaves out.
//!
//! The page itself holds the lists. A table row whose first cell is a path in backticks and whose last
//! cell is a number is a file to read, or a folder of another crate. One whose last cell is words says
//! why the files and folders in its first cell need not be read.
//!
//! Numbers are rounded to two significant digits and may be off by a tenth, so that a line more or less
//! in a file concerns nobody. `cargo run -p tacita-house -- trusted-base --write` writes those that are
//! further off, of files, of claims and of all, and leaves the others as they are.

use crate::about::{about, is_about};
use crate::lines::code_lines;
use crate::markdown::{quoted, slug};
use crate::repository::Repository;
use crate::workspace;
use anyhow::{Context, Result};
use std::collections::BTreeMap;

/// The page.
pub const PAGE: &str = "docs/src/audit/trusted-base.md";

/// Crates of which every file is on the page: as one to read, or with a reason why not.
pub const CRATES: &[&str] = &[
    "tacita-accounting",
    "tacita-federated",
    "tacita-kernels",
    "tacita-mechanism",
    "tacita",
];

/// Folders of which every file is one to read.
pub const TO_READ: &[&str] = &[
    "crates/mechanism/src/",
    "crates/tacita/src/mechanism/",
    "crates/tacita/src/sensitivity/",
    "crates/accounting/src/pld/proof/",
    "crates/federated/src/guarantee/",
];

/// How many files, and their lines of code together.
pub type Size = (usize, usize);

/// What a row of the page says.
#[derive(Debug, PartialEq)]
enum Row {
    /// A file to read and the number beside it.
    Read(String, String),
    /// Files and folders that need not be read.
    Skip(Vec<String>),
}

/// Takes a table row apart. Other lines are none.
fn row(line: &str) -> Option<Row> {
    let cells = cells(line)?;
    let (first, last) = (cells.first()?, cells.last()?);
    let paths: Vec<String> = quoted(first)
        .filter(|path| path.starts_with("crates/"))
        .map(str::to_string)
        .collect();
    let is_number = !last.is_empty()
        && last
            .chars()
            .all(|sign| sign.is_ascii_digit() || sign == ',');
    match (paths.len(), is_number) {
        (0, _) => None,
        (1, true) => Some(Row::Read(paths[0].clone(), (*last).to_string())),
        _ => Some(Row::Skip(paths)),
    }
}

fn cells(line: &str) -> Option<Vec<&str>> {
    let inside = line.trim().strip_prefix('|')?.strip_suffix('|')?;
    Some(inside.split('|').map(str::trim).collect())
}

/// Everything on `page` that is not true of `files`, which are the files of the covered crates with
/// their lines of code. Rows may name files and folders of other crates, which `count` knows.
pub fn problems_of(
    page: &str,
    files: &BTreeMap<String, usize>,
    to_read: &[&str],
    count: &dyn Fn(&str) -> Option<Size>,
) -> Vec<String> {
    let mut problems = vec![];
    let mut read: BTreeMap<String, usize> = BTreeMap::new();
    let mut skipped: Vec<String> = vec![];
    for row in page.lines().filter_map(row) {
        match row {
            Row::Read(path, number) => {
                match count(&path) {
                    None => problems.push(format!("{path} is listed and is no file with code")),
                    Some((_, lines)) if !is_about(&number, lines) => {
                        problems.push(format!(
                            "{path} has about {} lines of code, not {number}",
                            about(lines)
                        ));
                    }
                    Some(_) => {}
                }
                *read.entry(path).or_default() += 1;
            }
            Row::Skip(paths) => skipped.extend(paths),
        }
    }
    for (path, times) in read.iter().filter(|(_, times)| **times > 1) {
        problems.push(format!("{path} is listed {times} times"));
    }
    for path in &skipped {
        if !files.keys().any(|file| holds(path, file)) {
            problems.push(format!(
                "{path} is said to be needless to read, and there is no such file"
            ));
        }
        for file in read.keys().filter(|file| holds(path, file)) {
            problems.push(format!(
                "{file} is to be read, and {path} is not: list what need not be by file"
            ));
        }
    }
    for file in files.keys().filter(|file| !read.contains_key(*file)) {
        let must = to_read.iter().any(|folder| file.starts_with(folder));
        let excused = skipped.iter().filter(|path| holds(path, file)).count();
        match (must, excused) {
            (true, _) => problems.push(format!("{file} must be right for the guarantee and is not listed")),
            (false, 0) => problems.push(format!(
                "{file} is not on the page: list it under the claim it serves, or say why it need not be read"
            )),
            (false, 1) => {}
            (false, _) => problems.push(format!("{file} is left out twice")),
        }
    }
    problems
}

/// Whether `path` is `file` or a folder that holds it.
fn holds(path: &str, file: &str) -> bool {
    file.strip_prefix(path.trim_end_matches('/'))
        .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// The page with every number true: of files, of each claim, of all.
pub fn refreshed(page: &str, count: &dyn Fn(&str) -> Option<Size>) -> String {
    let mut sections: BTreeMap<String, Size> = BTreeMap::new();
    let mut section = String::new();
    for line in page.lines() {
        if let Some(heading) = line.strip_prefix("## ") {
            section = slug(heading);
        }
        if let Some(Row::Read(path, _)) = row(line) {
            let entry = sections.entry(section.clone()).or_default();
            *entry = sum(*entry, count(&path).unwrap_or_default());
        }
    }
    let all = sections.values().copied().fold((0, 0), sum);
    let mut lines = vec![];
    let mut section = String::new();
    for line in page.lines() {
        if let Some(heading) = line.strip_prefix("## ") {
            section = slug(heading);
        }
        let part = |name: &str| sections.get(name).copied().unwrap_or_default();
        lines.push(match (row(line), cells(line)) {
            (Some(Row::Read(path, _)), Some(cells)) => match count(&path) {
                Some((_, lines)) => written(&cells, &[lines]),
                None => line.to_string(),
            },
            (_, Some(cells)) if cells[0] == "**Total**" => written(&cells, &[part(&section).1]),
            (_, Some(cells)) if cells[0] == "**All**" => written(&cells, &[all.0, all.1]),
            (_, Some(cells)) => match cells[0]
                .split_once("](#")
                .and_then(|(_, rest)| rest.strip_suffix(')'))
            {
                Some(anchor) => written(&cells, &[part(anchor).0, part(anchor).1]),
                None => line.to_string(),
            },
            _ => line.to_string(),
        });
    }
    lines.join("\n") + "\n"
}

fn sum(a: Size, b: Size) -> Size {
    (a.0 + b.0, a.1 + b.1)
}

/// A row whose last cells are these numbers; a cell that is still about right stays.
fn written(cells: &[&str], numbers: &[usize]) -> String {
    let (kept, old) = cells.split_at(cells.len().saturating_sub(numbers.len()));
    let last = old.iter().zip(numbers).map(|(old, number)| {
        if is_about(old, *number) {
            (*old).to_string()
        } else {
            about(*number)
        }
    });
    let cell = |text: String| {
        if text.is_empty() {
            "| ".into()
        } else {
            format!("| {text} ")
        }
    };
    let kept = kept.iter().map(|text| (*text).to_string());
    format!("{}|", kept.chain(last).map(cell).collect::<String>())
}

/// Every file that is compiled into a run, with its crate and its lines of code.
fn compiled(repository: &Repository) -> Result<Vec<(String, String, usize)>> {
    let mut compiled = vec![];
    for target in workspace::targets(repository)? {
        for file in target.files() {
            let lines = code_lines(&repository.read(file)?).with_context(|| file.to_string())?;
            compiled.push((target.name.clone(), file.to_string(), lines));
        }
    }
    Ok(compiled)
}

/// The size of a file, or of a folder with all that is in it.
fn size(compiled: &[(String, String, usize)], path: &str) -> Option<Size> {
    let inside = compiled.iter().filter(|(_, file, _)| holds(path, file));
    inside.map(|(_, _, lines)| (1, *lines)).reduce(sum)
}

/// What the page of the repository says that is not so.
pub fn problems(repository: &Repository) -> Result<Vec<String>> {
    let page = repository.read(PAGE)?;
    let compiled = compiled(repository)?;
    let covered = compiled
        .iter()
        .filter(|(name, _, _)| CRATES.contains(&name.as_str()));
    let covered = covered
        .map(|(_, file, lines)| (file.clone(), *lines))
        .collect();
    let count = |path: &str| size(&compiled, path);
    let mut problems = problems_of(&page, &covered, TO_READ, &count);
    if problems.is_empty() && refreshed(&page, &count) != page {
        problems.push("totals are out of date".into());
    }
    if !problems.is_empty() {
        problems.push(
            "numbers are written by: cargo run -p tacita-house -- trusted-base --write".into(),
        );
    }
    Ok(problems)
}

/// Refreshes the numbers on the page.
pub fn write(repository: &Repository) -> Result<()> {
    let compiled = compiled(repository)?;
    repository.write(
        PAGE,
        &refreshed(&repository.read(PAGE)?, &|path| size(&compiled, path)),
    )
}
