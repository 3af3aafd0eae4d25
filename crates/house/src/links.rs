//! Links, paths and file names in the documents point to something that exists.

use crate::markdown::{Page, quoted};
use crate::repository::Repository;
use anyhow::Result;
use std::collections::BTreeMap;

/// The book; a link in it that leaves this folder is broken once the book is built.
const BOOK: &str = "docs/src/";

/// The repository's address, for links to its own files.
const ADDRESS: &str = "https://github.com/tacita-dp/tacita/";

/// The changelog tells of the past, when files stood elsewhere, and this crate's tests of files that never
/// were. Their links are checked, the paths in backticks are not.
const NAMES_OTHER_FILES: &[&str] = &["CHANGELOG.md", "crates/house/"];

/// Every link in `pages` (name and text) that leads nowhere; `has` knows which paths exist.
pub fn broken_links(pages: &[(String, String)], has: &dyn Fn(&str) -> bool) -> Vec<String> {
    let parsed: BTreeMap<&str, Page> = pages
        .iter()
        .map(|(name, text)| (name.as_str(), Page::parse(text)))
        .collect();
    let mut problems = vec![];
    for (name, page) in &parsed {
        for (line, link) in &page.links {
            if let Err(reason) = follow(name, link, &parsed, has) {
                problems.push(format!("{name}:{line}: link to {link}: {reason}"));
            }
        }
    }
    problems
}

fn follow(
    from: &str,
    link: &str,
    pages: &BTreeMap<&str, Page>,
    has: &dyn Fn(&str) -> bool,
) -> Result<(), String> {
    let own = link.strip_prefix(ADDRESS);
    let (path, anchor) = match own {
        None if link.contains("://") || link.starts_with("mailto:") => return Ok(()),
        Some(rest) => {
            let file = ["blob/main/", "tree/main/", "raw/main/"]
                .iter()
                .find_map(|part| rest.strip_prefix(part));
            let Some(file) = file else { return Ok(()) };
            split(file)
        }
        None => {
            let (path, anchor) = split(link);
            (
                if path.is_empty() {
                    from.into()
                } else {
                    relative(from, &path)
                },
                anchor,
            )
        }
    };
    if !has(&path) {
        return Err(format!("there is no {path}"));
    }
    if own.is_none() && from.starts_with(BOOK) && !path.starts_with(BOOK) {
        return Err("it leaves the book's folder, so the built book has no such page".into());
    }
    match (anchor, pages.get(path.as_str())) {
        (Some(anchor), Some(page)) if !page.anchors.contains(&anchor) => {
            Err(format!("{path} has no heading #{anchor}"))
        }
        _ => Ok(()),
    }
}

/// A link without and with what stands behind `#`.
fn split(link: &str) -> (String, Option<String>) {
    match link.split_once('#') {
        Some((path, anchor)) => (path.into(), Some(anchor.into())),
        None => (link.into(), None),
    }
}

/// `link`, seen from the folder of the file `from`, as a path from the root.
fn relative(from: &str, link: &str) -> String {
    let folder = from.rsplit_once('/').map_or("", |(folder, _)| folder);
    let mut parts: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
    for part in link.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()),
            name => parts.push(name),
        }
    }
    parts.join("/")
}

/// Pages of the book that its table of contents does not name.
pub fn not_in_the_contents(summary: &str, pages: &[(String, String)]) -> Vec<String> {
    let contents = Page::parse(summary);
    let named = |file: &str| {
        contents
            .links
            .iter()
            .any(|(_, link)| link.trim_start_matches("./") == file)
    };
    pages
        .iter()
        .filter_map(|(name, _)| name.strip_prefix(BOOK))
        .filter(|file| *file != "SUMMARY.md" && !named(file))
        .map(|file| format!("{BOOK}{file}: the table of contents does not name this page"))
        .collect()
}

/// Every path in backticks in `text` that names nothing: paths from the root, and names of Rust files.
pub fn missing_paths(name: &str, text: &str, files: &[&str]) -> Vec<String> {
    let tops: Vec<&str> = files
        .iter()
        .filter_map(|file| Some(file.split_once('/')?.0))
        .collect();
    let mut problems = vec![];
    for (number, line) in text.lines().enumerate() {
        for path in quoted(line).flat_map(alternatives) {
            let rooted = path
                .split_once('/')
                .is_some_and(|(top, _)| tops.contains(&top));
            if (rooted || path.ends_with(".rs"))
                && is_plain(&path)
                && !names_something(&path, rooted, files)
            {
                problems.push(format!(
                    "{name}:{}: `{path}` is not in the repository",
                    number + 1
                ));
            }
        }
    }
    problems
}

/// Whether a text in backticks is a path and nothing else: no pattern, no code.
fn is_plain(path: &str) -> bool {
    path.chars()
        .all(|sign| sign.is_alphanumeric() || "/._-*".contains(sign))
        && !path.contains("//")
}

fn names_something(path: &str, rooted: bool, files: &[&str]) -> bool {
    let wanted = path
        .trim_end_matches('/')
        .trim_start_matches("../")
        .trim_start_matches("./");
    // `a/*.toml` stands for what the folder holds.
    let wanted = wanted.split_once("/*").map_or(wanted, |(folder, _)| folder);
    files.iter().any(|file| {
        let below = file
            .strip_prefix(wanted)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
        let tail = file
            .strip_suffix(wanted)
            .is_some_and(|rest| rest.is_empty() || rest.ends_with('/'));
        below || (!rooted && tail)
    })
}

/// `a/{b,c}.rs` as `a/b.rs` and `a/c.rs`.
fn alternatives(path: &str) -> Vec<String> {
    let (Some(open), Some(close)) = (path.find('{'), path.find('}')) else {
        return vec![path.into()];
    };
    if close < open {
        return vec![path.into()];
    }
    path[open + 1..close]
        .split(',')
        .map(|part| format!("{}{}{}", &path[..open], part.trim(), &path[close + 1..]))
        .collect()
}

/// A page of the book with the files it includes in place of mdBook's `{{#include …}}`.
pub fn with_includes(name: &str, text: &str, read: &dyn Fn(&str) -> Option<String>) -> String {
    let mut whole = String::new();
    for line in text.lines() {
        let file = line
            .trim()
            .strip_prefix("{{#include ")
            .and_then(|rest| rest.strip_suffix("}}"));
        let included = file.and_then(|file| read(&relative(name, file.split(':').next()?.trim())));
        whole.push_str(included.as_deref().unwrap_or(line));
        whole.push('\n');
    }
    whole
}

/// All of this for the repository.
pub fn problems(repository: &Repository) -> Result<Vec<String>> {
    let pages = repository
        .with_extension("md")
        .map(|name| {
            let text = repository.read(name)?;
            Ok((
                name.to_string(),
                with_includes(name, &text, &|file| repository.read(file).ok()),
            ))
        })
        .collect::<Result<Vec<_>>>()?;
    let mut problems = broken_links(&pages, &|path| repository.has(path));
    if let Some((_, summary)) = pages
        .iter()
        .find(|(name, _)| name == &format!("{BOOK}SUMMARY.md"))
    {
        problems.extend(not_in_the_contents(summary, &pages));
    }
    let files: Vec<&str> = repository.files().collect();
    for extension in ["md", "rs", "toml", "py"] {
        let own = |name: &&str| {
            !NAMES_OTHER_FILES
                .iter()
                .any(|other| name.starts_with(other))
        };
        for name in repository.with_extension(extension).filter(own) {
            problems.extend(missing_paths(name, &repository.read(name)?, &files));
        }
    }
    Ok(problems)
}
