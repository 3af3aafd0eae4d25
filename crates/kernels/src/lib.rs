//! The loops under Tacita's layers, on plain slices.
//!
//! Nothing here knows of tensors, gradient tapes or privacy: each module is one operation, its
//! derivative, and a test against the obvious loop. The engine calls them on the CPU backend and keeps
//! its generic path on every other.

pub mod activation;
pub mod affine;
mod approximate;
pub mod attention;
pub mod convolution;
mod distinct;
pub mod exact;
mod gram;
pub mod lstm;
pub mod normalise;
pub mod optimiser;
pub mod outer;
pub mod pooling;
pub mod product;
pub mod rows;
pub mod softmax;
#[cfg(test)]
mod testkit;
pub mod update;
mod vector;

/// Keeps the example of the README running.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
