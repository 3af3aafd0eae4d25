//! Small checkpoints that `make_small.py` wrote.

use burn::module::Module;
use burn::tensor::{Device, Int, Tensor, TensorData};
use std::path::{Path, PathBuf};
use tacita::PrivateModel;
use tacita_pretrained::encoder::Classifier;
use tacita_pretrained::{Adapt, EncoderFolder, Weights};

pub const SMALL: [&str; 4] = ["bert", "roberta", "mpnet", "distilbert"];

/// The folder of a small checkpoint.
pub fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/small")
        .join(name)
}

pub fn device() -> Device {
    tacita::testkit::device().autodiff()
}

/// A small classifier with the head of its file, adapted.
pub fn small(name: &str, adapt: Option<Adapt>) -> (EncoderFolder, Classifier) {
    let mut opened = EncoderFolder::open(&folder(name)).unwrap();
    opened.pairs = true;
    let mut weights = Weights::read(&folder(name)).unwrap();
    let mut model = opened
        .classifier_with_head(&mut weights, 3, &device())
        .unwrap();
    if let Some(adapt) = adapt {
        adapt.apply(&mut model, &device()).unwrap();
    }
    (opened, model)
}

/// Texts as tokens of one length.
pub fn filled(rows: &[Vec<u32>], length: usize, padding: usize) -> Tensor<2, Int> {
    let filled: Vec<i32> = (rows.iter())
        .flat_map(|row| {
            let row = row.iter().map(|token| *token as i32);
            row.chain(std::iter::repeat(padding as i32)).take(length)
        })
        .collect();
    let data = TensorData::new(filled, [rows.len(), length]);
    Tensor::from_data(data, &tacita::testkit::device())
}

pub fn values<const D: usize>(tensor: Tensor<D>) -> Vec<f32> {
    tensor.into_data().iter::<f32>().collect()
}

/// A loss for each row: the square of the first class's value, and a bit of the others.
#[derive(Module, Debug)]
pub struct Squares {
    pub inner: Classifier,
}

impl PrivateModel<Tensor<2, Int>> for Squares {
    fn losses(&self, tokens: Tensor<2, Int>) -> Tensor<1> {
        let values = self.inner.forward(tokens);
        let shifted = values - 0.3;
        shifted.square().sum_dim(1).squeeze_dim(1)
    }
}

/// A folder of its own, removed at the end.
pub struct Scratch(pub PathBuf);

impl Scratch {
    pub fn new(name: &str) -> Self {
        let path =
            std::env::temp_dir().join(format!("tacita-pretrained-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    /// A copy of a small checkpoint.
    pub fn copy_of(name: &str, test: &str) -> Self {
        let scratch = Self::new(test);
        for entry in std::fs::read_dir(folder(name)).unwrap() {
            let entry = entry.unwrap();
            std::fs::copy(entry.path(), scratch.0.join(entry.file_name())).unwrap();
        }
        scratch
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
