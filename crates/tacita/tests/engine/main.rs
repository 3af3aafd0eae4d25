//! The engine against slow, obvious oracles.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod common;
mod coverage;
mod layers;
mod mechanism;
mod records;
mod shared;
