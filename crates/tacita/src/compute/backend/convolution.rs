//! Convolutions: the weight gradient is an outer product over output positions, of the output
//! gradient with the input patches. A sample may be several consecutive images, whose positions are then one after
//! another.

use super::OuterSize;
use burn::tensor::ops::{ConvOptions, PadMode};
use burn::tensor::{Slice, Tensor};

/// What the weight gradient of a 2-D convolution is made of.
#[derive(Debug, Clone)]
pub(crate) struct Convolution {
    pub input: Tensor<4>,
    /// The gradient of the output.
    pub output: Tensor<4>,
    pub kernel: [usize; 2],
    pub options: ConvOptions<2>,
    /// Images of a sample.
    pub images: usize,
}

impl Convolution {
    pub fn size(&self) -> OuterSize {
        let [all_images, channels_out, height, width] = self.output.dims();
        let groups = self.options.groups;
        OuterSize {
            batch: all_images / self.images.max(1),
            blocks: groups,
            positions: self.images * height * width,
            left: channels_out / groups,
            right: self.input.dims()[1] / groups * self.kernel[0] * self.kernel[1],
        }
    }

    /// The patches each output position sees, as a strided view
    /// `[images, height_out, width_out, channels, kernel_1, kernel_2]` of the padded input.
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

    /// Output gradients and patches of some samples, as factors of an outer product over positions:
    /// `[count, blocks, positions, left]` and `[count, blocks, positions, right]`.
    pub fn factors(&self, first: usize, count: usize) -> (Tensor<4>, Tensor<4>) {
        let OuterSize {
            blocks,
            positions,
            left,
            right,
            ..
        } = self.size();
        let images = self.images;
        let (first, count) = (first * images, count * images);
        let output = self.output.clone().narrow(0, first, count);
        let output = output.reshape([count, blocks, left, positions / images]);
        let patches = self.patches(first, count);
        let patches = patches.reshape([count, positions / images, blocks, right]);
        let factors = (output.swap_dims(2, 3), patches.swap_dims(1, 2));
        (together(factors.0, images), together(factors.1, images))
    }

    /// Only some consecutive samples.
    pub fn part(&self, first: usize, count: usize) -> Self {
        let (first, count) = (first * self.images, count * self.images);
        Self {
            input: self.input.clone().narrow(0, first, count),
            output: self.output.clone().narrow(0, first, count),
            ..self.clone()
        }
    }

    /// Samples whose patches fit a workspace of so many bytes.
    pub fn samples_within(&self, workspace_bytes: usize) -> usize {
        let size = self.size();
        let patch_bytes = 4 * size.blocks * size.right * size.positions;
        size.samples_within(workspace_bytes, patch_bytes)
    }
}

/// Factors of outer products, `[records, blocks, positions, width]`, where a sample is `each` consecutive records:
/// `[records / each, blocks, each · positions, width]`.
pub(crate) fn together(factors: Tensor<4>, each: usize) -> Tensor<4> {
    let [records, blocks, positions, width] = factors.dims();
    let samples = records / each.max(1);
    match (each, blocks) {
        (1, _) => factors,
        (_, 1) => factors.reshape([samples, 1, each * positions, width]),
        _ => factors
            .reshape([samples, each, blocks, positions * width])
            .swap_dims(1, 2)
            .reshape([samples, blocks, each * positions, width]),
    }
}
