//! Scale and shift of a normalised tensor, shared by the normalisation layers.

use crate::gradient::{Contribution, Target};
use crate::tape::{self, Probe};
use burn::tensor::Tensor;

/// Registers the gradients of a scale and a shift of the features of dimension `1`:
/// Σₜ ∂y ⊙ x̂ and Σₜ ∂y. `normalised` is called in the backward pass, so x̂ need not be kept.
///
/// # Shapes
/// - the probe and what `normalised` returns: `[batch, positions, features]` or, with
///   `features_first`, `[batch, features, positions]`
pub(super) fn on_backward(
    probe: Probe<3>,
    normalised: impl FnOnce() -> Tensor<3> + 'static,
    features_first: bool,
    scale: Target,
    shift: Option<Target>,
) {
    tape::on_backward(probe, move |gradient: Tensor<3>| {
        let positions = if features_first { 2 } else { 1 };
        let scaled = normalised() * gradient.clone();
        let mut contributions = vec![Contribution::direct(scaled.sum_dim(positions), [scale])];
        if let Some(shift) = shift {
            contributions.push(Contribution::direct(gradient.sum_dim(positions), [shift]));
        }
        contributions
    });
}
