//! `tacita-lab figures`.
#![allow(clippy::unwrap_used)]

use std::path::Path;
use std::process::{Command, Output};

fn tacita(arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tacita-lab"));
    command.arg("figures").args(arguments).output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn named_figures_are_drawn_and_only_they() {
    let folder = std::env::temp_dir().join(format!("tacita-figures-{}", std::process::id()));
    let out = folder.to_str().unwrap();
    let output = tacita(&["--out", out, "alignment-angle", "inverse-m"]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let mut files: Vec<_> = (std::fs::read_dir(&folder).unwrap())
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    files.sort();
    assert_eq!(files, ["alignment-angle.svg", "inverse-m.svg"]);
    let svg = std::fs::read_to_string(folder.join("inverse-m.svg")).unwrap();
    assert!(svg.starts_with("<svg ") && svg.contains("M⁻¹"));
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn an_unknown_figure_is_refused_with_the_known_ones() {
    let output = tacita(&["--list", "lazy-region"]);
    assert_eq!(output.status.code(), Some(2));
    let error = text(&output.stderr);
    assert!(
        error.contains("`lazy-region`") && error.contains("lazy-regions"),
        "{error}"
    );
}

/// The book shows every figure, from a file that is there.
#[test]
fn the_book_shows_every_figure() {
    let book = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/src/reference");
    let page = std::fs::read_to_string(book.join("policies.md")).unwrap();
    let listed = text(&tacita(&["--list"]).stdout);
    let names: Vec<&str> = listed.lines().filter_map(|l| l.split(' ').next()).collect();
    assert!(names.len() > 5);
    for name in names {
        let file = format!("figures/{name}.svg");
        assert!(
            page.contains(&format!("({file})")),
            "{name} is not on the page"
        );
        assert!(book.join(&file).exists(), "{file} is missing");
    }
}
