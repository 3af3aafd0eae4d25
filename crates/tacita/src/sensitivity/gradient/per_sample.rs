//! All per-sample gradients of one pass: norms by group, weighted sums.

use super::bundle::Bundle;
use super::contribution::{Contribution, Form, Target};
use super::method::Performance;
use super::norm::{Norms, SquaredNorm};
use super::sum::Weights;
use super::workspace::Workspace;
use crate::compute::backend::{Precision, in_precision, is_gpu};
use crate::sensitivity::rounding::ROUNDED_UP_F64;
use burn::module::ParamId;
use burn::tensor::{Device, Int, Tensor};
use std::collections::HashMap;
use tacita_kernels::exact::Sum;
use thiserror::Error;

/// Where a parameter stands in the model, and which clipping group it belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Slot {
    /// Position in the order in which the model visits its trainable parameters.
    pub parameter: usize,
    /// Clipping group.
    pub group: usize,
}

/// Why no per-sample gradients could be had. Nothing was released.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum GradientError {
    /// A layer whose first dimension is not the sample.
    #[error(
        "a layer saw {seen} rows in dimension 0 where the batch has {batch} samples; keep the sample \
         as dimension 0 (use `[batch, positions, features]`, not `[batch * positions, features]`)"
    )]
    NotPerSample {
        /// Rows seen.
        seen: usize,
        /// Samples in the batch.
        batch: usize,
    },
    /// A layer that is not part of the model being trained.
    #[error(
        "the forward pass used parameter {id}, which the model does not contain; every layer of the \
         forward pass must be a field of the module that is trained"
    )]
    UnknownParameter {
        /// Its identifier.
        id: ParamId,
    },
    /// Records of another shape than the synthetic ones.
    #[error(
        "a batch has records of another shape than the synthetic ones that the model was checked with; \
         give every record the same shape (pad texts to one fixed length, not to the longest of a batch)"
    )]
    OtherShapes,
    /// A threshold that f32 cannot carry.
    #[error("a clipping threshold must be between 1e-24 and 1e30, got {threshold:e}")]
    Threshold {
        /// The value seen.
        threshold: f64,
    },
    /// A rule whose parts do not add up to its targets.
    #[error(
        "a rule contributed {seen} values per sample to parameters of {expected} elements; check the \
         shapes the rule returns"
    )]
    WrongSize {
        /// Elements contributed.
        seen: usize,
        /// Elements of the targets.
        expected: usize,
    },
}

/// How many samples a pass, or a part of it, has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Samples {
    /// Here.
    pub here: usize,
    /// Consecutive records that make a sample: more than one where a sample is a unit of several.
    pub records: usize,
    /// As a rule: public, see [`PerSampleGradients::new`].
    pub usually: usize,
}

impl Samples {
    /// Samples of one record each, in a pass by itself, which no other has to agree with.
    pub fn alone(here: usize) -> Self {
        Self {
            here,
            records: 1,
            usually: here,
        }
    }

    /// Rows of a pass that they take.
    pub fn rows(self) -> usize {
        self.here * self.records
    }
}

/// The sum of weighted per-sample gradients, by parameter; none where a parameter was not used.
pub type WeightedSums = Vec<Option<Sum>>;

/// Per-sample gradients in factored form.
#[derive(Debug)]
pub struct PerSampleGradients {
    bundles: Vec<Bundle>,
    slots: HashMap<ParamId, Slot>,
    groups: usize,
    parameters: usize,
    batch: usize,
    usual_batch: usize,
    device: Device,
    performance: Performance,
}

impl PerSampleGradients {
    /// Sorts contributions by parameter and merges those to the same one.
    ///
    /// A sample is `samples.records` consecutive records: dimension 0 of a contribution is the record.
    ///
    /// What is kept, and so how norms are bounded, is decided for `samples.usually` samples: if it were
    /// decided for those that happen to be there, one more could change the factors of all.
    pub(crate) fn new(
        contributions: Vec<Contribution>,
        slots: &HashMap<ParamId, Slot>,
        samples: Samples,
        device: &Device,
        performance: Performance,
    ) -> Result<Self, GradientError> {
        let contributions = keep_trainable(contributions);
        for contribution in &contributions {
            check(contribution, slots, samples.rows())?;
        }
        let contributions = separate(contributions, slots);
        let mut order: Vec<Vec<Target>> = Vec::new();
        let mut by_targets: HashMap<Vec<Target>, Vec<Contribution>> = HashMap::new();
        for contribution in contributions {
            let key = contribution.targets.clone();
            let uses = by_targets.entry(key.clone()).or_default();
            if uses.is_empty() {
                order.push(key);
            }
            uses.push(contribution);
        }
        let merge = |targets: Vec<Target>| {
            let uses = by_targets.remove(&targets)?;
            let group = slots[&targets[0].id].group;
            Bundle::merge(uses, targets, group, samples.records)
        };
        let bundles = single(|| order.into_iter().filter_map(merge).collect());
        Ok(Self {
            bundles,
            groups: slots.values().map(|slot| slot.group + 1).max().unwrap_or(0),
            parameters: slots.len(),
            slots: slots.clone(),
            batch: samples.here,
            usual_batch: samples.usually,
            device: device.clone().without_autodiff(),
            performance: performance.on(device),
        })
    }

    /// Norms of every sample in every group. Also decides what is kept for the weighted sums.
    pub fn norms(&mut self) -> Norms {
        let mut workspace = Workspace::new(&self.performance, &self.device, self.usual_batch);
        let mut groups: Vec<Option<SquaredNorm>> = vec![None; self.groups];
        for bundle in &mut self.bundles {
            let norm = single(|| bundle.squared_norm(&self.performance, &mut workspace));
            let group = &mut groups[bundle.group];
            *group = Some(match group.take() {
                Some(group) => group.plus(norm),
                None => norm,
            });
        }
        let none = || SquaredNorm::zeros(self.batch, &self.device);
        Norms::from_groups(groups.into_iter().map(|g| g.unwrap_or_else(none)).collect())
    }

    /// Σᵢ factorsᵢ gᵢ for several queries over the same pass, each sample rounded to its grid by itself.
    ///
    /// # Guarantee
    /// A sample moves the sums by exactly what it adds to an empty one, whatever the others are and
    /// however many. Checked by `a_sum_is_exactly_that_of_its_records`, and for every layer by
    /// `assert_matches_per_sample_loop`.
    pub fn weighted_sums(self, queries: &[Weights]) -> Vec<WeightedSums> {
        let mut sums: Vec<WeightedSums> = vec![vec![None; self.parameters]; queries.len()];
        for bundle in self.bundles {
            for (query, sums) in queries.iter().zip(&mut sums) {
                let factors = query.factors.clone().narrow(1, bundle.group, 1);
                let factors = factors.reshape([self.batch]);
                let grid = query.grids[bundle.group];
                let sum = single(|| bundle.weighted_sum(&factors, grid, &self.performance));
                for (target, part) in bundle.targets.iter().zip(bundle.per_target(sum)) {
                    let sum = &mut sums[self.slots[&target.id].parameter];
                    // Parts of one parameter would each have to be within the grid's bound.
                    debug_assert!(
                        sum.is_none(),
                        "no parameter is in two bundles: see `separate`"
                    );
                    *sum = Some(part);
                }
            }
        }
        sums
    }

    /// How far rounding a sample to the grid of each group moves it at most, in steps. Depends on the
    /// shapes of the layers alone.
    pub fn roundings(&self) -> Vec<f64> {
        let mut squares = vec![0.0; self.groups];
        for bundle in &self.bundles {
            squares[bundle.group] += bundle.rounding().powi(2);
        }
        squares
            .into_iter()
            .map(|square: f64| square.sqrt() * ROUNDED_UP_F64)
            .collect()
    }

    /// What the sums are made of, `[batch, values]` each: after [`PerSampleGradients::norms`] the gradients that
    /// are kept, and the factors of the others.
    pub(crate) fn tensors(&self) -> Vec<Tensor<2>> {
        let bundles = self.bundles.iter();
        bundles.flat_map(Bundle::tensors).collect()
    }

    /// Where they lie.
    pub(crate) fn device(&self) -> &Device {
        &self.device
    }

    /// Bytes the factored gradients hold.
    pub(crate) fn bytes(&self) -> usize {
        self.bundles.iter().map(Bundle::bytes).sum()
    }

    /// Whether a factor of 0 keeps anything out of the sums here: 0 × NaN is NaN, and where integers are made of
    /// gradients that were formed, a step that is no number adds nothing.
    pub(crate) fn sum_zero_of_anything(&self) -> bool {
        is_gpu(&self.device)
    }

    /// Only the given samples; returns their indices. Elsewhere this is how a sample with a non-finite value must
    /// be removed.
    pub(crate) fn select(&mut self, samples: &[usize]) -> Tensor<1, Int> {
        self.batch = samples.len();
        let indices: Vec<i64> = samples.iter().map(|sample| *sample as i64).collect();
        let indices = Tensor::from_data(indices.as_slice(), &self.device);
        for bundle in &mut self.bundles {
            bundle.select(samples, &indices);
        }
        indices
    }
}

/// Norms and sums are made in single precision whatever the pass, and whoever calls, is in: their bounds
/// have no room for less.
fn single<T>(run: impl FnOnce() -> T) -> T {
    in_precision(Precision::Single, run)
}

/// Removes frozen targets.
fn keep_trainable(contributions: Vec<Contribution>) -> Vec<Contribution> {
    contributions
        .into_iter()
        .flat_map(|contribution| {
            if contribution.targets.iter().all(|target| target.trainable) {
                vec![contribution]
            } else {
                contribution.split()
            }
        })
        .filter(|contribution| contribution.targets.iter().all(|target| target.trainable))
        .collect()
}

fn check(
    contribution: &Contribution,
    slots: &HashMap<ParamId, Slot>,
    batch: usize,
) -> Result<(), GradientError> {
    let seen = contribution.batch();
    if seen != batch {
        return Err(GradientError::NotPerSample { seen, batch });
    }
    for target in &contribution.targets {
        if !slots.contains_key(&target.id) {
            return Err(GradientError::UnknownParameter { id: target.id });
        }
    }
    let expected: usize = contribution.targets.iter().map(|t| t.elements).sum();
    let seen = match &contribution.form {
        Form::Outer { left, right } => left.dims()[1] * left.dims()[3] * right.dims()[3],
        Form::Direct { gradient } => gradient.dims()[1],
        Form::Convolution(convolution) => {
            let size = convolution.size();
            size.blocks * size.left * size.right
        }
        // The number of rows is the table's.
        Form::Rows { right, .. } => expected / right.dims()[2] * right.dims()[2],
    };
    if seen != expected {
        return Err(GradientError::WrongSize { seen, expected });
    }
    Ok(())
}

/// Takes contributions to several targets apart where the targets are used otherwise too, or are
/// clipped in different groups.
fn separate(contributions: Vec<Contribution>, slots: &HashMap<ParamId, Slot>) -> Vec<Contribution> {
    let layout = |contribution: &Contribution| {
        let direct = matches!(contribution.form, Form::Direct { .. });
        (contribution.targets.clone(), direct)
    };
    let mut layouts: HashMap<ParamId, (Vec<Target>, bool)> = HashMap::new();
    let mut apart = false;
    for contribution in &contributions {
        let group = slots[&contribution.targets[0].id].group;
        for target in &contribution.targets {
            let known = layouts
                .entry(target.id)
                .or_insert_with(|| layout(contribution));
            let several = contribution.targets.len() > 1 || known.0.len() > 1;
            apart |= several && *known != layout(contribution);
            apart |= slots[&target.id].group != group;
        }
    }
    if !apart {
        return contributions;
    }
    contributions
        .into_iter()
        .flat_map(Contribution::split)
        .collect()
}
