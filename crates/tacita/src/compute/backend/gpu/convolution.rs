//! Convolutions by implicit matrix products on tensor cores, where Burn without autotuning takes a
//! direct kernel.

use super::product::{bind, elements, long_product, operand, product};
use super::{empty, in_order, input};
use crate::compute::backend::graph::{Derivative, apply};
use crate::compute::backend::precision::Precision;
use crate::compute::backend::{Convolution, OuterSize};
use burn::backend::Cuda;
use burn::backend::tensor::FloatTensor;
use burn::tensor::ops::ConvOptions;
use burn::tensor::{Shape, Tensor};
use burn_cubecl::kernel::conv::{ConvStrategy, conv_data_backward, conv_forward};
use burn_cubecl::kernel::into_contiguous;
use burn_cubecl::ops::{permute_nchw_to_nhwc, permute_nhwc_to_nchw};
use cubek::convolution::{
    AcceleratedTileKind, ConvAlgorithm, ConvolutionArgs, ConvolutionInputs, Strategy, launch_ref,
};

/// Below so many channels of what is convolved a direct kernel is quicker.
const FEWEST_CHANNELS: usize = 8;

/// The input of a convolution, its weight, and how they meet.
#[derive(Debug, Clone)]
struct Node {
    x: FloatTensor<Cuda>,
    weight: FloatTensor<Cuda>,
    options: ConvOptions<2>,
    precision: Precision,
}

/// `[batch, channels, height, width]`, or of a weight `[channels out, channels in, height, width]`.
fn dims(tensor: &FloatTensor<Cuda>) -> [usize; 4] {
    tensor.meta.shape().dims()
}

impl Node {
    fn forward(&self) -> FloatTensor<Cuda> {
        let (x, weight, options) = (&self.x, &self.weight, &self.options);
        implicit(x, weight, options, self.precision).unwrap_or_else(|| {
            let (x, weight, options) = (x.clone(), weight.clone(), options.clone());
            conv_forward::<2>(x, weight, None, options, ConvStrategy::Direct)
                .unwrap_or_else(|error| panic!("no kernel convolves these shapes: {error:?}"))
        })
    }

    fn input_gradient(&self, dy: FloatTensor<Cuda>) -> FloatTensor<Cuda> {
        self.as_forward(&dy).unwrap_or_else(|| {
            let shape = Shape::new(dims(&self.x));
            let (weight, options) = (self.weight.clone(), self.options.clone());
            conv_data_backward::<2>(dy, weight, shape, options, ConvStrategy::Direct)
                .unwrap_or_else(|error| panic!("no kernel convolves these shapes: {error:?}"))
        })
    }

    /// The input gradient as a convolution of the output gradient with the turned weight, for which
    /// there is a quicker kernel; with stride 1 only.
    fn as_forward(&self, dy: &FloatTensor<Cuda>) -> Option<FloatTensor<Cuda>> {
        let [_, _, kernel_1, kernel_2] = dims(&self.weight);
        let options = &self.options;
        if options.groups != 1 || options.stride != [1, 1] {
            return None;
        }
        let around = |axis: usize, kernel: usize| {
            let span = options.dilation[axis] * (kernel - 1);
            let (before, after) = options.padding[axis];
            span.checked_sub(before).zip(span.checked_sub(after))
        };
        let padding = [around(0, kernel_1)?, around(1, kernel_2)?];
        let weight: Tensor<4> = Tensor::from_primitive::<Cuda>(self.weight.clone());
        let turned = in_order(weight.swap_dims(0, 1).flip([2, 3]))?;
        let options = ConvOptions {
            padding,
            ..options.clone()
        };
        implicit(dy, &turned, &options, self.precision)
    }

    fn weight_gradient(&self, dy: FloatTensor<Cuda>) -> Option<FloatTensor<Cuda>> {
        let shape @ [_, _, kernel_1, kernel_2] = dims(&self.weight);
        let output: Tensor<4> = Tensor::from_primitive::<Cuda>(dy);
        let convolution = Convolution {
            input: Tensor::from_primitive::<Cuda>(self.x.clone()),
            output,
            kernel: [kernel_1, kernel_2],
            options: self.options.clone(),
            images: 1,
        };
        in_order(plain_sum(&convolution, self.precision).reshape(shape))
    }
}

/// Bytes that unfolded patches may take.
const WORKSPACE: usize = 2 << 30;

/// The sum of the gradients as an ordinary product makes it, for training without privacy.
fn plain_sum(convolution: &Convolution, precision: Precision) -> Tensor<1> {
    let OuterSize {
        batch,
        blocks,
        positions,
        left: d,
        right: p,
    } = convolution.size();
    let chunk = convolution.samples_within(WORKSPACE);
    let sums = (0..batch).step_by(chunk).map(|first| {
        let count = chunk.min(batch - first);
        let (left, right) = convolution.factors(first, count);
        let rows = count * positions;
        if blocks == 1 {
            let (left, right) = (left.reshape([rows, d]), right.reshape([rows, p]));
            return long_product(left, right, count, precision).reshape([d * p]);
        }
        let left = left.swap_dims(0, 1).reshape([blocks, rows, d]);
        let right = right.swap_dims(0, 1).reshape([blocks, rows, p]);
        product(left.swap_dims(1, 2), right, precision).reshape([blocks * d * p])
    });
    let sum = sums.reduce(|sum, part| sum + part);
    sum.unwrap_or_else(|| Tensor::zeros([blocks * d * p], &convolution.output.device()))
}

/// The convolution as one matrix product, if the shapes suit it.
fn implicit(
    x: &FloatTensor<Cuda>,
    weight: &FloatTensor<Cuda>,
    options: &ConvOptions<2>,
    precision: Precision,
) -> Option<FloatTensor<Cuda>> {
    let [batch, channels, height, width] = dims(x);
    let [channels_out, _, kernel_1, kernel_2] = dims(weight);
    if options.groups != 1 || channels < FEWEST_CHANNELS {
        return None;
    }
    let positions = |axis: usize, length: usize, kernel: usize| {
        let (before, after) = options.padding[axis];
        let span = options.dilation[axis] * (kernel - 1) + 1;
        (length + before + after - span) / options.stride[axis] + 1
    };
    let (height, width) = (
        positions(0, height, kernel_1),
        positions(1, width, kernel_2),
    );
    // As the kernels read fastest.
    let channels_last = |tensor: &FloatTensor<Cuda>| {
        let tensor = into_contiguous(permute_nchw_to_nhwc(tensor.clone()));
        operand(tensor, precision)
    };
    let output = empty(x, [batch, height, width, channels_out]);
    let (x, weight) = (channels_last(x), channels_last(weight));
    let run = |algorithm| {
        let strategy = Strategy::Inferred {
            algorithm,
            tile_kind: AcceleratedTileKind::Mma,
        };
        let inputs = ConvolutionInputs::Forward {
            input: bind(x.clone()),
            weight: bind(weight.clone()),
            bias: None,
            out: output.clone().binding(),
        };
        let arguments = ConvolutionArgs {
            stride: options.stride,
            padding: options.padding_begin(),
            dilation: options.dilation,
        };
        let types = elements(&x, &weight);
        launch_ref::<2>(&strategy, &x.client, inputs, arguments, types).is_ok()
    };
    // Whole tensors are fetched by the memory engine where rows are multiples of 16 bytes.
    let fetched = channels.is_multiple_of(8) && run(ConvAlgorithm::SimpleAsyncTma);
    (fetched || run(ConvAlgorithm::SimpleSyncStrided)).then(|| permute_nhwc_to_nchw(output))
}

impl Derivative<Cuda, 2> for Node {
    fn gradients(self, dy: FloatTensor<Cuda>, wanted: [bool; 2]) -> [Option<FloatTensor<Cuda>>; 2] {
        let input = wanted[0].then(|| self.input_gradient(dy.clone()));
        let weight = match wanted[1] {
            true => self.weight_gradient(dy),
            false => None,
        };
        [input, weight]
    }
}

/// 2-D convolution, if a CUDA GPU holds the tensors.
pub(crate) fn conv2d(
    x: &Tensor<4>,
    weight: &Tensor<4>,
    bias: Option<&Tensor<1>>,
    options: &ConvOptions<2>,
    precision: Precision,
) -> Option<Tensor<4>> {
    let inputs = [input(x)?, input(weight)?];
    let options = options.clone();
    let output: Tensor<4> = apply(inputs, |[x, weight]| {
        let node = Node {
            x,
            weight,
            options,
            precision,
        };
        (node.forward(), node)
    });
    let Some(bias) = bias else {
        return Some(output);
    };
    let [batch, channels, height, width] = output.dims();
    let rows = output.permute([0, 2, 3, 1]);
    let rows = rows.reshape([batch * height * width, channels]);
    let rows = super::bias::add(rows, bias)?;
    let images = rows.reshape([batch, height, width, channels]);
    Some(images.permute([0, 3, 1, 2]))
}
