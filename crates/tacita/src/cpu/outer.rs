//! g_i = Σₜ aₜ ⊗ bₜ in one block: norms without keeping a gradient, weighted sums.

use super::Values;
use crate::gradient::{Size, SquaredNorm, Strategy};
use burn::backend::Flex;
use burn::tensor::Tensor;
use std::collections::VecDeque;
use std::sync::Arc;
use tacita_kernels::outer::{self, Grams, Norms};

/// The cheapest way on this backend.
///
/// Keeping gradients writes, squares and reads each entry in memory that was not there before: the
/// price of some hundred multiply-adds. So they are kept only where they are small beside the factors
/// they replace; otherwise their norms come from whichever of both ways has less arithmetic.
pub(crate) fn strategy(left: &Tensor<4>, size: Size) -> Option<Strategy> {
    left.clone().try_into_primitive::<Flex>().ok()?;
    if size.blocks != 1 {
        return None;
    }
    let (t, d, p) = (size.positions as f64, size.left as f64, size.right as f64);
    let (formed, gram) = (t * d * p, 0.75 * t * t * (d + p));
    Some(if 2 * size.gradient_bytes() <= size.factor_bytes() {
        Strategy::Kept
    } else if gram <= formed {
        Strategy::Gram
    } else {
        Strategy::Recomputed
    })
}

/// Gram matrices of the last few factors: one sequence often goes through several layers, and the
/// gates of a recurrent layer have one gradient for both of their matrices.
#[derive(Debug, Default)]
pub(crate) struct GramCache {
    /// Each with its factor, which keeps the values where they are while they are known by address.
    known: VecDeque<(Values, Arc<Grams>)>,
}

/// Gram matrices remembered.
const KNOWN: usize = 4;

impl GramCache {
    fn of(&mut self, factor: &Tensor<4>) -> Option<Arc<Grams>> {
        let [batch, _, positions, _] = factor.dims();
        let values = Values::free(factor)?;
        let same = |(known, _): &&(Values, Arc<Grams>)| std::ptr::eq(known.slice(), values.slice());
        if let Some((_, grams)) = self.known.iter().find(same) {
            return Some(grams.clone());
        }
        let grams = Arc::new(outer::grams(values.slice(), batch, positions));
        self.known.push_front((values, grams.clone()));
        self.known.truncate(KNOWN);
        Some(grams)
    }
}

fn tensors(norms: Norms) -> [Tensor<1>; 2] {
    [norms.squares, norms.reach].map(|values| {
        let count = values.len();
        Values::new(values, [count]).into()
    })
}

/// The norm from inner products between positions.
pub(crate) fn gram(
    left: &Tensor<4>,
    right: &Tensor<4>,
    cache: &mut GramCache,
) -> Option<SquaredNorm> {
    let [_, blocks, positions, d] = left.dims();
    if blocks != 1 {
        return None;
    }
    let operations = d + right.dims()[3] + 2 * positions + 4;
    let (left, right) = (cache.of(left)?, cache.of(right)?);
    let [squares, reach] = tensors(outer::gram_norms(&left, &right));
    Some(SquaredNorm::from_gram(
        squares, reach, operations, positions,
    ))
}

/// The norm of gradients that are formed part by part and dropped.
pub(crate) fn recompute(left: &Tensor<4>, right: &Tensor<4>) -> Option<SquaredNorm> {
    let [_, blocks, positions, d] = left.dims();
    if blocks != 1 {
        return None;
    }
    let sizes = [d, right.dims()[3]];
    let (left, right) = (Values::free(left)?, Values::free(right)?);
    let norms = outer::formed_norms(left.slice(), right.slice(), positions, sizes);
    let [squares, reach] = tensors(norms);
    let norm = SquaredNorm::relative(squares, super::gradient::ROUNDINGS);
    Some(norm.recomputed(reach, positions))
}

/// Σᵢ cᵢ gᵢ, `[d · p]`.
pub(crate) fn weighted_sum(
    left: &Tensor<4>,
    right: &Tensor<4>,
    factors: &Tensor<1>,
) -> Option<Tensor<1>> {
    let [_, blocks, positions, d] = left.dims();
    if blocks != 1 {
        return None;
    }
    let p = right.dims()[3];
    let (left, right) = (Values::free(left)?, Values::free(right)?);
    let factors = Values::free(factors)?;
    let (left, right, factors) = (left.slice(), right.slice(), factors.slice());
    let sum = outer::weighted_sum(left, right, factors, positions, [d, p]);
    Some(Values::new(sum, [d * p]).into())
}
