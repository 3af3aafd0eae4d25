//! VGG-11: eight convolutions, then three linear layers or one.

use super::cnn::same_on_all_sides;
use super::loss::losses;
use burn::config::Config;
use burn::module::Module;
use burn::nn::Initializer;
use burn::tensor::{Device, Tensor};
use tacita::PrivateModel;
use tacita::layers::{Conv2d, Conv2dConfig, Linear, LinearConfig};
use tacita::layers::{MaxPool2d, MaxPool2dConfig};
use tacita::ops::relu;
use tacita_datasets::Labelled;

/// He et al. 2015 for ReLU, as such networks usually start: each layer keeps the scale of what it gets, and nothing
/// here normalises.
const START: Initializer = Initializer::KaimingNormal {
    gain: std::f64::consts::SQRT_2,
    fan_out_only: false,
};

/// Mean and deviation of pixels, rounded from those of ImageNet, by which such networks scale their input: public
/// constants. Without them all gradients of a batch are much alike, whatever the class.
const PIXELS: [f64; 2] = [0.45, 0.225];

/// Channels of each convolution, in stages that end with a pooling.
const STAGES: [&[usize]; 5] = [&[64], &[128], &[256, 256], &[512, 512], &[512, 512]];

/// Configuration of a [`Vgg11`] for square images.
#[derive(Config, Debug)]
pub struct Vgg11Config {
    /// Width of the images, a multiple of 32.
    pub image_width: usize,
    /// Width of the two linear layers before the last; 0 for none, so that the last takes the convolutions' features.
    pub hidden: usize,
    /// Number of classes.
    pub classes: usize,
    /// Channels of the images.
    #[config(default = 3)]
    pub channels: usize,
}

/// The network without dropout or normalisation.
#[derive(Module, Debug)]
pub struct Vgg11 {
    stages: Vec<Vec<Conv2d>>,
    pool: MaxPool2d,
    hidden: Vec<Linear>,
    output: Linear,
}

impl Vgg11Config {
    /// The benchmark's model: 64 × 64 images, hidden width 4,096, 10 classes.
    pub fn benchmark() -> Self {
        Self::new(64, 4096, 10)
    }

    /// The model, with newly initialised parameters.
    pub fn init(&self, device: &Device) -> Vgg11 {
        let mut channels = self.channels;
        let mut convolution = |&channels_out: &usize| {
            let config = Conv2dConfig::new([channels, channels_out], [3, 3])
                .with_padding(same_on_all_sides(1))
                .with_initializer(START);
            channels = channels_out;
            config.init(device)
        };
        let stages = STAGES
            .iter()
            .map(|stage| stage.iter().map(&mut convolution).collect())
            .collect();
        let linear = |inputs, outputs| {
            LinearConfig::new(inputs, outputs)
                .with_initializer(START)
                .init(device)
        };
        let width = self.image_width / 32;
        let features = channels * width * width;
        let widths = match self.hidden {
            0 => vec![features],
            hidden => vec![features, hidden, hidden],
        };
        let hidden = widths.windows(2).map(|pair| linear(pair[0], pair[1]));
        Vgg11 {
            stages,
            pool: MaxPool2dConfig::new([2, 2]).with_strides([2, 2]).init(),
            hidden: hidden.collect(),
            output: linear(widths[widths.len() - 1], self.classes),
        }
    }
}

impl Vgg11 {
    /// Scores the classes.
    ///
    /// # Shapes
    /// - images: `[batch, channels, width, width]`
    /// - result: `[batch, classes]`
    pub fn forward(&self, images: Tensor<4>) -> Tensor<2> {
        let [mean, deviation] = PIXELS;
        let images = (images - mean) / deviation;
        let features = self.stages.iter().fold(images, |images, stage| {
            let convolve = |images, layer: &Conv2d| relu(layer.forward(images));
            self.pool.forward(stage.iter().fold(images, convolve))
        });
        let classify = |rows, layer: &Linear| relu(layer.forward(rows));
        let rows = self
            .hidden
            .iter()
            .fold(features.flatten::<2>(1, 3), classify);
        self.output.forward(rows)
    }
}

impl PrivateModel<Labelled<Tensor<4>>> for Vgg11 {
    fn losses(&self, batch: Labelled<Tensor<4>>) -> Tensor<1> {
        losses(self.forward(batch.inputs), batch.labels)
    }
}
