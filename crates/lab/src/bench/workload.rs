//! The models and data the step benchmark runs on.

use super::measure::StepTrial;
use super::step::Trial;
use super::synthetic::{self, Synthetic};
use burn::tensor::Device;
use clap::ValueEnum;
use tacita::optim::{Optimizer, OptimizerRule};
use tacita_cli::models::{
    AutoencoderConfig, CnnConfig, EmbeddingMlpConfig, LstmClassifierConfig, MlpConfig,
    Resnet9Config, TransformerConfig, Vgg11Config,
};

/// Models by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Workload {
    /// Two convolutions and two linear layers on 28 × 28 grey images.
    Cnn,
    /// Linear layers 784, 256, 256, 10.
    Mlp,
    /// The mean of 256 word vectors through two linear layers.
    EmbeddingMlp,
    /// An LSTM of width 128 over 15 characters.
    Lstm,
    /// Four convolutions and four transposed ones on 28 × 28 grey images.
    Autoencoder,
    /// Four encoder layers of width 256 over 128 tokens.
    Transformer,
    /// A residual network with group normalisation on 32 × 32 colour images.
    Resnet9,
    /// VGG-11 on 64 × 64 colour images.
    Vgg11,
}

/// A [`Workload::Mlp`] of another hidden width with `batch` records.
pub fn mlp_of_width(width: usize, batch: usize, device: &Device) -> Box<dyn StepTrial> {
    Box::new(Trial {
        workload: Workload::Mlp,
        model: MlpConfig::new(vec![784, width, width, 10]).init(&device.clone().autodiff()),
        records: Synthetic::new(synthetic::rows::<784>, batch, device),
        device: device.clone(),
    })
}

impl Workload {
    /// Every workload.
    pub const ALL: [Self; 8] = [
        Self::Cnn,
        Self::Mlp,
        Self::EmbeddingMlp,
        Self::Lstm,
        Self::Autoencoder,
        Self::Transformer,
        Self::Resnet9,
        Self::Vgg11,
    ];

    /// The name used on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Cnn => "cnn",
            Self::Mlp => "mlp",
            Self::EmbeddingMlp => "embedding-mlp",
            Self::Lstm => "lstm",
            Self::Autoencoder => "autoencoder",
            Self::Transformer => "transformer",
            Self::Resnet9 => "resnet9",
            Self::Vgg11 => "vgg11",
        }
    }

    /// The batch size it is usually measured at.
    pub fn default_batch(self) -> usize {
        match self {
            Self::Mlp | Self::EmbeddingMlp => 512,
            Self::Cnn | Self::Lstm => 256,
            Self::Autoencoder => 128,
            Self::Resnet9 => 64,
            Self::Transformer | Self::Vgg11 => 32,
        }
    }

    /// A new optimiser and its learning rate.
    pub fn optimizer(self) -> (Optimizer, f64) {
        match self {
            Self::EmbeddingMlp | Self::Transformer => (OptimizerRule::adam().into(), 1e-3),
            _ => (OptimizerRule::Sgd.into(), 0.05),
        }
    }

    /// The model and `batch` records.
    pub fn trial(self, batch: usize, device: &Device) -> Box<dyn StepTrial> {
        let model = device.clone().autodiff();
        macro_rules! trial {
            ($config:expr, $make:expr) => {
                Box::new(Trial {
                    workload: self,
                    model: $config.init(&model),
                    records: Synthetic::new($make, batch, device),
                    device: device.clone(),
                })
            };
        }
        match self {
            Self::Cnn => trial!(CnnConfig::benchmark(), synthetic::images::<1, 28>),
            Self::Mlp => trial!(MlpConfig::benchmark(), synthetic::rows::<784>),
            Self::EmbeddingMlp => {
                trial!(
                    EmbeddingMlpConfig::benchmark(),
                    synthetic::tokens::<256, 10_000, 2>
                )
            }
            Self::Lstm => {
                trial!(
                    LstmClassifierConfig::benchmark(),
                    synthetic::tokens::<15, 128, 18>
                )
            }
            Self::Autoencoder => trial!(AutoencoderConfig::benchmark(), synthetic::images::<1, 28>),
            Self::Transformer => {
                trial!(
                    TransformerConfig::benchmark(),
                    synthetic::tokens::<128, 10_000, 2>
                )
            }
            Self::Resnet9 => trial!(Resnet9Config::benchmark(), synthetic::images::<3, 32>),
            Self::Vgg11 => trial!(Vgg11Config::benchmark(), synthetic::images::<3, 64>),
        }
    }
}
