//! g_i = Σₜ aₜ ⊗ bₜ in one block: norms without keeping a gradient, weighted sums.

use super::Values;
use crate::compute::backend::norms::Measured;
use crate::compute::backend::rows::HostRows;
use burn::backend::Flex;
use burn::tensor::Tensor;
use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;
use tacita_kernels::exact::{Factor, Grid, Outer, Parts, Sum, add_outer};
use tacita_kernels::outer::{self, Grams, Norms};
use tacita_kernels::product::Workers;

/// Whether there are kernels for these factors: in one block, on this backend.
pub(crate) fn has_outer_kernels(left: &Tensor<4>) -> bool {
    left.dims()[1] == 1 && left.clone().try_into_primitive::<Flex>().is_ok()
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

fn measured(norms: Norms) -> Measured {
    let [squares, reach] = [norms.squares, norms.reach].map(|values| {
        let count = values.len();
        Values::new(values, [count]).into()
    });
    Measured { squares, reach }
}

/// The norm from inner products between positions.
pub(crate) fn gram_norms(
    left: &Tensor<4>,
    right: &Tensor<4>,
    cache: &mut GramCache,
) -> Option<Measured> {
    if left.dims()[1] != 1 {
        return None;
    }
    let (left, right) = (cache.of(left)?, cache.of(right)?);
    Some(measured(outer::gram_norms(&left, &right)))
}

/// The norm of gradients that are formed part by part and dropped.
pub(crate) fn outer_norms(left: &Tensor<4>, right: &Tensor<4>) -> Option<Measured> {
    let [_, blocks, positions, d] = left.dims();
    if blocks != 1 {
        return None;
    }
    let sizes = [d, right.dims()[3]];
    let (left, right) = (Values::free(left)?, Values::free(right)?);
    let norms = outer::formed_norms(left.slice(), right.slice(), positions, sizes);
    Some(measured(norms))
}

/// The factors of all samples, in one block.
struct Factors {
    left: Values,
    right: Values,
    weights: Values,
    positions: usize,
    sizes: [usize; 2],
}

impl Factors {
    fn new(left: &Tensor<4>, right: &Tensor<4>, factors: &Tensor<1>) -> Option<Self> {
        let [_, blocks, positions, d] = left.dims();
        if blocks != 1 {
            return None;
        }
        Some(Self {
            left: Values::free(left)?,
            right: Values::free(right)?,
            weights: Values::free(factors)?,
            positions,
            sizes: [d, right.dims()[3]],
        })
    }

    /// Adds the steps of some samples.
    fn add_steps(&self, steps: &mut [u32], some: Range<usize>, grid: Grid, parts: Parts) {
        let rows = some.start * self.positions..some.end * self.positions;
        let [d, p] = self.sizes;
        let outer = Outer {
            left: Factor::ByPosition {
                values: &self.left.slice()[rows.start * d..rows.end * d],
                width: d,
            },
            right: Factor::ByPosition {
                values: &self.right.slice()[rows.start * p..rows.end * p],
                width: p,
            },
            positions: self.positions,
            factors: &self.weights.slice()[some],
        };
        add_outer(steps, outer, grid, parts, Workers::All);
    }
}

/// Σᵢ cᵢ gᵢ on a grid, `[d · p]`.
pub(crate) fn outer_sum(
    left: &Tensor<4>,
    right: &Tensor<4>,
    factors: &Tensor<1>,
    grid: Grid,
) -> Option<Sum> {
    let factors = Factors::new(left, right, factors)?;
    let (elements, batch) = (factors.sizes.iter().product(), left.dims()[0]);
    Some(Sum::of_records(grid, elements, batch, |some, steps| {
        factors.add_steps(steps, some, grid, Parts::Whole);
    }))
}

/// The same for a table that is an embedding and, transposed, an output layer.
pub(crate) fn tied_sum(
    rows: &HostRows,
    left: &Tensor<4>,
    right: &Tensor<4>,
    factors: &Tensor<1>,
    grid: Grid,
) -> Option<Sum> {
    let factors = Factors::new(left, right, factors)?;
    let (elements, batch) = (factors.sizes.iter().product(), left.dims()[0]);
    Some(Sum::of_records(grid, elements, batch, |some, steps| {
        let weights = &factors.weights.slice()[some.clone()];
        rows.add_steps(steps, weights, some.clone(), grid);
        factors.add_steps(steps, some, grid, Parts::One);
    }))
}
