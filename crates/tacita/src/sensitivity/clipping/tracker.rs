//! The threshold of each group in the step at hand, moved by what has been released.

use super::online::Products;
use super::{Online, Quantile, Threshold};
use crate::compute::flat::{from_vec, to_vec};
use burn::tensor::{Device, Tensor};
use serde::{Deserialize, Serialize};

/// Thresholds lie within these, learned ones too: far from where f32 gradients stop making sense, and the noise can
/// be drawn.
pub(crate) const RANGE: (f64, f64) = (1e-20, 1e20);

/// Thresholds of the groups: public, since nothing but released values moves them.
#[derive(Debug)]
pub(crate) struct ThresholdTracker {
    policy: Threshold,
    steps: u64,
    shares: Vec<f64>,
    /// Learned thresholds, by group; of an online threshold one for all.
    learned: Vec<f64>,
    /// q̃ of the step before.
    directions: Option<Vec<Tensor<1>>>,
}

/// What a policy has learned so far: public, and part of a checkpoint.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ThresholdState {
    /// Learned thresholds.
    pub learned: Vec<f64>,
    /// Released directions of the step before, by parameter.
    pub directions: Option<Vec<Vec<f32>>>,
}

/// What a round released, as the policies use it.
pub(crate) struct Released<'a> {
    pub gradient: &'a [Tensor<1>],
    pub directions: Option<&'a [Tensor<1>]>,
    pub counts: Option<&'a [f64]>,
}

impl ThresholdTracker {
    pub fn new(policy: Threshold, steps: u64, shares: &[f64]) -> Self {
        let learned = match &policy {
            Threshold::Quantile(Quantile { initial, .. }) => {
                shares.iter().map(|share| initial * share).collect()
            }
            Threshold::Online(Online { initial, .. }) => vec![*initial],
            _ => Vec::new(),
        };
        Self {
            policy,
            steps,
            shares: shares.to_vec(),
            learned,
            directions: None,
        }
    }

    /// The threshold of each group in a step.
    pub fn thresholds(&self, step: u64) -> Vec<f64> {
        let shared = |threshold: f64| self.shares.iter().map(|share| threshold * share).collect();
        match &self.policy {
            Threshold::Quantile(_) => self.learned.clone(),
            Threshold::Online(_) => shared(self.learned[0]),
            scheduled => shared(scheduled.scheduled(step, self.steps)),
        }
    }

    /// Learns from what was just released. Post-processing: raw values never come here.
    pub fn learn(&mut self, released: &Released<'_>) {
        match (&self.policy, released.counts, released.directions) {
            (Threshold::Quantile(policy), Some(counts), _) => {
                for (threshold, count) in self.learned.iter_mut().zip(counts) {
                    *threshold = within(policy.next(*threshold, *count));
                }
            }
            (Threshold::Online(policy), _, Some(directions)) => {
                // Before the first step q̃ is 0, which moves nothing.
                if let Some(before) = &self.directions {
                    let products = products(released.gradient, before);
                    self.learned[0] = within(policy.next(self.learned[0], &products));
                }
                self.directions = Some(directions.to_vec());
            }
            _ => {}
        }
    }

    /// What has been learned, for a checkpoint.
    pub fn state(&self) -> ThresholdState {
        let flat = |tensors: &Vec<Tensor<1>>| tensors.iter().map(to_vec).collect();
        ThresholdState {
            learned: self.learned.clone(),
            directions: self.directions.as_ref().map(flat),
        }
    }

    /// Restores what a checkpoint holds; false if it is of another plan or model.
    #[must_use]
    pub fn restore(&mut self, state: &ThresholdState, sizes: &[usize], device: &Device) -> bool {
        let sound = |value: &f64| (RANGE.0..=RANGE.1).contains(value);
        let fits = |directions: &Vec<Vec<f32>>| {
            directions.len() == sizes.len()
                && directions
                    .iter()
                    .zip(sizes)
                    .all(|(d, size)| d.len() == *size)
        };
        if state.learned.len() != self.learned.len()
            || !state.learned.iter().all(sound)
            || !state.directions.as_ref().is_none_or(fits)
        {
            return false;
        }
        self.learned = state.learned.clone();
        self.directions = state.directions.as_ref().map(|directions| {
            let tensor = |values: &Vec<f32>| from_vec(values, device);
            directions.iter().map(tensor).collect()
        });
        true
    }
}

fn within(threshold: f64) -> f64 {
    threshold.clamp(RANGE.0, RANGE.1)
}

/// The inner product and squared lengths of two released vectors, given by parameter.
pub(crate) fn products(first: &[Tensor<1>], second: &[Tensor<1>]) -> Products {
    let dot = |a: &Tensor<1>, b: &Tensor<1>| {
        f64::from((a.clone() * b.clone()).sum().into_scalar::<f32>())
    };
    first
        .iter()
        .zip(second)
        // What was restored from a checkpoint may lie on another device.
        .map(|(a, b)| (a, b.clone().to_device(&a.device())))
        .fold(Products::default(), |sum, (a, b)| Products {
            inner: sum.inner + dot(a, &b),
            first: sum.first + dot(a, a),
            second: sum.second + dot(&b, &b),
        })
}
