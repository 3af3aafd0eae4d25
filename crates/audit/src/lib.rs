//! The statistics of privacy auditing: what an attack proves about ε, from below.
//!
//! An accountant proves that a mechanism leaks *at most* so much. An audit attacks the mechanism and proves, with
//! stated confidence, that it leaks *at least* so much. If the second figure exceeds the first, one of them is wrong,
//! and that is an alarm. The crate has no tensors and no randomness: it takes scores, the coins that decided who was
//! in, and returns bounds.
//!
//! | module | what it holds | proof |
//! |---|---|---|
//! | [`one_run`] | m canaries of one run against (ε, δ) | Steinke, Nasr & Jagielski 2023, Theorem 5.2 |
//! | [`f_dp`] | m canaries of one run against a whole trade-off curve | Mahloujifar, Melis & Chaudhuri 2024; the page has our own proof |
//! | [`trials`] | independent repetitions, or scores that are independent because their noise is | Clopper & Pearson 1934 |
//! | [`risk`] | what a certified curve means to somebody: attacks, beliefs, reconstruction, μ | Kairouz, Oh & Viswanath 2015 |
//! | [`roc`] | the curve of an attack with error bands | – |
//! | [`audit`] | all of them together, so that "95 %, all methods together" is true | union bound |
//!
//! # Example
//! Randomised response tells each coin with probability 3/4, which is ln 3 ≈ 1.0986:
//! ```
//! use tacita_audit::{Coins, audit::{Question, measure}};
//!
//! let coins: Vec<bool> = (0..4000).map(|i| i % 2 == 0).collect();
//! // Of every four answers one is wrong; here it is the one whose number ends in 00 or 11 in base 2, twice.
//! let scores: Vec<f64> = (0..4000).map(|i| f64::from(u8::from((i % 2 == 0) == (i % 8 > 1)))).collect();
//! let measured = measure(&Coins::new(&scores, &coins)?, &Question { delta: 1e-6, confidence: 0.95 });
//! assert!(measured.epsilon_lower > 0.9 && measured.epsilon_lower < 1.0986);
//! # Ok::<(), tacita_audit::BadCoins>(())
//! ```

pub mod audit;
mod binomial;
mod coins;
pub mod f_dp;
mod normal;
pub mod one_run;
pub mod risk;
pub mod roc;
mod search;
pub mod trade_off;
pub mod trials;
pub mod white_box;

pub use coins::{BadCoins, Coins, Guesses};
pub use trade_off::Curve;

/// Keeps the README's example running.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
