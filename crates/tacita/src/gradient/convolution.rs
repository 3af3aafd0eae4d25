//! Convolutions: the weight gradient is an outer product over output positions, of the output
//! gradient with the input patches.

use super::contribution::Convolution;
use super::norm::{SquaredNorm, sum_of_squares};
use super::outer;
use super::strategy::{Performance, Size, Strategy};
use super::sum::sum_of_formed;
#[cfg(feature = "cpu")]
use crate::cpu::gradient as cpu;
use burn::tensor::ops::PadMode;
use burn::tensor::{Slice, Tensor};
use tacita_kernels::exact::{Grid, Sum};

impl Convolution {
    pub(crate) fn size(&self) -> Size {
        let [batch, channels_out, height, width] = self.output.dims();
        let groups = self.options.groups;
        Size {
            batch,
            blocks: groups,
            positions: height * width,
            left: channels_out / groups,
            right: self.input.dims()[1] / groups * self.kernel[0] * self.kernel[1],
        }
    }

    /// The patches each output position sees, as a strided view
    /// `[batch, height_out, width_out, channels, kernel_1, kernel_2]` of the padded input.
    fn patches(&self, first: usize, count: usize) -> Tensor<6> {
        let [_, _, height, width] = self.output.dims();
        let input = self.input.clone().narrow(0, first, count);
        let [(top, bottom), (left, right)] = self.options.padding;
        let input = if [top, bottom, left, right] == [0; 4] {
            input
        } else {
            input.pad((left, right, top, bottom), PadMode::Constant(0.0))
        };
        let [stride_1, stride_2] = self.options.stride;
        let [dilation_1, dilation_2] = self.options.dilation;
        let span = |kernel: usize, dilation: usize| dilation * (kernel - 1) + 1;
        let windows: Tensor<5> = input.unfold(2, span(self.kernel[0], dilation_1), stride_1);
        let windows: Tensor<6> = windows.unfold(3, span(self.kernel[1], dilation_2), stride_2);
        let every = |step: usize| Slice::new(0, None, step as isize);
        windows
            .slice([
                Slice::full(),
                Slice::full(),
                // A transposed convolution's extra output rows see no input position.
                Slice::from(0..height),
                Slice::from(0..width),
                every(dilation_1),
                every(dilation_2),
            ])
            .permute([0, 2, 3, 1, 4, 5])
    }

    /// Output gradients and patches as factors of an outer product over positions.
    pub(crate) fn factors(&self, first: usize, count: usize) -> (Tensor<4>, Tensor<4>) {
        let Size {
            blocks,
            positions,
            left,
            right,
            ..
        } = self.size();
        let output = self.output.clone().narrow(0, first, count);
        let output = output.reshape([count, blocks, left, positions]);
        let patches = self.patches(first, count);
        let patches = patches.reshape([count, positions, blocks, right]);
        (output.swap_dims(2, 3), patches.swap_dims(1, 2))
    }

    /// Samples whose patches fit the workspace.
    fn chunk(&self, performance: &Performance) -> usize {
        let size = self.size();
        let patch_bytes = 4 * size.blocks * size.right * size.positions;
        size.samples_within(performance.workspace_bytes, patch_bytes)
    }

    /// The per-sample gradients, formed from a workspace's worth of patches at a time.
    pub(crate) fn materialise(&self, performance: &Performance) -> Tensor<2> {
        #[cfg(feature = "cpu")]
        if let Some(gradients) = cpu::per_sample(self) {
            return gradients;
        }
        let batch = self.size().batch;
        let chunk = self.chunk(performance);
        let parts = (0..batch).step_by(chunk).map(|first| {
            let (left, right) = self.factors(first, chunk.min(batch - first));
            outer::materialise(&left, &right)
        });
        let mut parts: Vec<_> = parts.collect();
        if parts.len() == 1 {
            return parts.swap_remove(0);
        }
        Tensor::cat(parts, 0)
    }

    /// The norm without keeping per-sample gradients.
    pub(crate) fn squared_norm(
        &self,
        strategy: Strategy,
        performance: &Performance,
    ) -> SquaredNorm {
        #[cfg(feature = "cpu")]
        if let Some(norm) = match strategy {
            Strategy::Gram => cpu::gram_norm(self),
            _ => cpu::recomputed_norm(self),
        } {
            return norm;
        }
        let size = self.size();
        outer::over_samples(size.batch, self.chunk(performance), |first, count| {
            let (left, right) = self.factors(first, count);
            match strategy {
                Strategy::Gram => outer::gram(&left, &right),
                _ => outer::recompute(&left, &right, performance.workspace_bytes),
            }
        })
    }

    /// Kept per-sample gradients and their norm.
    pub(crate) fn keep(&self, performance: &Performance) -> (SquaredNorm, Tensor<2>) {
        let gradient = self.materialise(performance);
        (sum_of_squares(gradient.clone()), gradient)
    }

    /// Σᵢ cᵢ gᵢ on a grid.
    pub(crate) fn weighted_sum(
        &self,
        factors: &Tensor<1>,
        grid: Grid,
        performance: &Performance,
    ) -> Sum {
        #[cfg(feature = "cpu")]
        if let Some(sum) = cpu::weighted_sum(self, factors, grid) {
            return sum;
        }
        let size = self.size();
        let elements = size.blocks * size.left * size.right;
        sum_of_formed(factors, grid, elements, performance, |first, count| {
            let part = Self {
                input: self.input.clone().narrow(0, first, count),
                output: self.output.clone().narrow(0, first, count),
                kernel: self.kernel,
                options: self.options.clone(),
            };
            part.materialise(performance)
        })
    }

    /// The sum of the gradients as an ordinary product makes it, for training without privacy.
    #[cfg(feature = "cuda")]
    pub(crate) fn plain_sum(&self, performance: &Performance) -> Tensor<1> {
        let Size {
            batch,
            blocks,
            positions,
            left: d,
            right: p,
        } = self.size();
        let chunk = self.chunk(performance);
        let sums = (0..batch).step_by(chunk).map(|first| {
            let count = chunk.min(batch - first);
            let (left, right) = self.factors(first, count);
            let rows = count * positions;
            if blocks == 1 {
                let (left, right) = (left.reshape([rows, d]), right.reshape([rows, p]));
                return outer::long_product(left, right, count).reshape([d * p]);
            }
            let left = left.swap_dims(0, 1).reshape([blocks, rows, d]);
            let right = right.swap_dims(0, 1).reshape([blocks, rows, p]);
            crate::ops::matmul(left.swap_dims(1, 2), right).reshape([blocks * d * p])
        });
        let sum = sums.reduce(|sum, part| sum + part);
        sum.unwrap_or_else(|| Tensor::zeros([blocks * d * p], &self.output.device()))
    }
}
