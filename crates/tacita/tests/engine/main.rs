//! The engine against slow and obvious oracles, and the claims of the papers its policies come from.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod automatic;
mod common;
mod coverage;
mod diagnostics;
mod dropout;
mod dynamic;
mod hostile_sums;
mod kernels;
mod layers;
mod lazy_regions;
mod mechanism;
mod modules;
mod online;
mod passes;
mod quantile;
mod ranks;
mod records;
mod refusals;
mod resume;
mod shared;
mod units;
