//! Claims about this repository.

use anyhow::Result;
use tacita_house::repository::Repository;
use tacita_house::{
    constants, links, named_tests, order, places, rust_version, trusted_base, words,
};

fn assert_none(check: fn(&Repository) -> Result<Vec<String>>) {
    let problems = check(&Repository::here().unwrap()).unwrap();
    assert!(problems.is_empty(), "\n{}", problems.join("\n"));
}

#[test]
fn no_module_cycles() {
    assert_none(order::problems);
}

#[test]
fn trusted_base_page_is_true() {
    assert_none(trusted_base::problems);
}

#[test]
fn links_resolve() {
    assert_none(links::problems);
}

#[test]
fn named_tests_exist() {
    assert_none(named_tests::problems);
}

#[test]
fn privacy_constants_exist_once() {
    assert_none(constants::problems);
}

#[test]
fn one_minimum_rust_version() {
    assert_none(rust_version::problems);
}

#[test]
fn words_are_those_of_the_glossary() {
    assert_none(words::problems);
}

#[test]
fn no_local_paths() {
    assert_none(places::problems);
}
