//! A fine-tuned classifier in layouts that others read.

use crate::adapter::Adapt;
use crate::encoder::{Classifier, Pooling};
use crate::error::PretrainedError;
use crate::folder::EncoderFolder;
use crate::save::{PeftTask, merged, save, save_peft, trained};
use serde_json::{Value, json};
use std::path::Path;

/// Files of a tokenizer, some of which a folder has.
const TOKENIZER: [&str; 6] = [
    "tokenizer.json",
    "tokenizer_config.json",
    "special_tokens_map.json",
    "vocab.txt",
    "vocab.json",
    "merges.txt",
];

impl EncoderFolder {
    /// Writes a classifier with adapters merged into a folder as the hub lays it out, which `transformers` loads. A head
    /// on a mean, for which `transformers` has no class, goes into `head.safetensors` beside the encoder.
    pub fn save_merged(
        &self,
        model: &Classifier,
        classes: &[String],
        out: &Path,
    ) -> Result<(), PretrainedError> {
        make(out)?;
        let mut config = self.config()?;
        let numbered = classes.iter().enumerate();
        config["id2label"] = numbered
            .clone()
            .map(|(at, name)| (at.to_string(), json!(name)))
            .collect();
        config["label2id"] = numbered
            .map(|(at, name)| (name.clone(), json!(at)))
            .collect();
        config["dtype"] = json!("float32");
        config["torch_dtype"] = json!("float32");
        let mut tensors = merged(model);
        if self.pooling == Pooling::Mean {
            let prefix = format!("{}.", self.sizes.architecture.name());
            let (encoder, head) =
                (tensors.into_iter()).partition(|tensor| tensor.name.starts_with(&prefix));
            tensors = encoder;
            for tensor in &mut tensors {
                tensor.name = tensor.name[prefix.len()..].to_owned();
            }
            save(&head, &out.join("head.safetensors"))?;
        } else {
            config["architectures"] = json!([self.sizes.architecture.class_for_classification()]);
        }
        write(&out.join("config.json"), format!("{config:#}\n").as_bytes())?;
        save(&tensors, &out.join("model.safetensors"))?;
        for name in TOKENIZER {
            let file = self.path.join(name);
            if let Ok(bytes) = std::fs::read(&file) {
                write(&out.join(name), &bytes)?;
            }
        }
        Ok(())
    }

    /// Writes what was trained alone: low-rank adapters as PEFT lays them out, anything else as safetensors of the
    /// tensors that were trained.
    pub fn save_trained(
        &self,
        model: &Classifier,
        adapt: Adapt,
        out: &Path,
    ) -> Result<(), PretrainedError> {
        make(out)?;
        let Adapt::LowRank { .. } = adapt else {
            return save(&trained(model), &out.join("model.safetensors"));
        };
        let prefix = format!("{}.", self.sizes.architecture.name());
        let whole = self.path.canonicalize();
        let base = whole.as_deref().unwrap_or(&self.path).file_name();
        let base = base.unwrap_or_default().to_string_lossy();
        let task = match self.pooling {
            Pooling::First => PeftTask {
                task_type: "SEQ_CLS",
                without_prefix: "",
                base: &base,
            },
            Pooling::Mean => PeftTask {
                task_type: "FEATURE_EXTRACTION",
                without_prefix: &prefix,
                base: &base,
            },
        };
        save_peft(model, task, out)
    }

    fn config(&self) -> Result<Value, PretrainedError> {
        let path = self.path.join("config.json");
        let text = std::fs::read_to_string(&path).map_err(|source| PretrainedError::File {
            what: "read",
            path: path.clone(),
            source,
        })?;
        serde_json::from_str(&text).map_err(|error| PretrainedError::Damaged {
            path,
            why: error.to_string(),
        })
    }
}

fn make(folder: &Path) -> Result<(), PretrainedError> {
    std::fs::create_dir_all(folder).map_err(|source| PretrainedError::File {
        what: "make",
        path: folder.into(),
        source,
    })
}

fn write(path: &Path, bytes: &[u8]) -> Result<(), PretrainedError> {
    std::fs::write(path, bytes).map_err(|source| PretrainedError::File {
        what: "write",
        path: path.into(),
        source,
    })
}
