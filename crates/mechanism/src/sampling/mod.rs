//! Poisson sampling: each unit takes part independently, with the ledger's rate. A unit is a record, or a person
//! with several records of whom a bounded number takes part (`units.rs`).
//!
//! Time is proportional to the sample, not to the data: the sampler draws how many records to skip
//! before the next one that takes part. That number K is geometric, P(K ≥ k) = r^k with r = 1 − q,
//! and its binary digits are *independent*: digit i is 1 with probability r_i/(1 + r_i), where
//! r_i = r^(2^i). (Write P(K = k) = q Π r_i^{k_i}; the product factorises.) So a skip takes one
//! 64-bit uniform per digit, compared with a threshold that integer arithmetic computes once; no
//! logarithm is evaluated and no rounding differs between machines.
//!
//! Only L digits are drawn, with 2^L ≤ 1/q: first a uniform decides whether the next 2^L records
//! are all skipped (probability r^(2^L)), which loses nothing since the distribution has no memory.
//!
//! # Guarantee
//! Whatever was drawn before, a record takes part with probability at most the rate, and at least
//! the rate times 1 − 2^-49. Each threshold is within 2^-60 of its probability, relatively, and so
//! is its complement (all lie in [0.2, 0.8]); a skip multiplies at most 33 of them, so P(K = k) and
//! P(K ≥ k) are off by less than 2^-54 and their ratio, the probability in question, by less than
//! 2^-52. Thresholds are therefore computed for q' = q (1 − 2^-50). Above ½ there are no digits,
//! q' = q, and the one threshold is exact. Checked in exact arithmetic by
//! `inclusion_probability_never_exceeds_the_rate`.

mod units;

pub use units::{RecordChoice, Units};

use std::fmt;

use thiserror::Error;

use crate::chacha::{GROUP, Group, LANES, Subkey};
use crate::keys::Keys;

/// Why records cannot be sampled.
#[derive(Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum SamplingError {
    /// A rate that is no probability, or too small for the digits of a skip.
    #[error(
        "sampling rate must be between 2^-32 and 1, got {rate}; did you pass the batch size? Nothing was released"
    )]
    Rate {
        /// The rate seen.
        rate: f64,
    },
}

/// The records of one round, in increasing order.
///
/// Who takes part, and how many do, is as secret as the data: printing shows nothing, and the
/// sample can be neither cloned nor serialised.
pub struct Sample {
    indices: Vec<usize>,
}

impl Sample {
    /// The records that take part. Sensitive.
    pub fn indices(&self) -> &[usize] {
        &self.indices
    }
}

impl fmt::Debug for Sample {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Sample(private)")
    }
}

/// Draws the records of each round.
pub struct PoissonSampler {
    records: u64,
    skips: Skips,
}

impl PoissonSampler {
    /// A sampler over `records` records.
    pub fn new(rate: f64, records: usize) -> Result<Self, SamplingError> {
        Ok(Self {
            records: records as u64,
            skips: Skips::new(rate)?,
        })
    }

    /// The records of `step`: a pure function of the sampling key and the step.
    pub fn draw(&self, keys: &Keys, step: u64) -> Sample {
        self.draw_from(&mut Uniforms::new(keys, step))
    }

    fn draw_from(&self, uniforms: &mut Uniforms) -> Sample {
        let mut indices = Vec::new();
        let mut next = 0;
        while next < self.records {
            match self.skips.draw(uniforms) {
                Skip::Whole(length) => next += length,
                Skip::Then(length) => {
                    next += length;
                    if next < self.records {
                        indices.push(next as usize);
                    }
                    next += 1;
                }
            }
        }
        Sample { indices }
    }
}

enum Skip {
    /// Nothing among the next records takes part.
    Whole(u64),
    /// Nothing among the next records takes part, but the one after them does.
    Then(u64),
}

/// The distribution of skips for one rate. An event happens when a uniform is below its threshold, so with
/// probability threshold / 2^64.
struct Skips {
    /// The event that the next 2^digits records are all skipped.
    whole: u64,
    /// The event that a digit of the skip is 1, lowest digit first.
    digits: Vec<u64>,
}

impl Skips {
    fn new(rate: f64) -> Result<Self, SamplingError> {
        const SMALLEST_RATE: f64 = 1.0 / (1u64 << 32) as f64;
        if !(SMALLEST_RATE..=1.0).contains(&rate) {
            return Err(SamplingError::Rate { rate });
        }
        if rate > 0.5 {
            // 1 − rate is a multiple of 2^-53 and exact.
            return Ok(Self {
                whole: ((1.0 - rate) * (1u128 << 64) as f64) as u64,
                digits: Vec::new(),
            });
        }
        // In units of 2^-128: exact, as the rate's last digit is worth at least 2^-84.
        let rate_fixed = (rate * (1u128 << 127) as f64) as u128 * 2;
        let lowered = rate_fixed - (rate_fixed >> 50) - 1;
        let mut all_skipped = lowered.wrapping_neg(); // r_0 = 1 − q'
        let mut digits = Vec::new();
        let mut length = 1.0;
        while 2.0 * length * rate <= 1.0 {
            digits.push(odds_to_threshold(all_skipped));
            all_skipped = square(all_skipped);
            length *= 2.0;
        }
        Ok(Self {
            whole: (all_skipped >> 64) as u64,
            digits,
        })
    }

    fn draw(&self, uniforms: &mut Uniforms) -> Skip {
        if uniforms.next() < self.whole {
            return Skip::Whole(1 << self.digits.len());
        }
        let mut skip = 0;
        for (digit, &threshold) in self.digits.iter().enumerate() {
            skip |= u64::from(uniforms.next() < threshold) << digit;
        }
        Skip::Then(skip)
    }
}

/// 2^64 r/(1 + r), rounded down, for r in units of 2^-128.
fn odds_to_threshold(r: u128) -> u64 {
    let r = r >> 65; // in units of 2^-63
    ((r << 64) / ((1 << 63) + r)) as u64
}

/// r², rounded down by at most three units, for r in units of 2^-128.
fn square(r: u128) -> u128 {
    let (high, low) = (r >> 64, r & u128::from(u64::MAX));
    high * high + 2 * ((high * low) >> 64)
}

/// The 64-bit numbers of one step, in order.
struct Uniforms {
    subkey: Subkey,
    group: Group,
    drawn: u64,
}

impl Uniforms {
    fn new(keys: &Keys, step: u64) -> Self {
        let subkey = Subkey::derive(&keys.sampling, [step as u32, (step >> 32) as u32, 0, 0]);
        Self {
            group: subkey.group_out_of_line(0, 0, 0),
            subkey,
            drawn: 0,
        }
    }

    fn next(&mut self) -> u64 {
        let index = self.drawn as usize % GROUP;
        if index == 0 && self.drawn > 0 {
            self.group = self
                .subkey
                .group_out_of_line(self.drawn / GROUP as u64, 0, 0);
        }
        self.drawn += 1;
        self.group.number(index / LANES, index % LANES)
    }
}

#[cfg(test)]
mod tests;
