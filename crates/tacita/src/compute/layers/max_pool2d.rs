//! 2-D max pooling.

use super::padding;
use crate::compute::backend::ops;
use burn::config::Config;
use burn::module::Module;
use burn::nn::{self, PaddingConfig2d};
use burn::tensor::Tensor;
use burn::tensor::ops::MaxPoolOptions;

/// Configuration of a [`MaxPool2d`] layer.
#[derive(Config, Debug)]
pub struct MaxPool2dConfig {
    /// The size of the window.
    pub kernel_size: [usize; 2],
    /// Steps between windows.
    #[config(default = "kernel_size")]
    pub strides: [usize; 2],
    /// The padding configuration.
    #[config(default = "PaddingConfig2d::Valid")]
    pub padding: PaddingConfig2d,
    /// Spacing inside a window.
    #[config(default = "[1, 1]")]
    pub dilation: [usize; 2],
    /// Whether a last window may reach past the end.
    #[config(default = "false")]
    pub ceil_mode: bool,
}

/// 2-D max pooling; see [`nn::pool::MaxPool2d`], than which it is faster on the CPU.
#[derive(Module, Debug)]
pub struct MaxPool2d {
    /// Steps between windows.
    pub stride: [usize; 2],
    /// The size of the window.
    pub kernel_size: [usize; 2],
    /// The padding configuration.
    #[module(skip)]
    pub padding: PaddingConfig2d,
    /// Spacing inside a window.
    pub dilation: [usize; 2],
    /// Whether a last window may reach past the end.
    pub ceil_mode: bool,
}

same_fields!(
    MaxPool2d,
    nn::pool::MaxPool2d {
        stride,
        kernel_size,
        padding,
        dilation,
        ceil_mode
    }
);

impl MaxPool2dConfig {
    /// The layer, which has no parameters.
    pub fn init(&self) -> MaxPool2d {
        MaxPool2d {
            stride: self.strides,
            kernel_size: self.kernel_size,
            padding: self.padding.clone(),
            dilation: self.dilation,
            ceil_mode: self.ceil_mode,
        }
    }
}

impl MaxPool2d {
    /// The maximum of each window.
    ///
    /// # Shapes
    /// - input: `[batch, channels, height_in, width_in]`
    /// - output: `[batch, channels, height_out, width_out]`
    pub fn forward(&self, input: Tensor<4>) -> Tensor<4> {
        let [_, _, height, width] = input.dims();
        let padding = padding::two(
            &self.padding,
            [height, width],
            self.kernel_size,
            self.stride,
        );
        let options = MaxPoolOptions::new(self.kernel_size)
            .with_stride(self.stride)
            .with_padding_pairs(padding)
            .with_dilation(self.dilation)
            .with_ceil_mode(self.ceil_mode);
        ops::max_pool2d(input, options)
    }
}
