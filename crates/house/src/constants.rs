//! A constant on which privacy rests exists once.

use crate::lines::code_of;
use crate::repository::Repository;
use crate::workspace;
use anyhow::{Context, Result};
use proc_macro2::{TokenStream, TokenTree};
use std::collections::BTreeSet;

/// A name, the one file that defines it, and files that should not define it too yet do.
pub type Once = (&'static str, &'static str, &'static [&'static str]);

/// Constants and functions on which privacy rests, each with its one home. Lists of copies may only shrink:
/// one that is gone is a problem too.
pub const ONCE: &[Once] = &[("TAIL_SHARE", "crates/mechanism/src/noise/mod.rs", &[])];

/// The file whose numbers no other file of these folders may repeat.
pub const ROUNDING: &str = "crates/tacita/src/sensitivity/rounding.rs";

/// The proof that names every constant of that file.
pub const PROOF: &str = "crates/tacita/src/sensitivity/PROOF.md";

/// Where a rounding constant could be repeated.
const FOLDERS: &[&str] = &[
    "crates/tacita/src/sensitivity/",
    "crates/tacita/src/compute/",
    "crates/kernels/src/",
];

/// The constants and functions that a file defines at its top level, tests left out.
pub fn definitions(code: TokenStream) -> Vec<String> {
    let mut found = vec![];
    let tokens: Vec<TokenTree> = code.into_iter().collect();
    for (position, token) in tokens.iter().enumerate() {
        match token {
            TokenTree::Ident(word) if word == "const" || word == "fn" || word == "static" => {
                if let Some(TokenTree::Ident(name)) = tokens.get(position + 1) {
                    found.push(name.to_string());
                }
            }
            _ => {}
        }
    }
    found
}

/// The numbers of a file that are not round: `2.01` and `1e-30`, but not `0.5`, `2` or `1024.0`.
pub fn telling_numbers(code: TokenStream) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for token in code {
        match token {
            TokenTree::Group(group) => found.extend(telling_numbers(group.stream())),
            TokenTree::Literal(literal) => {
                let text = literal.to_string().replace('_', "");
                let is_number = text.starts_with(|sign: char| sign.is_ascii_digit())
                    && text.contains(['.', 'e']);
                let value: f64 = text.parse().unwrap_or_default();
                let is_round = value.fract() == 0.0 || value == 0.5;
                if is_number && !is_round {
                    found.insert(text);
                }
            }
            _ => {}
        }
    }
    found
}

/// Names that `once` says are defined in one file and that are not, given the files with their code.
pub fn defined_elsewhere(once: &[Once], files: &[(String, TokenStream)]) -> Vec<String> {
    let mut problems = vec![];
    for (name, home, copies) in once {
        let defining = |code: &TokenStream| {
            definitions(code.clone())
                .iter()
                .filter(|found| found == name)
                .count()
        };
        let homes: Vec<&str> = files
            .iter()
            .flat_map(|(file, code)| std::iter::repeat_n(file.as_str(), defining(code)))
            .collect();
        let mut expected: Vec<&str> = copies.iter().chain([home]).copied().collect();
        expected.sort_unstable();
        if homes.iter().collect::<BTreeSet<_>>() != expected.iter().collect()
            || homes.len() != expected.len()
        {
            problems.push(format!(
                "{name} must be defined in {expected:?} only; found in {homes:?}"
            ));
        }
    }
    problems
}

/// What is wrong with the constants of the repository.
pub fn problems(repository: &Repository) -> Result<Vec<String>> {
    let mut files = vec![];
    for target in workspace::targets(repository)? {
        for file in target.files() {
            let code = code_of(&repository.read(file)?).with_context(|| file.to_string())?;
            files.push((file.to_string(), code));
        }
    }
    let mut problems = defined_elsewhere(ONCE, &files);
    problems.extend(repeated(ROUNDING, FOLDERS, &files));
    problems.extend(not_in_proof(ROUNDING, &repository.read(PROOF)?, &files));
    Ok(problems)
}

/// Numbers of the file `home` that stand in another file of `folders` too.
pub fn repeated(home: &str, folders: &[&str], files: &[(String, TokenStream)]) -> Vec<String> {
    let numbers: BTreeSet<String> = files
        .iter()
        .filter(|(file, _)| file == home)
        .flat_map(|(_, code)| telling_numbers(code.clone()))
        .collect();
    let mut problems = vec![];
    for (file, code) in files {
        if file != home && folders.iter().any(|folder| file.starts_with(folder)) {
            let again = telling_numbers(code.clone());
            let again = again.intersection(&numbers);
            problems
                .extend(again.map(|number| format!("{file}: {number} is a constant of {home}")));
        }
    }
    problems
}

/// Constants of the file `home` that its proof does not name.
pub fn not_in_proof(home: &str, proof: &str, files: &[(String, TokenStream)]) -> Vec<String> {
    let is_constant = |name: &str| {
        name.chars()
            .all(|sign| sign.is_uppercase() || sign.is_ascii_digit() || sign == '_')
    };
    files
        .iter()
        .filter(|(file, _)| file == home)
        .flat_map(|(_, code)| definitions(code.clone()))
        .filter(|name| is_constant(name) && !proof.contains(&format!("`{name}`")))
        .map(|name| format!("{name} of {home} is not derived in its proof"))
        .collect()
}
