//! Start-up checks of a model, on synthetic records: nothing private is read.
//!
//! Nothing here seeds or reads a generator. Dropout takes masks of a public key, with a synthetic
//! record's seed as its index.

use crate::mechanism::masks::Masks;
use crate::sensitivity::clipping::RoundingsByRecords;
use crate::sensitivity::gradient::{Performance, Samples};
use crate::sensitivity::grouping::Groups;
use crate::sensitivity::parameters::{CoverageError, Parameters};
use crate::sensitivity::pass::{self, PassError};
use crate::sensitivity::pass_shape::PassShape;
use crate::sensitivity::records::{PrivateModel, Records};
use crate::sensitivity::rounding::operand_error;
use burn::tensor::{Device, Tensor};

/// Samples of a check batch.
const SAMPLES: u64 = 4;

/// Passes over the same batch, to see whether losses repeat. Masks of a foreign dropout of rate p over n
/// values are all the same in so many passes with probability (1 − p)^(n · PASSES) or so.
const PASSES: usize = 8;

/// How far, relative to itself, a sample's loss may move when others change: not at all on the CPU, whose
/// kernels give a sample the same bits in every batch. What a GPU rounds may depend on the size of the batch,
/// which is therefore the same in every pass of a run; `places.rs` asks for equal bits at that size.
fn tolerance(device: &Device) -> f64 {
    match operand_error(device) {
        0.0 => 0.0,
        error => 1e-4 + 16.0 * error,
    }
}

/// What the checks tell about a model and the shape of its records.
pub(crate) struct Checked {
    /// An estimate of what one record takes in a private pass.
    pub bytes_per_record: usize,
    /// See [`PerSampleGradients::roundings`](crate::sensitivity::gradient::PerSampleGradients::roundings).
    pub roundings: RoundingsByRecords,
}

/// Refuses a model whose gradients would escape clipping, that leaves a parameter unused, that draws
/// random numbers of its own, or whose loss of a record depends on the rest of the batch. `records_of_samples` are
/// the numbers of records that samples of the run may have.
pub(crate) fn check_model<D: Records, M: PrivateModel<D::Batch>>(
    model: &M,
    records: &D,
    parameters: &Parameters,
    groups: &Groups,
    records_of_samples: &[usize],
) -> Result<Checked, PassError> {
    let device = model_device(model);
    let seeds: Vec<u64> = (0..SAMPLES).collect();
    let mut masks = Masks::public(&seeds);
    let pass = pass::run(
        model,
        groups,
        Samples::alone(seeds.len()),
        Performance::default(),
        |model| masks.during(|| model.losses(records.synthetic(&seeds, &device))),
    )?;
    if let Some(rows) = masks.misfit() {
        let batch = seeds.len();
        return Err(CoverageError::DropoutRows { batch, rows }.into());
    }
    parameters.check_all_used(&pass.used)?;
    let check = LossCheck::new(&seeds, tolerance(&device), |seeds: &[u64]| {
        Masks::public(seeds).during(|| model.losses(records.synthetic(seeds, &device)))
    });
    check.losses_repeat()?;
    check.samples_are_apart()?;
    check.position_and_size_do_not_matter()?;
    Ok(Checked {
        bytes_per_record: pass.gradients.bytes() / seeds.len() * TAPE_TO_PEAK,
        roundings: match records_of_samples {
            [1] => [(1, pass.gradients.roundings())].into(),
            several => roundings(model, records, groups, several)?,
        },
    })
}

/// How far rounding moves samples of these numbers of records: a function of shapes, so one pass over synthetic
/// records tells it for all of them.
fn roundings<D: Records, M: PrivateModel<D::Batch>>(
    model: &M,
    records: &D,
    groups: &Groups,
    records_of_samples: &[usize],
) -> Result<RoundingsByRecords, PassError> {
    let device = model_device(model);
    let most = records_of_samples.iter().copied().max().unwrap_or(1);
    // One row more than the largest sample has, so that every sample is a part of the pass.
    let seeds: Vec<u64> = (0..=most as u64).collect();
    let shape = PassShape::of_equal(seeds.len(), 1);
    let mut recorded = pass::record(model, &shape, |model| {
        Masks::public(&seeds).during(|| model.losses(records.synthetic(&seeds, &device)))
    })?;
    let each = records_of_samples.iter().map(|&records| {
        let sample = Samples {
            records,
            ..Samples::alone(1)
        };
        let gradients = recorded.part(0, sample, groups, Performance::default())?;
        Ok((records, gradients.roundings()))
    });
    each.collect()
}

/// Activations of the graph, their gradients and temporaries, relative to what the tape itself holds.
const TAPE_TO_PEAK: usize = 3;

fn model_device<M: burn::module::Module>(model: &M) -> Device {
    model
        .devices()
        .into_iter()
        .next()
        .unwrap_or_default()
        .without_autodiff()
}

/// Looks at the losses of synthetic records, by their seeds.
struct LossCheck<'a, L> {
    seeds: &'a [u64],
    tolerance: f64,
    losses: L,
    before: Vec<f64>,
}

impl<'a, L: Fn(&[u64]) -> Tensor<1>> LossCheck<'a, L> {
    fn new(seeds: &'a [u64], tolerance: f64, losses: L) -> Self {
        let before = values(losses(seeds));
        Self {
            seeds,
            tolerance,
            losses,
            before,
        }
    }

    /// The first loss, of those that a batch shares with the first one, that is not what it was there.
    fn change(&self, batch: &[u64]) -> Option<f64> {
        let after = values((self.losses)(batch));
        let before = |seed: &u64| self.before.get(*seed as usize).copied();
        let pairs = batch.iter().zip(after);
        let pairs = pairs.filter_map(|(seed, after)| Some((before(seed)?, after)));
        let mut changes = pairs.filter_map(|(before, after)| {
            let change = (after - before).abs();
            let bound = self.tolerance * before.abs().max(1e-3);
            let same = before == after || (before.is_nan() && after.is_nan());
            // One that is not finite is a change, too.
            (!same && (change > bound || !change.is_finite())).then_some(change)
        });
        changes.next()
    }

    fn losses_repeat(&self) -> Result<(), CoverageError> {
        let mut passes = (0..PASSES).map(|_| self.change(self.seeds));
        match passes.find_map(|change| change) {
            Some(change) => Err(CoverageError::DrawsRandomness { change }),
            None => Ok(()),
        }
    }

    /// Changes one sample after another and looks at the losses of the others.
    fn samples_are_apart(&self) -> Result<(), CoverageError> {
        for changed in 0..self.seeds.len() {
            let mut other = self.seeds.to_vec();
            other[changed] = self.seeds.len() as u64 + 1;
            if let Some(change) = self.change(&other) {
                return Err(CoverageError::MixesSamples { change });
            }
        }
        Ok(())
    }

    /// Moves samples to other places, into a smaller batch and into a larger one.
    fn position_and_size_do_not_matter(&self) -> Result<(), CoverageError> {
        let mut rotated = self.seeds.to_vec();
        rotated.rotate_left(1);
        let mut larger: Vec<u64> = (0..2 * self.seeds.len() as u64).collect();
        larger.reverse();
        for batch in [&rotated, &larger, &self.seeds[1..]] {
            if let Some(change) = self.change(batch) {
                return Err(CoverageError::DependsOnBatch { change });
            }
        }
        Ok(())
    }
}

fn values(losses: Tensor<1>) -> Vec<f64> {
    losses.into_data().iter::<f64>().collect()
}
