//! One recorded pass: forward, one backward for output gradients, per-sample gradients.

use crate::sensitivity::gradient::{
    Contribution, GradientError, PerSampleGradients, Performance, Samples,
};
use crate::sensitivity::grouping::Groups;
use crate::sensitivity::parameters::{CoverageError, Parameters};
use crate::sensitivity::pass_shape::PassShape;
use crate::sensitivity::tape;
use burn::module::{Module, ParamId};
use burn::tensor::{Device, Tensor, TensorData};
use std::collections::HashSet;
use thiserror::Error;

/// Why a pass gave no per-sample gradients. Nothing was released.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum PassError {
    /// The model cannot be trained privately.
    #[error(transparent)]
    Coverage(#[from] CoverageError),
    /// A layer or rule has the wrong shape.
    #[error(transparent)]
    Gradient(#[from] GradientError),
}

/// The per-sample gradients of one batch, and its losses.
pub(crate) struct Pass {
    pub gradients: PerSampleGradients,
    pub losses: Tensor<1>,
    pub used: HashSet<ParamId>,
}

/// What a pass recorded, row by row.
pub(crate) struct Recorded {
    contributions: Vec<Contribution>,
    /// One loss per row.
    pub losses: Tensor<1>,
    pub used: HashSet<ParamId>,
    rows: usize,
    device: Device,
}

impl Recorded {
    /// The gradients of some samples, which begin at row `first`. If they are all that there are, what was recorded
    /// is moved rather than shared.
    pub fn part(
        &mut self,
        first: usize,
        samples: Samples,
        groups: &Groups,
        performance: Performance,
    ) -> Result<PerSampleGradients, GradientError> {
        let rows = samples.rows();
        let contributions = if rows == self.rows {
            std::mem::take(&mut self.contributions)
        } else {
            let all = self.contributions.iter();
            all.map(|contribution| contribution.part(first, rows))
                .collect()
        };
        PerSampleGradients::new(
            contributions,
            groups.slots(),
            samples,
            &self.device,
            performance,
        )
    }
}

/// Runs forward and backward on a batch whose losses are multiplied by their rows' shares.
///
/// # Shapes
/// - `losses`: `[rows]`, one loss per row
pub(crate) fn record<M: Module>(
    model: &M,
    shape: &PassShape,
    losses: impl FnOnce(&M) -> Tensor<1>,
) -> Result<Recorded, PassError> {
    let (losses, recorded) = tape::record(|| losses(model));
    let (rows, seen) = (shape.rows(), losses.dims()[0]);
    if seen != rows {
        return Err(CoverageError::NotPerSample { batch: rows, seen }.into());
    }
    let device = losses.device();
    let contributions = if losses.is_tracked() {
        let mut gradients = shared(&losses, shape.shares()).sum().backward();
        Parameters::check_no_escape(model, &gradients)?;
        recorded.contributions(&mut gradients)
    } else {
        Vec::new()
    };
    // A layer whose first dimension is not the row cannot be cut into parts.
    for contribution in &contributions {
        let seen = contribution.batch();
        if seen != rows {
            return Err(GradientError::NotPerSample { seen, batch: rows }.into());
        }
    }
    let used = contributions
        .iter()
        .flat_map(|contribution| contribution.targets.iter().map(|target| target.id))
        .collect();
    Ok(Recorded {
        contributions,
        losses: losses.inner(),
        used,
        rows,
        device,
    })
}

/// Losses times their shares; none are given where each is 1.
fn shared(losses: &Tensor<1>, shares: &[f32]) -> Tensor<1> {
    if shares.is_empty() {
        return losses.clone();
    }
    let shares = TensorData::new(shares.to_vec(), [shares.len()]);
    losses.clone() * Tensor::from_data(shares, &losses.device())
}

/// Runs forward and backward on a batch of samples that are treated in one part.
///
/// # Shapes
/// - `losses`: `[samples · records]`, one loss per record
pub(crate) fn run<M: Module>(
    model: &M,
    groups: &Groups,
    samples: Samples,
    performance: Performance,
    losses: impl FnOnce(&M) -> Tensor<1>,
) -> Result<Pass, PassError> {
    let shape = PassShape::of_equal(samples.here, samples.records);
    let mut recorded = record(model, &shape, losses)?;
    Ok(Pass {
        gradients: recorded.part(0, samples, groups, performance)?,
        losses: recorded.losses,
        used: recorded.used,
    })
}
