//! Convolutions and pooling, then two linear layers.

use super::loss::losses;
use burn::config::Config;
use burn::module::Module;
use burn::nn::activation::{Activation, ActivationConfig};
use burn::nn::{Initializer, PaddingConfig2d};
use burn::tensor::{Device, Tensor};
use tacita::PrivateModel;
use tacita::layers::{Conv2d, Conv2dConfig, Linear, LinearConfig, MaxPool2d, MaxPool2dConfig};
use tacita::ops::activate;
use tacita_datasets::Labelled;

/// Mean and deviation of MNIST's pixels, as PyTorch's example for it states them.
const MNIST_PIXELS: [f64; 2] = [0.1307, 0.3081];

/// One square convolution, followed by the activation and perhaps 2 × 2 max pooling.
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
    /// Stride of the pooling; none if there is no pooling.
    pub pool_stride: Option<usize>,
}

/// Configuration of a [`Cnn`].
#[derive(Config, Debug)]
pub struct CnnConfig {
    /// Channels and width of the square images.
    pub image: [usize; 2],
    /// The convolutions in order.
    pub convolutions: Vec<ConvolutionConfig>,
    /// Width of the layer before the last.
    pub hidden: usize,
    /// Number of classes.
    pub classes: usize,
    /// What follows every layer but the last.
    #[config(default = "ActivationConfig::Relu")]
    pub activation: ActivationConfig,
    /// Weights start within ± gain · √(3 / inputs); by default as Burn's and PyTorch's do.
    #[config(default = "1.0 / 3f64.sqrt()")]
    pub start_gain: f64,
    /// A public mean and deviation that pixels are brought to.
    #[config(default = "[0.0, 1.0]")]
    pub pixels: [f64; 2],
}

/// A small convolutional classifier.
#[derive(Module, Debug)]
pub struct Cnn {
    convolutions: Vec<Conv2d>,
    pools: Vec<Option<MaxPool2d>>,
    hidden: Linear,
    output: Linear,
    #[module(skip)]
    activation: Activation,
    #[module(skip)]
    pixels: [f64; 2],
}

impl CnnConfig {
    /// The benchmark's model of 28 × 28 grey images: 26,010 parameters.
    pub fn benchmark() -> Self {
        Self::tanh_cnn([1, 28], 10).with_activation(ActivationConfig::Relu)
    }

    /// The model of Papernot et al. 2021 (arXiv:2007.14191): bounded activations keep gradients small,
    /// which noise rewards. 26,010 parameters on 28 × 28 grey images.
    pub fn tanh_cnn(image: [usize; 2], classes: usize) -> Self {
        let convolutions = vec![
            ConvolutionConfig::new(16, 8, 2, 3).with_pool_stride(Some(1)),
            ConvolutionConfig::new(32, 4, 2, 0).with_pool_stride(Some(1)),
        ];
        Self::new(image, convolutions, 32, classes).with_activation(ActivationConfig::Tanh)
    }

    /// A model for images too small to be halved.
    pub fn small_tanh_cnn(image: [usize; 2], hidden: usize, classes: usize) -> Self {
        let convolution = ConvolutionConfig::new(16, 3, 1, 1).with_pool_stride(Some(1));
        Self::new(image, vec![convolution], hidden, classes).with_activation(ActivationConfig::Tanh)
    }

    /// The model of Galli et al. 2024 for MNIST, whose table leaves padding open: with 3 zeros around
    /// the first convolution and all strides 1 it has the 551,322 parameters they state.
    pub fn online_sensitivity(classes: usize) -> Self {
        let convolutions = vec![
            ConvolutionConfig::new(16, 8, 1, 3).with_pool_stride(Some(1)),
            ConvolutionConfig::new(32, 4, 1, 0),
        ];
        Self::new([1, 28], convolutions, 32, classes)
    }

    /// The model of the program that Du et al. 2021 published for MNIST, taken from an example of Opacus: that of
    /// Papernot et al. with ReLU, and pixels scaled. 26,010 parameters on 28 × 28 grey images.
    pub fn relu_cnn(image: [usize; 2], classes: usize) -> Self {
        Self::tanh_cnn(image, classes)
            .with_activation(ActivationConfig::Relu)
            .with_pixels(MNIST_PIXELS)
    }

    /// Two convolutions, each with 2 × 2 pooling, and two linear layers, as Du et al. 2021 describe
    /// theirs. They leave the sizes open: small ones stand the noise of their threshold 4 best.
    /// 8,194 parameters on 28 × 28 grey images.
    pub fn dynamic(image: [usize; 2], classes: usize) -> Self {
        Self::like_the_example(image, [6, 12], 3, 24, classes)
    }

    /// The same with more channels, of which MNIST at their threshold 1.5 makes good use: 15,642 parameters on
    /// 28 × 28 grey images.
    pub fn wide_dynamic(image: [usize; 2], classes: usize) -> Self {
        Self::like_the_example(image, [16, 16], 3, 32, classes)
    }

    /// The same with the sizes of PyTorch's example for MNIST: 21,840 parameters on 28 × 28 grey images.
    pub fn example(image: [usize; 2], classes: usize) -> Self {
        Self::like_the_example(image, [10, 20], 5, 50, classes)
    }

    /// Layers and scale of pixels of PyTorch's example for MNIST; weights start as He et al. 2015 advise
    /// for ReLU.
    fn like_the_example(
        image: [usize; 2],
        channels: [usize; 2],
        kernel: usize,
        hidden: usize,
        classes: usize,
    ) -> Self {
        let layer =
            |channels| ConvolutionConfig::new(channels, kernel, 1, 0).with_pool_stride(Some(2));
        Self::new(image, channels.map(layer).to_vec(), hidden, classes)
            .with_start_gain(2f64.sqrt())
            .with_pixels(MNIST_PIXELS)
    }

    /// Whether the convolutions leave something of the image.
    pub fn fits(&self) -> bool {
        let [_, mut width] = self.image;
        self.convolutions.iter().all(|layer| {
            if width + 2 * layer.padding < layer.kernel {
                return false;
            }
            width = (width + 2 * layer.padding - layer.kernel) / layer.stride + 1;
            if let Some(stride) = layer.pool_stride {
                if width < 2 {
                    return false;
                }
                width = (width - 2) / stride + 1;
            }
            true
        })
    }

    /// The model, with newly initialised parameters.
    pub fn init(&self, device: &Device) -> Cnn {
        let [mut channels, mut width] = self.image;
        let start = || Initializer::KaimingUniform {
            gain: self.start_gain,
            fan_out_only: false,
        };
        let linear = |d_input, d_output| {
            LinearConfig::new(d_input, d_output)
                .with_initializer(start())
                .init(device)
        };
        let mut convolutions = Vec::with_capacity(self.convolutions.len());
        for layer in &self.convolutions {
            let config = Conv2dConfig::new([channels, layer.channels], [layer.kernel; 2])
                .with_stride([layer.stride; 2])
                .with_padding(same_on_all_sides(layer.padding))
                .with_initializer(start());
            convolutions.push(config.init(device));
            channels = layer.channels;
            width = (width + 2 * layer.padding - layer.kernel) / layer.stride + 1;
            if let Some(stride) = layer.pool_stride {
                width = (width - 2) / stride + 1;
            }
        }
        let pool = |stride: usize| {
            MaxPool2dConfig::new([2, 2])
                .with_strides([stride; 2])
                .init()
        };
        let pools = self.convolutions.iter();
        Cnn {
            convolutions,
            pools: pools.map(|layer| layer.pool_stride.map(pool)).collect(),
            hidden: linear(channels * width * width, self.hidden),
            output: linear(self.hidden, self.classes),
            activation: self.activation.init(device),
            pixels: self.pixels,
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
        let [mean, deviation] = self.pixels;
        let images = match self.pixels {
            [0.0, 1.0] => images,
            _ => (images - mean) / deviation,
        };
        let layers = self.convolutions.iter().zip(&self.pools);
        let features = layers.fold(images, |images, (layer, pool)| {
            let features = activate(&self.activation, layer.forward(images));
            match pool {
                Some(pool) => pool.forward(features),
                None => features,
            }
        });
        let hidden = self.hidden.forward(features.flatten::<2>(1, 3));
        self.output.forward(activate(&self.activation, hidden))
    }
}

impl PrivateModel<Labelled<Tensor<4>>> for Cnn {
    fn losses(&self, batch: Labelled<Tensor<4>>) -> Tensor<1> {
        losses(self.forward(batch.inputs), batch.labels)
    }
}
