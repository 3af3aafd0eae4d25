//! Decoders: their files, logits, private gradients, text and its scores.
//!
//! What other libraries say is in `fixtures`, written by `make.py` and `scores.py` there.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests")]

mod adapters;
mod by_hand;
mod generated;
mod gguf;
mod logits;
mod private;
mod records;
mod scores;
mod tokens;

use burn::tensor::Device;
use std::path::{Path, PathBuf};
use tacita_pretrained::config::Config;
use tacita_pretrained::decoder::Decoder;
use tacita_pretrained::decoder::llama_checkpoint;
use tacita_pretrained::gguf::Gguf;
use tacita_pretrained::{PretrainedError, Weights};

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/decoder/fixtures")
        .join(name)
}

/// The models that the fixtures are about.
const MODELS: [&str; 3] = ["llama-gguf", "llama", "gpt2"];

fn checkpoint(model: &str) -> Result<(Config, Weights), PretrainedError> {
    match model {
        "llama-gguf" => llama_checkpoint(&mut Gguf::open(fixture("llama.gguf"))?),
        folder => Ok((
            Config::read(&fixture(folder))?,
            Weights::read(&fixture(folder))?,
        )),
    }
}

fn decoder(model: &str, device: &Device) -> Decoder {
    let (config, weights) = checkpoint(model).unwrap();
    Decoder::load(&config, weights, device).unwrap()
}
