//! Rows brought to mean 0 and variance 1: what layer and group normalisation share.

use super::{Derivative, Input, Values, apply};
use burn::tensor::Tensor;
use std::sync::Arc;
use tacita_kernels::normalise::{normalise as forward, normalise_gradient};

#[derive(Debug, Clone)]
struct Normalised {
    rows: Values,
    inverse_deviations: Arc<Vec<f32>>,
}

impl Derivative<1> for Normalised {
    fn gradients(self, dy: Values, _: [bool; 1]) -> [Option<Values>; 1] {
        let shape: [usize; 2] = self.rows.dims();
        let deviations = &self.inverse_deviations;
        let dx = normalise_gradient(self.rows.slice(), deviations, dy.slice(), shape[1]);
        [Some(Values::new(dx, shape))]
    }
}

/// (x − mean) / √(variance + ε) of each row.
pub(crate) fn normalise(x: &Tensor<2>, epsilon: f64) -> Option<Tensor<2>> {
    let shape = x.dims();
    Some(apply([Input::of(x)?], |[x]| {
        let (rows, inverse_deviations) = forward(x.slice(), shape[1], epsilon as f32);
        let rows = Values::new(rows, shape);
        let kept = Normalised {
            rows: rows.clone(),
            inverse_deviations: Arc::new(inverse_deviations),
        };
        (rows, kept)
    }))
}
