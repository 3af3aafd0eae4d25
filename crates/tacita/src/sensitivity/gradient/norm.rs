//! Squared norms that are never too small.
//!
//! Every norm carries the bound of its own formula as `slack`: truth ≤ value + slack, or as a share of the
//! value. Clipping uses [`Norms::upper`]. The bounds are derived in §3.2 of `sensitivity/PROOF.md`.

use crate::compute::backend::{self, Measured, Squares};
use crate::sensitivity::rounding::{OF_SQUARES, UNDERFLOW, WidenedSquare, gamma};
use burn::tensor::{Device, Int, Tensor};

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

impl From<Squares> for SquaredNorm {
    fn from(Squares { value, additions }: Squares) -> Self {
        Self::relative(value, additions + OF_SQUARES)
    }
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

    /// Allows for a gradient that is off by a share of itself when it is summed.
    pub fn allowing_relative(self, share: f64) -> Self {
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

    /// Allows for a gradient that is off by `error`, the norm of the difference, when it is
    /// summed: (‖g‖ + e)² = ‖g‖² + e(2‖g‖ + e).
    pub fn allowing_absolute(self, error: Tensor<1>) -> Self {
        let more = error.clone()
            * (self.upper().sqrt() * WidenedSquare::LINEAR + error * WidenedSquare::QUADRATIC);
        Self {
            slack: Some(match self.slack {
                Some(slack) => slack + more,
                None => more,
            }),
            ..self
        }
    }

    /// Allows for the weighted sum, which adds up the terms of every entry in f32: where they cancel,
    /// what they leave can be less than those roundings. `reach` is the sum of the norms of the terms.
    pub fn allowing_summation(self, reach: Tensor<1>, terms: usize) -> Self {
        // One rounding more, of the product with the factor.
        self.allowing_absolute(reach * gamma(terms + 1))
    }

    /// From inner products between `terms` positions, whose terms cancel: the error is bounded on the
    /// square of the reach.
    pub fn from_gram(
        Measured { squares, reach }: Measured,
        operations: usize,
        terms: usize,
    ) -> Self {
        let slack = reach.clone() * reach.clone() * gamma(operations);
        Self::within(squares.clamp_min(0.0), slack).allowing_summation(reach, terms)
    }

    /// From gradients that were added up from `terms` and dropped, their squares in f64.
    pub fn from_formed(Measured { squares, reach }: Measured, terms: usize) -> Self {
        Self::relative(squares, OF_SQUARES).allowing_recomputation(reach, terms)
    }

    /// Of a gradient that was added up from `terms` and dropped: what is summed later is not this
    /// rounded product.
    pub fn allowing_recomputation(self, reach: Tensor<1>, terms: usize) -> Self {
        self.allowing_absolute(reach.clone() * gamma(terms))
            .allowing_summation(reach, terms)
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
    pub fn plus(self, other: Self) -> Self {
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

    /// Only the last samples.
    pub fn last(self, count: usize) -> Self {
        let last = |values: Tensor<1>| {
            let [all] = values.dims();
            values.narrow(0, all - count, count)
        };
        Self {
            value: last(self.value),
            relative: self.relative,
            slack: self.slack.map(last),
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
    pub fn plus_inner_product(self, other: Self) -> Self {
        let upper = self.upper() + other.upper();
        let value = (self.value + other.value).clamp_min(0.0);
        Self {
            relative: gamma(4),
            slack: Some((upper - value.clone()).clamp_min(0.0) * (1.0 + gamma(4))),
            value,
        }
    }
}

/// Σ of squares of each row.
///
/// # Shapes
/// - `rows`: `[batch, elements]`
pub(crate) fn sum_of_squares(rows: Tensor<2>) -> SquaredNorm {
    backend::row_squares(rows).into()
}

/// Norms of every sample in every clipping group.
#[derive(Debug, Clone)]
pub struct Norms {
    /// ‖g_i‖² as computed. `[batch, groups]`
    pub(crate) squared: Tensor<2>,
    /// A bound that the true ‖g_i‖ does not exceed. `[batch, groups]`
    pub(crate) upper: Tensor<2>,
}

impl Norms {
    pub(crate) fn from_groups(groups: Vec<SquaredNorm>) -> Self {
        // Four more roundings: the sum, the constant, the root, the product.
        let upper = groups.iter().map(|group| group.upper().unsqueeze_dim(1));
        let upper = (side_by_side(upper.collect()) + UNDERFLOW).sqrt() * (1.0 + gamma(4));
        let squared = groups.into_iter().map(|group| group.value.unsqueeze_dim(1));
        let squared = side_by_side(squared.collect());
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
fn side_by_side(mut columns: Vec<Tensor<2>>) -> Tensor<2> {
    match columns.len() {
        1 => columns.swap_remove(0),
        _ => Tensor::cat(columns, 1),
    }
}
