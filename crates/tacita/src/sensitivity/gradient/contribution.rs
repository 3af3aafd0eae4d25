//! The factored form in which a layer hands over its per-sample gradients.

use crate::compute::backend::Convolution;
use burn::module::{Param, ParamId};
use burn::tensor::ops::ConvOptions;
use burn::tensor::{DType, Int, Tensor};

/// A parameter that receives (a part of) a contribution.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Target {
    pub(crate) id: ParamId,
    pub(crate) elements: usize,
    pub(crate) trainable: bool,
}

impl Target {
    /// The given parameter. A frozen one (`no_grad`) receives nothing.
    pub fn of<const D: usize>(param: &Param<Tensor<D>>) -> Self {
        Self {
            id: param.id,
            elements: param.lazy_shape().num_elements(),
            trainable: param.is_require_grad(),
        }
    }
}

/// Per-sample gradients of one parameter, or of several that lie side by side in the last dimension.
///
/// Constructed by a [`Rule`](crate::sensitivity::tape::Rule). Dimension 0 of every tensor is the sample.
#[derive(Debug, Clone)]
pub struct Contribution {
    pub(crate) form: Form,
    pub(crate) targets: Vec<Target>,
}

#[derive(Debug, Clone)]
pub(crate) enum Form {
    /// g_i = Σₜ left_{i,t} ⊗ right_{i,t} in each block.
    /// left `[batch, blocks, positions, d]`, right `[batch, blocks, positions, p]`.
    Outer { left: Tensor<4>, right: Tensor<4> },
    /// Row `rows[i, t]` of g_i gets right_{i,t}. rows `[batch, positions]`,
    /// right `[batch, positions, p]`.
    Rows {
        rows: Tensor<2, Int>,
        right: Tensor<3>,
    },
    /// g_i itself. `[batch, elements]`.
    Direct { gradient: Tensor<2> },
    /// The weight gradient of a convolution of `input` whose output gradient is `output`.
    Convolution(Convolution),
}

/// Norms and sums accumulate in at least f32.
fn full_precision<const D: usize>(tensor: Tensor<D>) -> Tensor<D> {
    let tensor = tensor.inner();
    match tensor.dtype() {
        DType::F32 | DType::F64 => tensor,
        _ => tensor.cast(DType::F32),
    }
}

impl Contribution {
    /// A per-sample gradient given as it is.
    ///
    /// # Shapes
    /// - `gradient`: `[batch, ...]`; flattened, a sample's values are those of the targets in turn.
    pub fn direct<const D: usize>(
        gradient: Tensor<D>,
        targets: impl IntoIterator<Item = Target>,
    ) -> Self {
        let batch = gradient.dims()[0];
        let elements = gradient.dims()[1..].iter().product();
        Self {
            form: Form::Direct {
                gradient: full_precision(gradient).reshape([batch, elements]),
            },
            targets: targets.into_iter().collect(),
        }
    }

    /// g_i = Σₜ left_{i,t} ⊗ right_{i,t}: a matrix product over positions, never formed if it need
    /// not be. Targets are matrices `[d, p_k]` side by side (Σ p_k = p).
    ///
    /// # Shapes
    /// - `left`: `[batch, positions, d]`
    /// - `right`: `[batch, positions, p]`
    pub fn outer(
        left: Tensor<3>,
        right: Tensor<3>,
        targets: impl IntoIterator<Item = Target>,
    ) -> Self {
        Self {
            form: Form::Outer {
                left: full_precision(left).unsqueeze_dim(1),
                right: full_precision(right).unsqueeze_dim(1),
            },
            targets: targets.into_iter().collect(),
        }
    }

    /// Row `rows[i, t]` of g_i is given `right[i, t]`; equal rows add up.
    ///
    /// # Shapes
    /// - `rows`: `[batch, positions]`
    /// - `right`: `[batch, positions, p]`
    pub fn rows(rows: Tensor<2, Int>, right: Tensor<3>, target: Target) -> Self {
        Self {
            form: Form::Rows {
                rows: rows.inner(),
                right: full_precision(right),
            },
            targets: vec![target],
        }
    }

    /// The weight gradient of a convolution.
    ///
    /// A transposed convolution is the adjoint of a convolution with the same weights: pass its
    /// output gradient as `input` and its input as `output`.
    ///
    /// # Shapes
    /// - `input`: `[batch, channels_in, height, width]`
    /// - `output`: `[batch, channels_out, height_out, width_out]`
    /// - the target: `[channels_out, channels_in / groups, kernel_1, kernel_2]`
    pub fn convolution(
        input: Tensor<4>,
        output: Tensor<4>,
        kernel: [usize; 2],
        options: ConvOptions<2>,
        target: Target,
    ) -> Self {
        Self {
            form: Form::Convolution(Convolution {
                input: full_precision(input),
                output: full_precision(output),
                kernel,
                options,
                images: 1,
            }),
            targets: vec![target],
        }
    }

    /// Samples in dimension 0.
    pub(crate) fn batch(&self) -> usize {
        match &self.form {
            Form::Outer { left, .. } => left.dims()[0],
            Form::Rows { rows, .. } => rows.dims()[0],
            Form::Direct { gradient } => gradient.dims()[0],
            Form::Convolution(conv) => conv.output.dims()[0],
        }
    }

    /// Only some consecutive samples.
    pub(crate) fn part(&self, first: usize, count: usize) -> Self {
        let form = match &self.form {
            Form::Outer { left, right } => Form::Outer {
                left: left.clone().narrow(0, first, count),
                right: right.clone().narrow(0, first, count),
            },
            Form::Rows { rows, right } => Form::Rows {
                rows: rows.clone().narrow(0, first, count),
                right: right.clone().narrow(0, first, count),
            },
            Form::Direct { gradient } => Form::Direct {
                gradient: gradient.clone().narrow(0, first, count),
            },
            Form::Convolution(convolution) => Form::Convolution(convolution.part(first, count)),
        };
        Self {
            form,
            targets: self.targets.clone(),
        }
    }

    /// One contribution per target, for targets that must be treated apart.
    pub(crate) fn split(self) -> Vec<Self> {
        if self.targets.len() < 2 {
            return vec![self];
        }
        let mut first = 0;
        let mut part = |target: Target| {
            let form = match &self.form {
                Form::Outer { left, right } => {
                    let width = target.elements / (left.dims()[1] * left.dims()[3]);
                    let right = right.clone().narrow(3, first, width);
                    first += width;
                    Form::Outer {
                        left: left.clone(),
                        right,
                    }
                }
                Form::Direct { gradient } => {
                    let gradient = gradient.clone().narrow(1, first, target.elements);
                    first += target.elements;
                    Form::Direct { gradient }
                }
                other => other.clone(),
            };
            Self {
                form,
                targets: vec![target],
            }
        };
        self.targets.iter().map(|target| part(*target)).collect()
    }
}
