//! The repository keeps its own rules; and the checks of those rules notice when they are broken.
#![allow(clippy::unwrap_used)]

mod constants;
mod links;
mod named_tests;
mod order;
mod repository;
mod trusted_base;
mod words;
