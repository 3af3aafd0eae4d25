//! 1-D convolution: a 2-D one of height 1.

use super::conv2d::convolve;
use super::padding;
use crate::compute::backend::ops;
use crate::mechanism::initial_weights::{self, Fans};
use crate::sensitivity::gradient::Target;
use crate::sensitivity::tape;
use burn::module::{Module, Param};
use burn::nn::{self, Initializer, PaddingConfig1d};
use burn::tensor::{Tensor, ops::ConvOptions};

layer_config! {
    /// Configuration of a [`Conv1d`] layer.
    Conv1dConfig(nn::conv::Conv1dConfig) => Conv1d;
    new(channels_in: usize, channels_out: usize, kernel_size: usize);
    with_stride(usize), with_dilation(usize), with_groups(usize),
    with_padding(PaddingConfig1d), with_bias(bool), with_initializer(Initializer),
}

/// A 1-D convolution; see [`nn::conv::Conv1d`].
#[derive(Module, Debug)]
pub struct Conv1d {
    /// `[channels_out, channels_in / groups, kernel_size]`
    pub weight: Param<Tensor<3>>,
    /// `[channels_out]`
    pub bias: Option<Param<Tensor<1>>>,
    /// Stride of the convolution.
    pub stride: usize,
    /// Size of the kernel.
    pub kernel_size: usize,
    /// Spacing between kernel elements.
    pub dilation: usize,
    /// Connections between input and output channels.
    pub groups: usize,
    /// The padding configuration.
    #[module(skip)]
    pub padding: PaddingConfig1d,
}

same_fields!(
    Conv1d,
    nn::conv::Conv1d {
        weight,
        bias,
        stride,
        kernel_size,
        dilation,
        groups,
        padding
    }
);

impl Conv1d {
    fn drawn(self, config: &nn::conv::Conv1dConfig) -> Self {
        let kernel = config.kernel_size;
        let fans = Fans::new(
            config.channels_in / config.groups * kernel,
            config.channels_out / config.groups * kernel,
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
    /// - input: `[batch, channels_in, length_in]`
    /// - output: `[batch, channels_out, length_out]`
    pub fn forward(&self, input: Tensor<3>) -> Tensor<3> {
        let length = input.dims()[2];
        let padding = padding::one(&self.padding, length, self.kernel_size, self.stride);
        let options = ConvOptions::new_with_padding(
            [1, self.stride],
            [(0, 0), padding],
            [1, self.dilation],
            self.groups,
        );
        let input = input.unsqueeze_dim(2);
        let weight = self.weight.val().unsqueeze_dim(2);
        if !tape::is_recording() {
            let bias = self.bias.as_ref().map(Param::val);
            return ops::conv2d(input, weight, bias, options).squeeze_dim(2);
        }
        convolve(
            input,
            weight.inner(),
            Target::of(&self.weight),
            self.bias.as_ref(),
            options,
        )
        .squeeze_dim(2)
    }
}
