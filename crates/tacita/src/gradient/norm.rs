//! Squared norms that are never too small.
//!
//! Let u = 2⁻²⁴. A sum of n products in any order is off by at most γₙ Σ|aᵢbᵢ| with
//! γₙ = n·u / (1 − n·u) (Higham 2002, §3.1). Every norm carries the bound of its own formula as
//! `slack`: truth ≤ value + slack, or a share of the value. Clipping uses [`Norms::upper`].

use crate::card::is_card;
use burn::tensor::{Device, Int, Tensor};

/// Unit roundoff of f32, the least precise type norms are computed in.
pub(crate) const UNIT_ROUNDOFF: f64 = 1.0 / (1u64 << 24) as f64;

/// γₙ of Higham, a little enlarged for the roundings of the bound itself.
pub(crate) fn gamma(operations: usize) -> f64 {
    let error = operations as f64 * UNIT_ROUNDOFF;
    1.01 * error / (1.0 - error.min(0.5))
}

/// How far an operand of a matrix product may be rounded before it is multiplied, relative to it.
///
/// The CPU multiplies f32 as they are. Tensor cores take TF32, with ten bits after the leading one:
/// 2⁻¹¹ where they round and 2⁻¹⁰ where they cut off. The products themselves are added in f32.
pub(crate) fn operand_error(device: &Device) -> f64 {
    match is_card(device) {
        true => 1.0 / 1024.0,
        false => 0.0,
    }
}

/// ‖g_i‖² of each sample, and how far the truth may lie above it:
/// truth ≤ (1 + relative) · value + slack. Tensors are `[batch]`.
///
/// Most bounds are relative, and then no tensor carries them.
#[derive(Debug, Clone)]
pub(crate) struct SquaredNorm {
    pub value: Tensor<1>,
    relative: f64,
    slack: Option<Tensor<1>>,
}

impl SquaredNorm {
    pub fn zeros(batch: usize, device: &Device) -> Self {
        Self::relative(Tensor::zeros([batch], device), 0)
    }

    /// A value whose relative error is that of `operations` roundings.
    pub fn relative(value: Tensor<1>, operations: usize) -> Self {
        Self {
            value,
            relative: gamma(operations),
            slack: None,
        }
    }

    /// A value with an absolute error.
    pub fn within(value: Tensor<1>, slack: Tensor<1>) -> Self {
        Self {
            value,
            relative: 0.0,
            slack: Some(slack),
        }
    }

    /// A bound that the truth does not exceed.
    pub fn upper(&self) -> Tensor<1> {
        let value = match self.relative {
            0.0 => self.value.clone(),
            // Two roundings: of the factor and of the product.
            relative => self.value.clone() * (1.0 + relative + gamma(2)),
        };
        match &self.slack {
            Some(slack) => value + slack.clone(),
            None => value,
        }
    }

    /// The norm of an outer product, from those of its factors: a sum of positive terms.
    pub fn times(self, other: Self) -> Self {
        let slack = match (&self.slack, &other.slack) {
            (None, None) => None,
            _ => Some(self.upper() * other.upper() - self.value.clone() * other.value.clone()),
        };
        Self {
            value: self.value * other.value,
            // One rounding for the product of the values, one for that of the bounds.
            relative: (1.0 + self.relative) * (1.0 + other.relative) - 1.0 + gamma(2),
            slack,
        }
    }

    /// With room for a gradient that is off by a share of itself when it is summed.
    pub fn widened(self, share: f64) -> Self {
        if share == 0.0 {
            return self;
        }
        let squared = (1.0 + share) * (1.0 + share);
        Self {
            value: self.value,
            relative: (1.0 + self.relative) * squared - 1.0,
            slack: self.slack.map(|slack| slack * squared),
        }
    }

    /// With room for a gradient that is off by `error`, the norm of the difference, when it is
    /// summed: (‖g‖ + e)² = ‖g‖² + e(2‖g‖ + e).
    pub fn off_by(self, error: Tensor<1>) -> Self {
        let more = error.clone() * (self.upper().sqrt() * 2.02 + error * 1.01);
        Self {
            slack: Some(match self.slack {
                Some(slack) => slack + more,
                None => more,
            }),
            ..self
        }
    }

    /// With room for the weighted sum, which adds up the terms of every entry in f32: where they cancel,
    /// what they leave can be less than those roundings. `reach` is the sum of the norms of the terms.
    pub fn summed(self, reach: Tensor<1>, terms: usize) -> Self {
        // One rounding more, of the product with the factor.
        self.off_by(reach * gamma(terms + 1))
    }

    /// From inner products between `terms` positions, whose terms cancel: the error is bounded on the
    /// square of `reach`.
    #[cfg(feature = "cpu")]
    pub fn from_gram(value: Tensor<1>, reach: Tensor<1>, operations: usize, terms: usize) -> Self {
        let slack = reach.clone() * reach.clone() * gamma(operations);
        Self::within(value.clamp_min(0.0), slack).summed(reach, terms)
    }

    /// Of a gradient that was added up from `terms` and dropped: what is summed later is not this
    /// rounded product.
    pub fn recomputed(self, reach: Tensor<1>, terms: usize) -> Self {
        self.off_by(reach.clone() * gamma(terms))
            .summed(reach, terms)
    }

    /// Twice an inner product, as the square of a sum has it.
    pub fn twice(self) -> Self {
        Self {
            value: self.value * 2.0,
            relative: self.relative,
            slack: self.slack.map(|slack| slack * 2.0),
        }
    }

    /// The squared norm of two disjoint parts of a gradient.
    pub fn and(self, other: Self) -> Self {
        Self {
            value: self.value + other.value,
            // Both values are at least zero, so the larger share covers both; and a rounding.
            relative: self.relative.max(other.relative) + gamma(1),
            slack: match (self.slack, other.slack) {
                (Some(mine), Some(others)) => Some(mine + others),
                (mine, others) => mine.or(others),
            },
        }
    }

    /// Of `[batch · blocks]`, the sum over the blocks of each sample.
    pub fn over_blocks(self, batch: usize, blocks: usize) -> Self {
        let sum = |values: Tensor<1>| values.reshape([batch, blocks]).sum_dim(1).reshape([batch]);
        Self {
            value: sum(self.value),
            relative: (1.0 + self.relative) * (1.0 + gamma(blocks)) - 1.0,
            slack: self.slack.map(|slack| sum(slack) * (1.0 + gamma(blocks))),
        }
    }

    /// Those of one run of samples after another.
    pub fn join(parts: Vec<Self>) -> Self {
        let upper = Tensor::cat(parts.iter().map(Self::upper).collect(), 0);
        let value = Tensor::cat(parts.into_iter().map(|part| part.value).collect(), 0);
        Self {
            relative: gamma(4),
            slack: Some((upper - value.clone()).clamp_min(0.0) * (1.0 + gamma(4))),
            value,
        }
    }

    /// The same with an inner product, which may be below zero and then has no relative bound.
    pub fn and_signed(self, other: Self) -> Self {
        let upper = self.upper() + other.upper();
        let value = (self.value + other.value).clamp_min(0.0);
        Self {
            relative: gamma(4),
            slack: Some((upper - value.clone()).clamp_min(0.0) * (1.0 + gamma(4))),
            value,
        }
    }
}

/// Lengths of the partial sums of long rows.
const BLOCKS: [usize; 5] = [1024, 512, 256, 128, 64];

/// Σ of the last dimension, in two passes so that the error grows as the square root of its length.
/// Returns the sums and the number of roundings in a chain.
pub(crate) fn sum_last(rows: Tensor<2>) -> (Tensor<1>, usize) {
    let [batch, length] = rows.dims();
    let block = BLOCKS
        .into_iter()
        .find(|block| length % block == 0 && length / block > 1);
    match block {
        Some(block) => {
            let partial = rows.reshape([batch, length / block, block]).sum_dim(2);
            let sums = partial.reshape([batch, length / block]).sum_dim(1);
            (sums.reshape([batch]), block + length / block)
        }
        None => (rows.sum_dim(1).reshape([batch]), length),
    }
}

/// Σ of squares of each row.
///
/// # Shapes
/// - `rows`: `[batch, elements]`
pub(crate) fn sum_of_squares(rows: Tensor<2>) -> SquaredNorm {
    #[cfg(feature = "cpu")]
    if let Some(squares) = crate::cpu::gradient::row_squares(&rows) {
        return squares;
    }
    #[cfg(feature = "cuda")]
    if let Some(squares) = crate::gpu::norms::row_squares(&rows) {
        return squares;
    }
    // Not a matrix product of the row with itself: tensor cores would round its values first.
    let (value, operations) = sum_last(rows.clone() * rows);
    SquaredNorm::relative(value, operations + 2)
}

/// Norms of every sample in every clipping group.
#[derive(Debug, Clone)]
pub struct Norms {
    /// ‖g_i‖² as computed. `[batch, groups]`
    pub(crate) squared: Tensor<2>,
    /// A bound that the true ‖g_i‖ does not exceed. `[batch, groups]`
    pub(crate) upper: Tensor<2>,
}

/// Below this, squares lose precision to underflow; it is added to every squared norm, so a gradient
/// shorter than 1e-15 is clipped as if it were that long.
const UNDERFLOW: f64 = 1e-30;

impl Norms {
    pub(crate) fn from_groups(groups: Vec<SquaredNorm>) -> Self {
        // Four more roundings: the sum, the constant, the root, the product.
        let upper = groups.iter().map(|group| group.upper().unsqueeze_dim(1));
        let upper = (beside(upper.collect()) + UNDERFLOW).sqrt() * (1.0 + gamma(4));
        let squared = groups.into_iter().map(|group| group.value.unsqueeze_dim(1));
        let squared = beside(squared.collect());
        Self { squared, upper }
    }

    /// Factors with 0 where the norm is zero or not finite.
    pub(crate) fn zero_where_unusable(&self, factors: Tensor<2>) -> Tensor<2> {
        // No comparison holds for NaN.
        let usable = self.upper.clone().lower_equal_elem(f32::MAX);
        let usable = usable.bool_and(self.squared.clone().greater_elem(0.0));
        factors.mask_fill(usable.bool_not(), 0.0)
    }

    /// Only the given samples.
    pub(crate) fn select(self, samples: Tensor<1, Int>) -> Self {
        Self {
            squared: self.squared.select(0, samples.clone()),
            upper: self.upper.select(0, samples),
        }
    }

    /// Norms of each sample and group as computed, for tests and diagnostics.
    pub fn values(&self) -> Tensor<2> {
        self.squared.clone().sqrt()
    }

    /// Bounds that the true norms do not exceed.
    pub fn upper(&self) -> Tensor<2> {
        self.upper.clone()
    }
}

/// Columns side by side.
fn beside(mut columns: Vec<Tensor<2>>) -> Tensor<2> {
    match columns.len() {
        1 => columns.swap_remove(0),
        _ => Tensor::cat(columns, 1),
    }
}
