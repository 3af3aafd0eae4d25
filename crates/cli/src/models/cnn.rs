//! Convolutions and pooling, then two linear layers.

use super::batch::{Labelled, cross_entropy};
use burn::config::Config;
use burn::module::Module;
use burn::nn::PaddingConfig2d;
use burn::nn::activation::{Activation, ActivationConfig};
use burn::nn::pool::{MaxPool2d, MaxPool2dConfig};
use burn::tensor::{Device, Tensor};
use tacita::PrivateModel;
use tacita::layers::{Conv2d, Conv2dConfig, Linear, LinearConfig};

/// One square convolution, followed by the activation and max pooling.
#[derive(Config, Debug)]
pub struct ConvolutionConfig {
    /// Channels out.
    pub channels: usize,
    /// Width of the kernel.
    pub kernel: usize,
    /// Stride of the kernel.
    pub stride: usize,
    /// Zeros on each side.
    pub padding: usize,
}

/// Configuration of a [`Cnn`].
#[derive(Config, Debug)]
pub struct CnnConfig {
    /// Channels and width of the square images.
    pub image: [usize; 2],
    /// The convolutions in order.
    pub convolutions: Vec<ConvolutionConfig>,
    /// Stride of the pooling, whose window is 2 × 2.
    pub pool_stride: usize,
    /// Width of the layer before the last.
    pub hidden: usize,
    /// Number of classes.
    pub classes: usize,
    /// What follows every layer but the last.
    #[config(default = "ActivationConfig::Relu")]
    pub activation: ActivationConfig,
}

/// A small convolutional classifier.
#[derive(Module, Debug)]
pub struct Cnn {
    convolutions: Vec<Conv2d>,
    pool: MaxPool2d,
    hidden: Linear,
    output: Linear,
    #[module(skip)]
    activation: Activation,
}

impl CnnConfig {
    /// The benchmark's model of 28 × 28 grey images: 26,010 parameters.
    pub fn benchmark() -> Self {
        let convolutions = vec![
            ConvolutionConfig::new(16, 8, 2, 3),
            ConvolutionConfig::new(32, 4, 2, 0),
        ];
        Self::new([1, 28], convolutions, 1, 32, 10)
    }

    /// The model, with newly initialised parameters.
    pub fn init(&self, device: &Device) -> Cnn {
        let [mut channels, mut width] = self.image;
        let mut convolutions = Vec::with_capacity(self.convolutions.len());
        for layer in &self.convolutions {
            let config = Conv2dConfig::new([channels, layer.channels], [layer.kernel; 2])
                .with_stride([layer.stride; 2])
                .with_padding(same_on_all_sides(layer.padding));
            convolutions.push(config.init(device));
            channels = layer.channels;
            width = (width + 2 * layer.padding - layer.kernel) / layer.stride + 1;
            width = (width - 2) / self.pool_stride + 1;
        }
        Cnn {
            convolutions,
            pool: MaxPool2dConfig::new([2, 2])
                .with_strides([self.pool_stride; 2])
                .init(),
            hidden: LinearConfig::new(channels * width * width, self.hidden).init(device),
            output: LinearConfig::new(self.hidden, self.classes).init(device),
            activation: self.activation.init(device),
        }
    }
}

/// Padding by the same number of zeros above, below, left and right.
pub fn same_on_all_sides(zeros: usize) -> PaddingConfig2d {
    PaddingConfig2d::Explicit(zeros, zeros, zeros, zeros)
}

impl Cnn {
    /// Scores the classes.
    ///
    /// # Shapes
    /// - images: `[batch, channels, width, width]`
    /// - result: `[batch, classes]`
    pub fn forward(&self, images: Tensor<4>) -> Tensor<2> {
        let features = self.convolutions.iter().fold(images, |images, layer| {
            let features = self.activation.forward(layer.forward(images));
            self.pool.forward(features)
        });
        let hidden = self.hidden.forward(features.flatten::<2>(1, 3));
        self.output.forward(self.activation.forward(hidden))
    }
}

impl PrivateModel<Labelled<Tensor<4>>> for Cnn {
    fn losses(&self, batch: Labelled<Tensor<4>>) -> Tensor<1> {
        cross_entropy(self.forward(batch.inputs), batch.labels)
    }
}
