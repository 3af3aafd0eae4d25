//! Start-up checks of a model, on made-up records: nothing private is read.

use crate::clipping::Groups;
use crate::gradient::Performance;
use crate::parameters::{CoverageError, Parameters};
use crate::pass::{self, PassError, Samples};
use crate::records::{PrivateModel, Records};
use burn::tensor::{Device, Tensor};

/// Samples of a check batch.
const SAMPLES: u64 = 4;

/// A sample's loss may move by this, relative, when another sample changes: products of another batch
/// may round differently.
const ROUNDING: f64 = 1e-4;

/// What the checks tell about a model and the shape of its records.
pub(crate) struct Checked {
    /// An estimate of what one record takes in a private pass.
    pub bytes_per_record: usize,
    /// See [`PerSampleGradients::roundings`](crate::gradient::PerSampleGradients::roundings).
    pub roundings: Vec<f64>,
}

/// Refuses a model whose gradients would escape clipping, that leaves a parameter unused, or that
/// mixes samples.
pub(crate) fn check_model<D: Records, M: PrivateModel<D::Batch>>(
    model: &M,
    records: &D,
    parameters: &Parameters,
    groups: &Groups,
) -> Result<Checked, PassError> {
    let device = model_device(model);
    let seeds: Vec<u64> = (0..SAMPLES).collect();
    let pass = pass::run(
        model,
        groups,
        Samples::alone(seeds.len()),
        Performance::default(),
        |model| model.losses(records.synthetic(&seeds, &device)),
    )?;
    parameters.check_all_used(&pass.used)?;
    let losses = |seeds: &[u64]| model.losses(records.synthetic(seeds, &device));
    check_samples_apart(losses, &seeds, &device)?;
    Ok(Checked {
        bytes_per_record: pass.gradients.bytes() / seeds.len() * TAPE_TO_PEAK,
        roundings: pass.gradients.roundings(),
    })
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

/// Changes one sample after another and looks at the losses of the others.
fn check_samples_apart(
    losses: impl Fn(&[u64]) -> Tensor<1>,
    seeds: &[u64],
    device: &Device,
) -> Result<(), CoverageError> {
    let values = |seeds: &[u64]| -> Vec<f64> {
        // Dropout draws the same masks each time.
        device.seed(0);
        losses(seeds).into_data().iter::<f64>().collect()
    };
    let before = values(seeds);
    for changed in 0..seeds.len() {
        let mut other = seeds.to_vec();
        other[changed] = seeds.len() as u64 + 1;
        let after = values(&other);
        for sample in (0..seeds.len()).filter(|sample| *sample != changed) {
            let change = (after[sample] - before[sample]).abs();
            if change > ROUNDING * before[sample].abs().max(1e-3) {
                return Err(CoverageError::MixesSamples { change });
            }
        }
    }
    Ok(())
}
