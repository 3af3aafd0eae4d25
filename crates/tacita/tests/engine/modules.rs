//! The modules of the engine: which may depend on which, read from its source.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

const FOLDERS: [&str; 4] = ["mechanism", "sensitivity", "compute", "training"];

fn source() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src")
}

/// Every file of the engine but its tests.
fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files(&path, found);
        } else if path.extension().is_some_and(|kind| kind == "rs") && !path.ends_with("tests.rs") {
            found.push(path);
        }
    }
}

/// A file without comments and without its unit tests.
fn code(path: &Path) -> String {
    let text = std::fs::read_to_string(path).unwrap();
    let text = text.split("#[cfg(test)]\nmod tests {").next().unwrap();
    let text = text.split("#[cfg(test)]\n#[allow").next().unwrap();
    let code = text.lines().map(|line| line.split("//").next().unwrap());
    code.collect::<Vec<_>>().join("\n")
}

/// The module of a file, as `folder::module`.
fn module(path: &Path) -> Option<String> {
    let inside = path.strip_prefix(source()).unwrap().with_extension("");
    let parts: Vec<&str> = inside.iter().filter_map(|part| part.to_str()).collect();
    match parts[..] {
        [_] | [_, "mod"] => None,
        [folder, module, ..] => Some(format!("{folder}::{module}")),
        [] => None,
    }
}

/// The modules that a piece of code names.
fn named(code: &str) -> BTreeSet<String> {
    let word = |text: &str| -> String {
        text.chars()
            .take_while(|c| c.is_alphanumeric() || *c == '_')
            .collect()
    };
    let paths = code.split("crate::").skip(1).filter_map(|path| {
        let folder = word(path);
        let module = word(path.strip_prefix(&format!("{folder}::"))?);
        FOLDERS.contains(&folder.as_str()).then(|| {
            assert!(
                !module.is_empty(),
                "a path that this test cannot read: {path:.60}"
            );
            format!("{folder}::{module}")
        })
    });
    paths.collect()
}

/// For each module those that it names.
fn graph() -> BTreeMap<String, BTreeSet<String>> {
    let mut all = Vec::new();
    files(&source(), &mut all);
    let mut graph: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for path in all {
        if let Some(module) = module(&path) {
            let mut others = named(&code(&path));
            others.remove(&module);
            graph.entry(module).or_default().extend(others);
        }
    }
    graph
}

#[test]
fn no_module_depends_on_itself() {
    let graph = graph();
    assert!(graph.len() > 25, "the engine has more modules: {graph:?}");
    // Modules that depend on none of those left are taken away until none is left.
    let mut left: BTreeMap<_, _> = graph.iter().collect();
    loop {
        let leaves: Vec<&String> = left
            .iter()
            .filter(|(_, others)| !others.iter().any(|other| left.contains_key(other)))
            .map(|(module, _)| *module)
            .collect();
        if leaves.is_empty() {
            break;
        }
        for leaf in leaves {
            left.remove(leaf);
        }
    }
    assert!(left.is_empty(), "a cycle among {:?}", left.keys());
}

#[test]
fn only_the_door_to_the_hardware_asks_which_features_are_on() {
    let mut all = Vec::new();
    files(&source(), &mut all);
    let door = source().join("compute/backend/mod.rs");
    let asking: Vec<_> = all
        .into_iter()
        .filter(|path| code(path).contains("feature = \""))
        .collect();
    assert_eq!(asking, [door]);
}
