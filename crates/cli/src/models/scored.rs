//! How well a model does on a batch, and what it answers.

use super::autoencoder::Autoencoder;
use super::cnn::Cnn;
use super::embedding_mlp::EmbeddingMlp;
use super::loss::{MIDDLE, STEP};
use super::lstm::LstmClassifier;
use super::mlp::Mlp;
use super::resnet9::Resnet9;
use super::text_classifier::{TextClassifier, TextHead};
use super::transformer::Transformer;
use super::vgg11::Vgg11;
use burn::module::Module;
use burn::tensor::{Int, Tensor};
use tacita::PrivateModel;
use tacita_datasets::{Labelled, Labels};

/// What a model's score on a record means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Score {
    /// 1 if the class is right, else 0; their mean is the accuracy. Of several labels the share that is right; of a
    /// number less its absolute error, in units of the range.
    Accuracy,
    /// The mean squared error of a reconstruction.
    SquaredError,
}

/// A model whose answers can be scored.
pub trait Scored<Batch>: PrivateModel<Batch> + 'static {
    /// What the scores mean.
    const SCORE: Score;

    /// The score of each record, without recording anything for training.
    fn scores(&self, batch: Batch) -> Vec<f64>;

    /// A value for each class; none if the model is no classifier.
    ///
    /// # Shapes
    /// - result: `[batch, classes]`
    fn class_values(&self, batch: Batch) -> Option<Tensor<2>>;
}

fn right_answers(values: Tensor<2>, labels: Labels) -> Vec<f64> {
    let [count, outputs] = values.dims();
    let values = values.inner();
    match labels {
        Labels::Classes(labels) => {
            let guesses = values.argmax(1).reshape([count]);
            let right = guesses.equal(labels).int();
            right.into_data().iter::<f64>().collect()
        }
        Labels::Numbers(numbers, _) => {
            let guesses = (values.reshape([count]) * STEP + MIDDLE).clamp(0.0, 1.0);
            let errors = (guesses - numbers).abs().neg();
            errors.into_data().iter::<f64>().collect()
        }
        Labels::Sets(sets) => {
            let right = values.greater_elem(0.0).equal(sets.greater_elem(0.5)).int();
            let right: Vec<f64> = right.into_data().iter::<f64>().collect();
            let rows = right.chunks(outputs.max(1));
            rows.map(|row| row.iter().sum::<f64>() / row.len() as f64)
                .collect()
        }
    }
}

macro_rules! classifier {
    ($model:ty, $inputs:ty, |$this:ident, $rows:ident| $forward:expr) => {
        impl Scored<Labelled<$inputs>> for $model {
            const SCORE: Score = Score::Accuracy;

            fn scores(&self, batch: Labelled<$inputs>) -> Vec<f64> {
                let ($this, $rows) = (self.valid(), batch.inputs);
                right_answers($forward, batch.labels)
            }

            fn class_values(&self, batch: Labelled<$inputs>) -> Option<Tensor<2>> {
                let ($this, $rows) = (self.valid(), batch.inputs);
                Some($forward)
            }
        }
    };
}

classifier!(Cnn, Tensor<4>, |model, images| model.forward(images));
classifier!(Resnet9, Tensor<4>, |model, images| model.forward(images));
classifier!(Vgg11, Tensor<4>, |model, images| model.forward(images));
classifier!(Mlp, Tensor<2>, |model, rows| model.forward(rows));
classifier!(Mlp, Tensor<4>, |model, images| model
    .forward(images.flatten(1, 3)));
classifier!(EmbeddingMlp, Tensor<2, Int>, |model, tokens| model.forward(tokens));
classifier!(LstmClassifier, Tensor<2, Int>, |model, tokens| model.forward(tokens));
classifier!(TextClassifier, Tensor<2, Int>, |model, tokens| model
    .forward(tokens));
classifier!(TextHead, Tensor<2>, |model, features| model
    .forward(features));
classifier!(Transformer, Tensor<2, Int>, |model, tokens| model.forward(tokens));

impl Scored<Labelled<Tensor<4>>> for Autoencoder {
    const SCORE: Score = Score::SquaredError;

    fn scores(&self, batch: Labelled<Tensor<4>>) -> Vec<f64> {
        let losses = self.valid().losses(batch);
        losses.into_data().iter::<f64>().collect()
    }

    fn class_values(&self, _: Labelled<Tensor<4>>) -> Option<Tensor<2>> {
        None
    }
}
