//! Scale and shift of a normalised tensor, shared by the normalisation layers.

use crate::gradient::{Contribution, Target};
use crate::tape::{self, Probe};
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
        let (scales, shifts) = feature_sums(normal, gradient, features_first);
        let mut contributions = vec![Contribution::direct(scales, [scale])];
        if let Some(shift) = shift {
            contributions.push(Contribution::direct(shifts, [shift]));
        }
        contributions
    });
}

/// Σₜ x̂ ⊙ ∂y and Σₜ ∂y of each sample, with a dimension of size 1 in place of the positions.
fn feature_sums(
    normal: Tensor<3>,
    gradient: Tensor<3>,
    features_first: bool,
) -> (Tensor<3>, Tensor<3>) {
    #[cfg(feature = "cpu")]
    if let Some(sums) = crate::cpu::affine::feature_sums(&normal, &gradient, features_first) {
        return sums;
    }
    let positions = if features_first { 2 } else { 1 };
    let scaled = normal * gradient.clone();
    (scaled.sum_dim(positions), gradient.sum_dim(positions))
}
