//! Convolutions that widen the channels, and transposed ones that narrow them again.

use super::cnn::same_on_all_sides;
use super::loss::mean_squared_error;
use burn::config::Config;
use burn::module::Module;
use burn::tensor::activation::leaky_relu;
use burn::tensor::{Device, Tensor};
use tacita::PrivateModel;
use tacita::layers::{Conv2d, Conv2dConfig, ConvTranspose2d, ConvTranspose2dConfig};
use tacita::ops::{relu, sigmoid};
use tacita_datasets::Labelled;

/// Configuration of an [`Autoencoder`].
#[derive(Config, Debug)]
pub struct AutoencoderConfig {
    /// Channels of the image and after each convolution of the encoder.
    pub channels: Vec<usize>,
    /// Leaky ReLU between layers and a sigmoid at the end, as Galli et al. 2024 have it, instead of
    /// ReLU and nothing.
    #[config(default = false)]
    pub leaky: bool,
    /// Zeros around the images before every convolution; without any, the code is narrower than the image.
    #[config(default = 1)]
    pub padding: usize,
}

/// A convolutional autoencoder of 3 × 3 kernels.
#[derive(Module, Debug)]
pub struct Autoencoder {
    encoder: Vec<Conv2d>,
    decoder: Vec<ConvTranspose2d>,
    #[module(skip)]
    leaky: bool,
}

impl AutoencoderConfig {
    /// The benchmark's model: 1, 8, 16, 32, 64 channels and back.
    pub fn benchmark() -> Self {
        Self::new(vec![1, 8, 16, 32, 64])
    }

    /// The model, with newly initialised parameters.
    pub fn init(&self, device: &Device) -> Autoencoder {
        let widen = |pair: &[usize]| {
            Conv2dConfig::new([pair[0], pair[1]], [3, 3])
                .with_padding(same_on_all_sides(self.padding))
                .init(device)
        };
        let narrow = |pair: &[usize]| {
            ConvTranspose2dConfig::new([pair[1], pair[0]], [3, 3])
                .with_padding([self.padding; 2])
                .init(device)
        };
        Autoencoder {
            encoder: self.channels.windows(2).map(widen).collect(),
            decoder: self.channels.windows(2).rev().map(narrow).collect(),
            leaky: self.leaky,
        }
    }
}

impl Autoencoder {
    /// Reconstructs images.
    ///
    /// # Shapes
    /// - images and result: `[batch, channels, height, width]`
    pub fn forward(&self, images: Tensor<4>) -> Tensor<4> {
        let bend = |images| match self.leaky {
            true => leaky_relu(images, 0.01),
            false => relu(images),
        };
        let encode = |images, layer: &Conv2d| bend(layer.forward(images));
        let code = self.encoder.iter().fold(images, encode);
        let last = self.decoder.len() - 1;
        let layers = self.decoder.iter().enumerate();
        layers.fold(code, |images, (index, layer)| {
            let images = layer.forward(images);
            match (index < last, self.leaky) {
                (true, _) => bend(images),
                (false, true) => sigmoid(images),
                (false, false) => images,
            }
        })
    }
}

/// The classes of the images have no part in it.
impl PrivateModel<Labelled<Tensor<4>>> for Autoencoder {
    fn losses(&self, batch: Labelled<Tensor<4>>) -> Tensor<1> {
        mean_squared_error(self.forward(batch.inputs.clone()), batch.inputs)
    }
}
