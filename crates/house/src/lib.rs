//! Checks of the repository itself, run with all other tests.
//!
//! | check | what it demands |
//! |---|---|
//! | [`order`] | no circles between modules; in the engine, dependencies in one direction |
//! | [`trusted_base`] | the page that tells auditors what to read is complete, and its numbers are right |
//! | [`links`] | links, anchors and paths in documents and comments lead somewhere |
//! | [`named_tests`] | every test that a comment or a proof names exists |
//! | [`constants`] | a constant on which privacy rests exists once |
//! | [`rust_version`] | one minimum version of Rust |
//! | [`words`] | the words of the glossary, British spelling |
//! | [`places`] | no path of somebody's machine |
//!
//! Each module has a function `problems` that takes the [`repository`] and returns one line for each
//! problem. `cargo run -p tacita-house` prints them all.

pub mod about;
pub mod constants;
pub mod graph;
pub mod lines;
pub mod links;
pub mod markdown;
pub mod named_tests;
pub mod order;
pub mod places;
pub mod repository;
pub mod rust_version;
pub mod source;
pub mod trusted_base;
pub mod words;
pub mod workspace;
