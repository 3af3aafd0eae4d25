//! An encoder with a head that tells classes.

use super::{Architecture, Encoder, EncoderSizes};
use crate::adapter::{Kind, Layer, Network, Place};
use crate::error::PretrainedError;
use crate::layout::Layout;
use crate::load::Loader;
use burn::module::{Module, Param};
use burn::nn::Initializer;
use burn::tensor::{Device, Int, Tensor};
use tacita::layers::{Linear, LinearConfig};
use tacita::ops;

/// How the states of a text become one vector.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Pooling {
    /// The state of the first token, as the heads of `transformers` have it.
    First,
    /// The mean over the text, as sentence encoders are trained.
    Mean,
}

/// The layers after the encoder.
#[derive(Module, Debug)]
pub struct Head {
    /// A pooler that was trained before, tanh of a linear layer on the first token.
    pub pooler: Option<Linear>,
    /// New layers, first to last.
    pub layers: Vec<Linear>,
    /// How the states of a text become one vector.
    #[module(skip)]
    pub pooling: Pooling,
}

/// A classifier of texts, or of pairs of texts.
#[derive(Module, Debug)]
pub struct Classifier {
    /// The encoder.
    pub encoder: Encoder,
    /// The layers after it.
    pub head: Head,
}

/// The name of the pooler.
const POOLER: &str = "pooler.dense";
/// The name of the new layer on a mean.
const ON_MEAN: [&str; 1] = ["classifier"];
/// Layers of tasks that a checkpoint may have been trained for, which are not used.
const OTHER_TASKS: [&str; 8] = [
    "cls.",
    "lm_head.",
    "vocab_",
    "qa_outputs.",
    "pooler.",
    "classifier.",
    "pre_classifier.",
    "score.",
];

impl Classifier {
    /// The classifier of a config: the encoder and, if the file has them, its pooler or the whole head; other layers
    /// are new.
    pub fn load(
        mut loader: Loader<'_>,
        sizes: EncoderSizes,
        separator: Option<usize>,
        pooling: Pooling,
        classes: usize,
        keep_head: bool,
    ) -> Result<Self, PretrainedError> {
        let encoder = Encoder::load(&mut loader, sizes, separator)?;
        let head = Head::load(&mut loader, sizes, pooling, classes, keep_head)?;
        loader
            .weights
            .discard(|name| OTHER_TASKS.iter().any(|prefix| name.starts_with(prefix)));
        std::mem::take(loader.weights).finish()?;
        Ok(Self { encoder, head })
    }

    /// What the head sees of each record: a function of the encoder, and of a pooler that was trained before.
    ///
    /// # Shapes
    /// - tokens: `[batch, length]`
    /// - result: `[batch, width]`
    pub fn features(&self, tokens: Tensor<2, Int>) -> Tensor<2> {
        let mask = self.encoder.mask(&tokens);
        let states = self.encoder.forward(tokens);
        let [batch, length, width] = states.dims();
        let pooled = match self.head.pooling {
            Pooling::First => states.slice([0..batch, 0..1]).reshape([batch, width]),
            Pooling::Mean => {
                let count = mask.clone().sum_dim(1).clamp_min(1.0);
                let sum = (states * mask.reshape([batch, length, 1])).sum_dim(1);
                sum.reshape([batch, width]) / count
            }
        };
        match &self.head.pooler {
            Some(pooler) => ops::tanh(pooler.forward(pooled)),
            None => pooled,
        }
    }

    /// A value for each class.
    ///
    /// # Shapes
    /// - tokens: `[batch, length]`
    /// - result: `[batch, classes]`
    pub fn forward(&self, tokens: Tensor<2, Int>) -> Tensor<2> {
        let architecture = self.encoder.sizes.architecture;
        self.head.forward(self.features(tokens), architecture)
    }
}

impl Head {
    fn load(
        loader: &mut Loader<'_>,
        sizes: EncoderSizes,
        pooling: Pooling,
        classes: usize,
        keep: bool,
    ) -> Result<Self, PretrainedError> {
        let width = sizes.width;
        let has_pooler = sizes.architecture == Architecture::Bert && pooling == Pooling::First;
        let pooler = match has_pooler && loader.weights.has(&format!("{POOLER}.weight")) {
            true => Some(loader.linear(POOLER, [width, width], true, Layout::OutputFirst)?),
            false => None,
        };
        let names = names(sizes.architecture, pooling, pooler.is_some());
        let mut layers = Vec::with_capacity(names.len());
        for (at, name) in names.iter().enumerate() {
            let outputs = if at + 1 == names.len() {
                classes
            } else {
                width
            };
            let shape = [width, outputs];
            layers.push(
                match keep && loader.weights.has(&format!("{name}.weight")) {
                    true => loader.linear(name, shape, true, Layout::OutputFirst)?,
                    false => new_layer(width, outputs, loader.device),
                },
            );
        }
        Ok(Self {
            pooler,
            layers,
            pooling,
        })
    }

    /// The values of the classes.
    ///
    /// # Shapes
    /// - features: `[batch, width]`
    /// - result: `[batch, classes]`
    pub fn forward(&self, features: Tensor<2>, architecture: Architecture) -> Tensor<2> {
        let last = self.layers.len().saturating_sub(1);
        (self.layers.iter().enumerate()).fold(features, |input, (at, layer)| {
            let output = layer.forward(input);
            match architecture {
                _ if at == last => output,
                Architecture::Distilbert => ops::relu(output),
                _ => ops::tanh(output),
            }
        })
    }
}

/// A layer as `transformers` draws it.
fn new_layer(width: usize, outputs: usize, device: &Device) -> Linear {
    let drawn = LinearConfig::new(width, outputs).with_initializer(Initializer::Normal {
        mean: 0.0,
        std: 0.02,
    });
    Linear {
        bias: Some(Param::from_tensor(Tensor::zeros([outputs], device))),
        ..drawn.init(device)
    }
}

/// Names of the new layers.
fn names(
    architecture: Architecture,
    pooling: Pooling,
    has_pooler: bool,
) -> &'static [&'static str] {
    match (pooling, architecture) {
        (Pooling::First, Architecture::Bert) if !has_pooler => &["bert.pooler.dense", "classifier"],
        (Pooling::First, _) => architecture.head(),
        (Pooling::Mean, _) => &ON_MEAN,
    }
}

impl Network for Classifier {
    fn blocks(&self) -> usize {
        self.encoder.blocks.len()
    }

    fn layers(&mut self) -> Vec<Layer<'_>> {
        let architecture = self.encoder.sizes.architecture;
        let prefix = architecture.name();
        let names = names(architecture, self.head.pooling, self.head.pooler.is_some());
        let mut layers = self.encoder.layers();
        layers.extend(self.head.pooler.as_mut().map(|pooler| Layer {
            name: POOLER.into(),
            place: Place::End,
            kind: Kind::Linear(pooler, Layout::OutputFirst),
        }));
        for layer in &mut layers {
            layer.name = format!("{prefix}.{}", layer.name);
        }
        let new = names.iter().zip(&mut self.head.layers);
        layers.extend(new.map(|(name, layer)| Layer {
            name: (*name).into(),
            place: Place::Head,
            kind: Kind::Linear(layer, Layout::OutputFirst),
        }));
        layers
    }
}
