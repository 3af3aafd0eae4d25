//! Encoders, adapters and files, against `transformers` and against a loop over single samples.

#![allow(clippy::unwrap_used, clippy::expect_used)]

mod adapters;
mod files;
mod logits;
mod real;
mod refusals;
mod support;
