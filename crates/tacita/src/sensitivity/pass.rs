//! One recorded pass: forward, one backward for output gradients, per-sample gradients.

use crate::sensitivity::gradient::{GradientError, PerSampleGradients, Performance};
use crate::sensitivity::grouping::Groups;
use crate::sensitivity::parameters::{CoverageError, Parameters};
use crate::sensitivity::tape;
use burn::module::{Module, ParamId};
use burn::tensor::Tensor;
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

/// The rows of a pass: records first, and then what fills it up to the size that all passes have and counts
/// for nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PassRows {
    /// Rows in the pass.
    pub all: usize,
    /// How many of them, the first ones, are records that count.
    pub counted: usize,
}

impl From<usize> for PassRows {
    /// So many records and nothing else.
    fn from(records: usize) -> Self {
        Self {
            all: records,
            counted: records,
        }
    }
}

/// How many samples a pass has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Samples {
    /// In this pass.
    pub here: usize,
    /// As a rule: public, see [`PerSampleGradients::new`].
    pub usually: usize,
}

impl Samples {
    /// A pass by itself, which no other has to agree with.
    pub fn alone(here: usize) -> Self {
        Self {
            here,
            usually: here,
        }
    }
}

/// Runs forward and backward on a batch.
///
/// # Shapes
/// - `losses`: `[batch]`, one loss per sample
pub(crate) fn run<M: Module>(
    model: &M,
    groups: &Groups,
    samples: Samples,
    performance: Performance,
    losses: impl FnOnce(&M) -> Tensor<1>,
) -> Result<Pass, PassError> {
    let (losses, recorded) = tape::record(|| losses(model));
    let (batch, seen) = (samples.here, losses.dims()[0]);
    if seen != batch {
        return Err(CoverageError::NotPerSample { batch, seen }.into());
    }
    let device = losses.device();
    let contributions = if losses.is_tracked() {
        let mut gradients = losses.clone().sum().backward();
        Parameters::check_no_escape(model, &gradients)?;
        recorded.contributions(&mut gradients)
    } else {
        Vec::new()
    };
    let used = contributions
        .iter()
        .flat_map(|contribution| contribution.targets.iter().map(|target| target.id))
        .collect();
    let gradients = PerSampleGradients::new(
        contributions,
        groups.slots(),
        batch,
        samples.usually,
        &device,
        performance,
    )?;
    Ok(Pass {
        gradients,
        losses: losses.inner(),
        used,
    })
}
