//! 2-D convolution.

use super::padding;
use crate::compute::backend::ops;
use crate::mechanism::initial_weights::{self, Fans};
use crate::sensitivity::gradient::{Contribution, Target};
use crate::sensitivity::tape;
use burn::module::{Module, Param};
use burn::nn::{self, Initializer, PaddingConfig2d};
use burn::tensor::{Tensor, ops::ConvOptions};

layer_config! {
    /// Configuration of a [`Conv2d`] layer.
    Conv2dConfig(nn::conv::Conv2dConfig) => Conv2d;
    new(channels: [usize; 2], kernel_size: [usize; 2]);
    with_stride([usize; 2]), with_dilation([usize; 2]), with_groups(usize),
    with_padding(PaddingConfig2d), with_bias(bool), with_initializer(Initializer),
}

/// A 2-D convolution; see [`nn::conv::Conv2d`].
#[derive(Module, Debug)]
pub struct Conv2d {
    /// `[channels_out, channels_in / groups, kernel_1, kernel_2]`
    pub weight: Param<Tensor<4>>,
    /// `[channels_out]`
    pub bias: Option<Param<Tensor<1>>>,
    /// Stride of the convolution.
    pub stride: [usize; 2],
    /// Size of the kernel.
    pub kernel_size: [usize; 2],
    /// Spacing between kernel elements.
    pub dilation: [usize; 2],
    /// Connections between input and output channels.
    pub groups: usize,
    /// The padding configuration.
    #[module(skip)]
    pub padding: PaddingConfig2d,
}

same_fields!(
    Conv2d,
    nn::conv::Conv2d {
        weight,
        bias,
        stride,
        kernel_size,
        dilation,
        groups,
        padding
    }
);

impl Conv2d {
    fn drawn(self, config: &nn::conv::Conv2dConfig) -> Self {
        let kernel = config.kernel_size.iter().product::<usize>();
        let fans = Fans::new(
            config.channels[0] / config.groups * kernel,
            config.channels[1] / config.groups * kernel,
        );
        Self {
            weight: initial_weights::drawn(self.weight, &config.initializer, fans),
            bias: (self.bias).map(|bias| initial_weights::drawn(bias, &config.initializer, fans)),
            ..self
        }
    }

    /// Applies the convolution.
    ///
    /// # Shapes
    /// - input: `[batch, channels_in, height_in, width_in]`
    /// - output: `[batch, channels_out, height_out, width_out]`
    pub fn forward(&self, input: Tensor<4>) -> Tensor<4> {
        let [_, _, height, width] = input.dims();
        let padding = padding::two(
            &self.padding,
            [height, width],
            self.kernel_size,
            self.stride,
        );
        let options =
            ConvOptions::new_with_padding(self.stride, padding, self.dilation, self.groups);
        if !tape::is_recording() {
            let bias = self.bias.as_ref().map(Param::val);
            return ops::conv2d(input, self.weight.val(), bias, options);
        }
        convolve(
            input,
            self.weight.val().inner(),
            Target::of(&self.weight),
            self.bias.as_ref(),
            options,
        )
    }
}

/// The recorded convolution, which [`super::Conv1d`] shares.
pub(super) fn convolve(
    input: Tensor<4>,
    weight: Tensor<4>,
    target: Target,
    bias: Option<&Param<Tensor<1>>>,
    options: ConvOptions<2>,
) -> Tensor<4> {
    let [_, _, kernel_1, kernel_2] = weight.dims();
    let values = bias.map(|bias| bias.val().inner());
    let output = ops::conv2d(input.clone(), weight, values, options.clone());
    let (output, probe) = tape::probe(output, None);
    let input = input.inner();
    let bias = bias.map(Target::of);
    tape::on_backward(probe, move |gradient: Tensor<4>| {
        let mut contributions = Vec::new();
        if let Some(bias) = bias {
            contributions.push(bias_contribution(gradient.clone(), bias));
        }
        contributions.push(Contribution::convolution(
            input,
            gradient,
            [kernel_1, kernel_2],
            options,
            target,
        ));
        contributions
    });
    output
}

/// The bias of a convolution sees the sum over positions.
pub(super) fn bias_contribution(gradient: Tensor<4>, bias: Target) -> Contribution {
    let [batch, channels, height, width] = gradient.dims();
    let sums = gradient.reshape([batch, channels, height * width]);
    Contribution::direct(sums.sum_dim(2), [bias])
}
