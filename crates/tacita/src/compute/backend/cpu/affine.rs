//! A learned scale and shift per feature.

use super::convolution::{given, optional};
use super::{Derivative, Input, Values, apply};
use burn::tensor::Tensor;
use tacita_kernels::affine::{self, affine as forward};

#[derive(Debug, Clone)]
struct Affine {
    x: Values,
    scale: Values,
    inner: usize,
}

impl Derivative<3> for Affine {
    fn gradients(self, dy: Values, wanted: [bool; 3]) -> [Option<Values>; 3] {
        let Self { x, scale, inner } = self;
        let features = scale.slice().len();
        let mut sums = [None, None];
        if wanted[1] || wanted[2] {
            let (products, shifts) =
                affine::feature_sums(x.slice(), dy.slice(), features, inner, 1);
            sums = [products, shifts].map(|sums| Some(Values::new(sums, [features])));
        }
        let [products, shifts] = sums;
        let dx = wanted[0].then(|| {
            let dx = forward(dy.slice(), scale.slice(), None, inner);
            Values::new(dx, x.dims::<3>())
        });
        [
            dx,
            products.filter(|_| wanted[1]),
            shifts.filter(|_| wanted[2]),
        ]
    }
}

/// x · scale + shift.
///
/// # Shapes
/// - x: `[outer, features, inner]`; scale, shift: `[features]`
pub(crate) fn affine(
    x: &Tensor<3>,
    scale: &Tensor<1>,
    shift: Option<&Tensor<1>>,
) -> Option<Tensor<3>> {
    let shape = x.dims();
    let inputs = [Input::of(x)?, Input::of(scale)?, optional(shift)?];
    Some(apply(inputs, |[x, scale, shift]| {
        let inner = shape[2];
        let y = forward(x.slice(), scale.slice(), given(&shift), inner);
        (Values::new(y, shape), Affine { x, scale, inner })
    }))
}

/// Σₜ x̂ ⊙ ∂y and Σₜ ∂y of each sample.
pub(crate) fn feature_sums(
    normal: &Tensor<3>,
    gradient: &Tensor<3>,
    features_first: bool,
) -> Option<(Tensor<3>, Tensor<3>)> {
    let [batch, second, third] = gradient.dims();
    let (features, inner, shape) = match features_first {
        true => (second, third, [batch, second, 1]),
        false => (third, 1, [batch, 1, third]),
    };
    let (normal, gradient) = (Values::free(normal)?, Values::free(gradient)?);
    let (scales, shifts) =
        affine::feature_sums(normal.slice(), gradient.slice(), features, inner, batch);
    Some((
        Values::new(scales, shape).into(),
        Values::new(shifts, shape).into(),
    ))
}
