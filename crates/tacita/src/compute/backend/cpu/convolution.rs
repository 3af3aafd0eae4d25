//! Convolutions and transposed convolutions.

use super::{Derivative, Input, Values, apply};
use burn::tensor::Tensor;
use burn::tensor::ops::{ConvOptions, ConvTransposeOptions};
use tacita_kernels::convolution::{Geometry, forward, input_gradient, weight_gradient};
use tacita_kernels::update::row_sums;

/// A convolution's input (only to differentiate by the weight) and weight.
#[derive(Debug, Clone)]
struct Convolution {
    geometry: Geometry,
    x: Values,
    weight: Values,
}

impl Derivative<3> for Convolution {
    fn gradients(self, dy: Values, wanted: [bool; 3]) -> [Option<Values>; 3] {
        let Self {
            geometry,
            x,
            weight,
        } = self;
        [
            wanted[0].then(|| {
                let dx = input_gradient(&geometry, weight.slice(), dy.slice(), None);
                Values::new(dx, x.dims::<4>())
            }),
            wanted[1].then(|| {
                let gradient = weight_gradient(&geometry, x.slice(), dy.slice());
                Values::new(gradient, weight.dims::<4>())
            }),
            wanted[2].then(|| bias_gradient(&dy, geometry.channels_out)),
        ]
    }
}

/// A transposed convolution: the adjoint of the convolution `geometry`, whose output is its input.
#[derive(Debug, Clone)]
struct Transposed(Convolution);

impl Derivative<3> for Transposed {
    fn gradients(self, dy: Values, wanted: [bool; 3]) -> [Option<Values>; 3] {
        let Convolution {
            geometry,
            x,
            weight,
        } = self.0;
        [
            wanted[0].then(|| {
                let dx = forward(&geometry, dy.slice(), weight.slice(), None);
                Values::new(dx, x.dims::<4>())
            }),
            wanted[1].then(|| {
                let gradient = weight_gradient(&geometry, dy.slice(), x.slice());
                Values::new(gradient, weight.dims::<4>())
            }),
            wanted[2].then(|| bias_gradient(&dy, geometry.channels_in)),
        ]
    }
}

fn bias_gradient(dy: &Values, channels: usize) -> Values {
    let [batch, _, height, width] = dy.dims();
    let sums = row_sums(dy.slice(), height * width);
    let mut total = vec![0.0; channels];
    for sample in sums.chunks_exact(channels.max(1)).take(batch) {
        for (total, sum) in total.iter_mut().zip(sample) {
            *total += sum;
        }
    }
    Values::new(total, [channels])
}

/// An absent bias is an empty tensor: no parent of the node, no values.
pub(super) fn optional<const D: usize>(bias: Option<&Tensor<D>>) -> Option<Input> {
    match bias {
        Some(bias) => Input::of(bias),
        None => Some(Input::Free(Values::new(Vec::new(), [0]).into_tensor())),
    }
}

pub(super) fn given(bias: &Values) -> Option<&[f32]> {
    (!bias.slice().is_empty()).then(|| bias.slice())
}

/// The sizes of a convolution of `x` by `weight`.
pub(crate) fn geometry(x: [usize; 4], weight: [usize; 4], options: &ConvOptions<2>) -> Geometry {
    let [batch, channels_in, height, width] = x;
    let [channels_out, _, kernel_1, kernel_2] = weight;
    let (input, kernel) = ([height, width], [kernel_1, kernel_2]);
    let outputs = |axis: usize| {
        let (begin, end) = options.padding[axis];
        let span = options.dilation[axis] * (kernel[axis] - 1) + 1;
        (input[axis] + begin + end).saturating_sub(span) / options.stride[axis] + 1
    };
    Geometry {
        batch,
        channels_in,
        input,
        channels_out,
        output: [outputs(0), outputs(1)],
        kernel,
        stride: options.stride,
        padding: options.padding,
        dilation: options.dilation,
        groups: options.groups,
    }
}

/// A 2-D convolution.
pub(crate) fn conv2d(
    x: &Tensor<4>,
    weight: &Tensor<4>,
    bias: Option<&Tensor<1>>,
    options: &ConvOptions<2>,
) -> Option<Tensor<4>> {
    let geometry = geometry(x.dims(), weight.dims(), options);
    let inputs = [Input::of(x)?, Input::of(weight)?, optional(bias)?];
    Some(apply(inputs, |[x, weight, bias]| {
        let y = forward(&geometry, x.slice(), weight.slice(), given(&bias));
        let [height, width] = geometry.output;
        let shape = [geometry.batch, geometry.channels_out, height, width];
        let kept = Convolution {
            geometry,
            x,
            weight,
        };
        (Values::new(y, shape), kept)
    }))
}

/// A 2-D transposed convolution.
pub(crate) fn conv_transpose2d(
    x: &Tensor<4>,
    weight: &Tensor<4>,
    bias: Option<&Tensor<1>>,
    options: &ConvTransposeOptions<2>,
) -> Option<Tensor<4>> {
    let [batch, channels_in, height, width] = x.dims();
    let [_, channels_out, kernel_1, kernel_2] = weight.dims();
    let (input, kernel) = ([height, width], [kernel_1, kernel_2]);
    let outputs = |axis: usize| {
        (input[axis] - 1) * options.stride[axis]
            + options.dilation[axis] * (kernel[axis] - 1)
            + options.padding_out[axis]
            + 1
            - 2 * options.padding[axis]
    };
    let geometry = Geometry {
        batch,
        channels_in: channels_out * options.groups,
        input: [outputs(0), outputs(1)],
        channels_out: channels_in,
        output: input,
        kernel,
        stride: options.stride,
        padding: options.padding.map(|padding| (padding, padding)),
        dilation: options.dilation,
        groups: options.groups,
    };
    let inputs = [Input::of(x)?, Input::of(weight)?, optional(bias)?];
    Some(apply(inputs, |[x, weight, bias]| {
        let y = input_gradient(&geometry, weight.slice(), x.slice(), given(&bias));
        let [height, width] = geometry.input;
        let shape = [batch, geometry.channels_in, height, width];
        let kept = Transposed(Convolution {
            geometry,
            x,
            weight,
        });
        (Values::new(y, shape), kept)
    }))
}
