//! A residual network of nine weighted layers, with group normalisation.

use super::cnn::same_on_all_sides;
use super::loss::losses;
use burn::config::Config;
use burn::module::Module;
use burn::tensor::{Device, Tensor};
use tacita::PrivateModel;
use tacita::layers::MaxPool2dConfig;
use tacita::layers::{Conv2d, Conv2dConfig, GroupNorm, GroupNormConfig, Linear, LinearConfig};
use tacita::ops::relu;
use tacita_datasets::Labelled;

/// Configuration of a [`Resnet9`] for 32 × 32 images.
#[derive(Config, Debug)]
pub struct Resnet9Config {
    /// Channels after the first convolution; each stage doubles them.
    pub width: usize,
    /// Groups of every normalisation.
    pub groups: usize,
    /// Number of classes.
    pub classes: usize,
    /// Channels of the images.
    #[config(default = 3)]
    pub channels: usize,
}

/// Two stages of convolutions, each followed by a residual block.
#[derive(Module, Debug)]
pub struct Resnet9 {
    stem: Block,
    first: Block,
    first_residual: [Block; 2],
    second: Block,
    third: Block,
    second_residual: [Block; 2],
    output: Linear,
}

/// Convolution, group normalisation, ReLU.
#[derive(Module, Debug)]
struct Block {
    convolution: Conv2d,
    norm: GroupNorm,
}

impl Resnet9Config {
    /// The benchmark's model: width 64, 32 groups, 10 classes.
    pub fn benchmark() -> Self {
        Self::new(64, 32, 10)
    }

    /// The model, with newly initialised parameters.
    pub fn init(&self, device: &Device) -> Resnet9 {
        let block = |channels_in: usize, channels_out: usize| Block {
            convolution: Conv2dConfig::new([channels_in, channels_out], [3, 3])
                .with_padding(same_on_all_sides(1))
                .init(device),
            norm: GroupNormConfig::new(self.groups, channels_out).init(device),
        };
        let width = self.width;
        Resnet9 {
            stem: block(self.channels, width),
            first: block(width, 2 * width),
            first_residual: [block(2 * width, 2 * width), block(2 * width, 2 * width)],
            second: block(2 * width, 4 * width),
            third: block(4 * width, 8 * width),
            second_residual: [block(8 * width, 8 * width), block(8 * width, 8 * width)],
            output: LinearConfig::new(8 * width, self.classes).init(device),
        }
    }
}

impl Block {
    fn forward(&self, images: Tensor<4>) -> Tensor<4> {
        relu(self.norm.forward(self.convolution.forward(images)))
    }
}

fn residual([first, second]: &[Block; 2], images: Tensor<4>) -> Tensor<4> {
    images.clone() + second.forward(first.forward(images))
}

fn pool(images: Tensor<4>, size: usize) -> Tensor<4> {
    let pool = MaxPool2dConfig::new([size, size]).with_strides([size, size]);
    pool.init().forward(images)
}

impl Resnet9 {
    /// Scores the classes.
    ///
    /// # Shapes
    /// - images: `[batch, channels, 32, 32]`
    /// - result: `[batch, classes]`
    pub fn forward(&self, images: Tensor<4>) -> Tensor<2> {
        let features = self.first.forward(self.stem.forward(images));
        let features = residual(&self.first_residual, pool(features, 2));
        let features = pool(self.second.forward(features), 2);
        let features = pool(self.third.forward(features), 2);
        let features = pool(residual(&self.second_residual, features), 4);
        self.output.forward(features.flatten::<2>(1, 3))
    }
}

impl PrivateModel<Labelled<Tensor<4>>> for Resnet9 {
    fn losses(&self, batch: Labelled<Tensor<4>>) -> Tensor<1> {
        losses(self.forward(batch.inputs), batch.labels)
    }
}
