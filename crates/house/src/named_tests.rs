//! Every test that a document or a comment names as its check exists.

use crate::markdown::quoted;
use crate::repository::Repository;
use anyhow::{Context, Result};
use proc_macro2::{TokenStream, TokenTree};
use std::collections::BTreeSet;

/// What stands before the name of a test in a comment.
const MARK: &str = "Checked by";

/// The tests of a Rust file, those inside macros such as `proptest!` included, and its functions
/// `assert_…`.
pub fn tests_in(source: &str) -> Result<BTreeSet<String>> {
    let tokens: TokenStream = source
        .parse()
        .map_err(|error| anyhow::anyhow!("{error}"))
        .context("not Rust")?;
    let mut found = BTreeSet::new();
    collect(tokens, &mut found);
    Ok(found)
}

/// A function is a test if an attribute before it is `test`.
fn collect(tokens: TokenStream, found: &mut BTreeSet<String>) {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    let mut marked = false;
    for (position, token) in tokens.iter().enumerate() {
        match token {
            TokenTree::Group(group) => {
                let begins_attribute = position > 0 && is_sign(&tokens[position - 1], '#');
                if begins_attribute {
                    marked |= group.stream().to_string() == "test";
                } else {
                    collect(group.stream(), found);
                }
            }
            TokenTree::Ident(word) if word == "fn" => {
                if let Some(TokenTree::Ident(name)) = tokens.get(position + 1) {
                    let name = name.to_string();
                    if marked || name.starts_with("assert_") {
                        found.insert(name);
                    }
                }
                marked = false;
            }
            _ => {}
        }
    }
}

fn is_sign(token: &TokenTree, sign: char) -> bool {
    matches!(token, TokenTree::Punct(mark) if mark.as_char() == sign)
}

/// The tests named in a file, with their lines: after “Checked by”, to the end of the sentence; and in
/// columns of tables that are headed “checked by” or “test”. A table may also name a file of tests, or a
/// function `assert_…` that many tests call.
pub fn named_in(text: &str) -> Vec<(usize, String)> {
    let lines: Vec<&str> = text.lines().map(without_comment_sign).collect();
    let mut named = vec![];
    for (number, line) in lines.iter().enumerate() {
        if let Some(start) = line.find(MARK) {
            named.extend(
                in_sentence(&lines[number..], start + MARK.len()).map(|name| (number + 1, name)),
            );
        }
    }
    named.extend(in_tables(&lines));
    named
}

fn without_comment_sign(line: &str) -> &str {
    let line = line.trim_start();
    ["///", "//!", "//", "#"]
        .iter()
        .find_map(|sign| line.strip_prefix(sign))
        .unwrap_or(line)
}

/// Names in backticks from `start` of the first line to the end of the sentence, which ends within a few
/// lines.
fn in_sentence(lines: &[&str], start: usize) -> impl Iterator<Item = String> {
    let mut sentence = lines[0][start..].to_string();
    for line in lines.iter().skip(1).take(4) {
        if sentence.contains('.') || line.trim().is_empty() {
            break;
        }
        sentence.push(' ');
        sentence.push_str(line);
    }
    let sentence = sentence.split('.').next().unwrap_or_default().to_string();
    let names: Vec<String> = quoted(&sentence)
        .filter(|name| is_name(name))
        .map(str::to_string)
        .collect();
    names.into_iter()
}

fn in_tables(lines: &[&str]) -> Vec<(usize, String)> {
    let mut named = vec![];
    let mut columns: Vec<usize> = vec![];
    for (number, line) in lines.iter().enumerate() {
        if !line.trim_start().starts_with('|') {
            columns.clear();
            continue;
        }
        let cells: Vec<&str> = line.split('|').collect();
        let heads = lines.get(number + 1).is_some_and(|next| {
            next.contains("---") && next.chars().all(|sign| "|-: ".contains(sign))
        });
        if heads {
            columns = (0..cells.len())
                .filter(|&at| is_test_heading(cells[at]))
                .collect();
        } else {
            let cells = columns.iter().filter_map(|&at| cells.get(at));
            let names = cells
                .flat_map(|cell| quoted(cell))
                .filter(|name| is_name(name));
            named.extend(names.map(|name| (number + 1, name.to_string())));
        }
    }
    named
}

fn is_test_heading(cell: &str) -> bool {
    let cell = cell.trim().to_lowercase();
    ["test", "tests", "checked by", "tested by"].contains(&cell.as_str())
}

/// Whether this is the name of a function; a path to it counts by its last part.
fn is_name(name: &str) -> bool {
    name.chars()
        .all(|sign| sign.is_ascii_lowercase() || sign.is_ascii_digit() || "_:".contains(sign))
}

/// Tests named in the repository that are not there.
pub fn problems(repository: &Repository) -> Result<Vec<String>> {
    let mut tests = BTreeSet::new();
    for file in repository.with_extension("rs") {
        tests.extend(tests_in(&repository.read(file)?).with_context(|| file.to_string())?);
        if let Some((_, name)) = file.trim_end_matches(".rs").split_once("/tests/") {
            tests.extend(name.rsplit('/').next().map(str::to_string));
        }
    }
    let mut problems = vec![];
    for extension in ["rs", "md"] {
        for file in repository.with_extension(extension) {
            // Names in this crate's own tests are examples.
            if file.starts_with("crates/house/") {
                continue;
            }
            for (line, name) in named_in(&repository.read(file)?) {
                let last = name.rsplit(':').next().unwrap_or_default();
                if !tests.contains(last) {
                    problems.push(format!("{file}:{line}: there is no test `{name}`"));
                }
            }
        }
    }
    Ok(problems)
}
