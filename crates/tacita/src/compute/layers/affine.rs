//! Scale and shift of a normalised tensor, shared by the normalisation layers.

use crate::compute::backend::ops;
use crate::sensitivity::gradient::{Contribution, Target};
use crate::sensitivity::tape::{self, Probe};
use burn::tensor::Tensor;

/// Registers the gradients of a scale and a shift of the features: Σₜ ∂y ⊙ x̂ and Σₜ ∂y.
///
/// # Shapes
/// - the probe and `normal` (x̂): `[batch, positions, features]` or, with `features_first`,
///   `[batch, features, positions]`
pub(super) fn on_backward(
    probe: Probe<3>,
    normal: Tensor<3>,
    features_first: bool,
    scale: Target,
    shift: Option<Target>,
) {
    tape::on_backward(probe, move |gradient: Tensor<3>| {
        let (scales, shifts) = ops::feature_sums(normal, gradient, features_first);
        let mut contributions = vec![Contribution::direct(scales, [scale])];
        if let Some(shift) = shift {
            contributions.push(Contribution::direct(shifts, [shift]));
        }
        contributions
    });
}
