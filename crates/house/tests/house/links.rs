use tacita_house::links::{broken_links, missing_paths, not_in_the_contents, with_includes};

fn pages(pages: &[(&str, &str)]) -> Vec<(String, String)> {
    pages
        .iter()
        .map(|(name, text)| ((*name).into(), (*text).into()))
        .collect()
}

/// What is wrong with the links of pages that exist beside a file `docs/src/a.svg`.
fn broken(given: &[(&str, &str)]) -> Vec<String> {
    let has = |path: &str| path == "docs/src/a.svg" || given.iter().any(|(name, _)| *name == path);
    broken_links(&pages(given), &has)
}

#[test]
fn links_to_pages_pictures_headings_and_other_sites_are_fine() {
    let first = "# The `first` page, again\n## Measured\n## Measured\n\
        [x](b.md#two-words) ![y](a.svg) [z](#the-first-page-again) [w](#measured-1) \
        [site](https://example.org/none.md#none)\n```text\n[no](link.md)\n```\n";
    let none: Vec<String> = vec![];
    assert_eq!(
        broken(&[("docs/src/a.md", first), ("docs/src/b.md", "## Two words")]),
        none
    );
}

#[test]
fn missing_pages_and_headings_are_found_with_their_line() {
    let found = broken(&[
        ("README.md", "\n[x](gone.md)"),
        ("b.md", "[x](README.md#gone)"),
    ]);
    assert_eq!(
        found,
        [
            "README.md:2: link to gone.md: there is no gone.md",
            "b.md:1: link to README.md#gone: README.md has no heading #gone",
        ]
    );
}

#[test]
fn links_to_our_own_files_on_the_web_are_followed() {
    let site = "https://github.com/tacita-dp/tacita";
    let page = format!("[x]({site}) [y]({site}/blob/main/README.md) [z]({site}/blob/main/gone.rs)");
    let found = broken(&[("README.md", &page)]);
    assert_eq!(found.len(), 1);
    assert!(found[0].contains("there is no gone.rs"));
}

#[test]
fn a_link_that_leaves_the_book_is_broken_in_the_built_book() {
    let found = broken(&[("docs/src/a.md", "[x](../../README.md)"), ("README.md", "")]);
    assert!(found[0].contains("leaves the book"), "{found:?}");
}

#[test]
fn a_page_without_an_entry_in_the_contents_is_found() {
    let given = pages(&[
        ("docs/src/SUMMARY.md", ""),
        ("docs/src/a/b.md", ""),
        ("README.md", ""),
    ]);
    assert!(not_in_the_contents("- [x](a/b.md)", &given).is_empty());
    assert_eq!(not_in_the_contents("- [x](b.md)", &given).len(), 1);
}

#[test]
fn paths_in_backticks_exist() {
    let files = ["crates/a/src/one.rs", "crates/a/src/two.rs", "docs/x.md"];
    let fine = "`crates/a` `crates/a/src/{one, two}.rs` `one.rs` `src/two.rs` `docs/` `../two.rs` `crates/a/src/*` \
        `a.rs::b` `other/thing` `crates/<name>/src`";
    let none: Vec<String> = vec![];
    assert_eq!(missing_paths("x.md", fine, &files), none);
    for gone in [
        "`crates/b`",
        "`three.rs`",
        "`crates/a/src/{one,three}.rs`",
        "`a/one.rs`",
    ] {
        assert_eq!(missing_paths("x.md", gone, &files).len(), 1, "{gone}");
    }
}

#[test]
fn included_files_are_part_of_the_page() {
    let read = |file: &str| (file == "crates/PROOF.md").then(|| "# Proof".to_string());
    let whole = with_includes(
        "docs/src/proof.md",
        "{{#include ../../crates/PROOF.md}}\nend",
        &read,
    );
    assert_eq!(whole, "# Proof\nend\n");
}
