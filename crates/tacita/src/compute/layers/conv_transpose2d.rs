//! 2-D transposed convolution.

use super::conv2d::bias_contribution;
use crate::compute::backend::ops;
use crate::mechanism::initial_weights::{self, Fans};
use crate::sensitivity::gradient::{Contribution, Target};
use crate::sensitivity::tape;
use burn::module::{Module, Param};
use burn::nn::{self, Initializer};
use burn::tensor::{
    Tensor,
    ops::{ConvOptions, ConvTransposeOptions},
};

layer_config! {
    /// Configuration of a [`ConvTranspose2d`] layer.
    ConvTranspose2dConfig(nn::conv::ConvTranspose2dConfig) => ConvTranspose2d;
    new(channels: [usize; 2], kernel_size: [usize; 2]);
    with_stride([usize; 2]), with_dilation([usize; 2]), with_groups(usize),
    with_padding([usize; 2]), with_padding_out([usize; 2]), with_bias(bool),
    with_initializer(Initializer),
}

/// A 2-D transposed convolution; see [`nn::conv::ConvTranspose2d`].
#[derive(Module, Debug)]
pub struct ConvTranspose2d {
    /// `[channels_in, channels_out / groups, kernel_1, kernel_2]`
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
    /// Padding of the convolution it is the adjoint of.
    pub padding: [usize; 2],
    /// Rows and columns added at the end of the output.
    pub padding_out: [usize; 2],
    /// Input and output channels.
    pub channels: [usize; 2],
}

same_fields!(
    ConvTranspose2d,
    nn::conv::ConvTranspose2d {
        weight,
        bias,
        stride,
        kernel_size,
        dilation,
        groups,
        padding,
        padding_out,
        channels
    }
);

impl ConvTranspose2d {
    fn drawn(self, config: &nn::conv::ConvTranspose2dConfig) -> Self {
        let kernel = config.kernel_size.iter().product::<usize>();
        let fans = Fans {
            input: Some(config.channels[1] / config.groups * kernel),
            output: None,
        };
        Self {
            weight: initial_weights::drawn(self.weight, &config.initializer, fans),
            bias: (self.bias).map(|bias| initial_weights::drawn(bias, &config.initializer, fans)),
            ..self
        }
    }

    /// Applies the transposed convolution.
    ///
    /// # Shapes
    /// - input: `[batch, channels_in, height_in, width_in]`
    /// - output: `[batch, channels_out, height_out, width_out]`
    pub fn forward(&self, input: Tensor<4>) -> Tensor<4> {
        let options = ConvTransposeOptions::new(
            self.stride,
            self.padding,
            self.padding_out,
            self.dilation,
            self.groups,
        );
        if !tape::is_recording() {
            let bias = self.bias.as_ref().map(Param::val);
            return ops::conv_transpose2d(input, self.weight.val(), bias, options);
        }
        let bias = self.bias.as_ref();
        let values = bias.map(|bias| bias.val().inner());
        let weight = self.weight.val().inner();
        let output = ops::conv_transpose2d(input.clone(), weight, values, options);
        let (output, probe) = tape::probe(output, None);

        let input = input.inner();
        let (weight, bias) = (Target::of(&self.weight), bias.map(Target::of));
        let kernel = self.kernel_size;
        let adjoint = ConvOptions::new(self.stride, self.padding, self.dilation, self.groups);
        tape::on_backward(probe, move |gradient: Tensor<4>| {
            let mut contributions = Vec::new();
            if let Some(bias) = bias {
                contributions.push(bias_contribution(gradient.clone(), bias));
            }
            contributions.push(Contribution::convolution(
                gradient, input, kernel, adjoint, weight,
            ));
            contributions
        });
        output
    }
}
