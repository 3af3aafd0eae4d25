//! Tensors of a network under the hub's names: all of them with adapters merged, those that were trained, or low-rank
//! adapters as PEFT lays them out.

use crate::adapter::{Kind, Layer, LowRank, Network, Place};
use crate::error::PretrainedError;
use crate::layout::Layout;
use crate::load::transposed;
use burn::module::Param;
use burn::tensor::Tensor;
use safetensors::tensor::{Dtype, TensorView, serialize};
use serde_json::json;
use std::collections::BTreeSet;
use std::path::Path;
use tacita::layers::Linear;

/// A tensor under its name in the hub's files.
#[derive(Debug, Clone, PartialEq)]
pub struct Named {
    /// Its name.
    pub name: String,
    /// Its shape.
    pub shape: Vec<usize>,
    /// Its values, row by row.
    pub values: Vec<f32>,
}

/// Which tensors are wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Wanted {
    /// All, with low-rank adapters merged into the weights they are beside.
    Merged,
    /// Those that were trained, but for low-rank adapters.
    Trained,
}

/// Every tensor of a network, with low-rank adapters merged into the weights they are beside.
pub fn merged<N: Network>(network: &N) -> Vec<Named> {
    let mut network = network.clone();
    let layers = network.layers().into_iter();
    layers
        .flat_map(|layer| tensors(layer, Wanted::Merged))
        .collect()
}

/// The tensors that were trained, but for low-rank adapters.
pub fn trained<N: Network>(network: &N) -> Vec<Named> {
    let mut network = network.clone();
    let layers = network.layers().into_iter();
    layers
        .flat_map(|layer| tensors(layer, Wanted::Trained))
        .collect()
}

/// What PEFT must know of a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PeftTask<'a> {
    /// `SEQ_CLS`, `FEATURE_EXTRACTION` or `CAUSAL_LM`.
    pub task_type: &'a str,
    /// Taken off the names of layers, where the base is loaded without a head.
    pub without_prefix: &'a str,
    /// What the adapter belongs to, for people and for PEFT.
    pub base: &'a str,
}

/// Writes low-rank adapters into a folder as PEFT lays them out: `adapter_config.json` and
/// `adapter_model.safetensors`, the head under `modules_to_save`. Where the task has no head in `transformers`, the
/// head goes into `head.safetensors`.
pub fn save_peft<N: Network>(
    network: &N,
    task: PeftTask<'_>,
    folder: &Path,
) -> Result<(), PretrainedError> {
    let mut network = network.clone();
    let (mut tensors_of_adapter, mut head) = (Vec::new(), Vec::new());
    let (mut targets, mut saved) = (Vec::new(), BTreeSet::new());
    let (mut rank, mut scale, mut input_first) = (0, 1.0, false);
    for layer in network.layers() {
        let name = layer.name.strip_prefix(task.without_prefix);
        let name = name.unwrap_or(&layer.name).to_owned();
        match layer {
            Layer {
                kind: Kind::Projection(projection, layout),
                ..
            } => {
                let Some(low_rank) = &projection.low_rank else {
                    continue;
                };
                (rank, scale) = (low_rank.rank(), low_rank.scale);
                input_first |= layout == Layout::InputFirst;
                for (part, linear) in [("lora_A", &low_rank.down), ("lora_B", &low_rank.up)] {
                    let name = format!("base_model.model.{name}.{part}.weight");
                    tensors_of_adapter.push(matrix(name, linear, Layout::OutputFirst, None));
                }
                targets.push(name);
            }
            layer if layer.place == Place::Head => {
                let part = name.split('.').next().unwrap_or_default().to_owned();
                saved.insert(part);
                head.extend(tensors(layer, Wanted::Merged));
            }
            _ => {}
        }
    }
    if task.task_type == "FEATURE_EXTRACTION" {
        saved.clear();
        save(&head, &folder.join("head.safetensors"))?;
    } else {
        tensors_of_adapter.extend(head.into_iter().map(|tensor| Named {
            name: format!("base_model.model.{}", tensor.name),
            ..tensor
        }));
    }
    let config = json!({
        "peft_type": "LORA",
        "task_type": task.task_type,
        "base_model_name_or_path": task.base,
        "r": rank,
        "lora_alpha": scale * rank as f64,
        "lora_dropout": 0.0,
        "bias": "none",
        "fan_in_fan_out": input_first,
        "inference_mode": true,
        "target_modules": targets,
        "modules_to_save": if saved.is_empty() { None } else { Some(saved) },
    });
    write(
        &folder.join("adapter_config.json"),
        format!("{config:#}\n").as_bytes(),
    )?;
    save(
        &tensors_of_adapter,
        &folder.join("adapter_model.safetensors"),
    )
}

/// Writes tensors as safetensors that `transformers` reads.
pub fn save(tensors: &[Named], path: &Path) -> Result<(), PretrainedError> {
    let bytes: Vec<Vec<u8>> = tensors
        .iter()
        .map(|tensor| {
            (tensor.values.iter())
                .flat_map(|value| value.to_le_bytes())
                .collect()
        })
        .collect();
    let views = tensors.iter().zip(&bytes).map(|(tensor, bytes)| {
        let view = TensorView::new(Dtype::F32, tensor.shape.clone(), bytes)?;
        Ok((tensor.name.as_str(), view))
    });
    let format = [("format".to_owned(), "pt".to_owned())].into();
    let file = views
        .collect::<Result<Vec<_>, safetensors::SafeTensorError>>()
        .and_then(|views| serialize(views, Some(format)));
    let file = file.map_err(|error| PretrainedError::Damaged {
        path: path.into(),
        why: error.to_string(),
    })?;
    write(path, &file)
}

fn write(path: &Path, bytes: &[u8]) -> Result<(), PretrainedError> {
    std::fs::write(path, bytes).map_err(|source| PretrainedError::File {
        what: "write",
        path: path.into(),
        source,
    })
}

/// The tensors of a layer that are wanted.
fn tensors(layer: Layer<'_>, wanted: Wanted) -> Vec<Named> {
    let name = layer.name;
    match layer.kind {
        Kind::Projection(projection, layout) => {
            let low_rank = projection.low_rank.as_ref();
            linear(&name, &projection.base, layout, wanted, low_rank)
        }
        Kind::Linear(layer, layout) => linear(&name, layer, layout, wanted, None),
        Kind::Embedding(embedding) => parameter(&name, "weight", &embedding.weight, wanted)
            .into_iter()
            .collect(),
        Kind::LayerNorm(norm) => {
            let beta = norm.beta.as_ref();
            let bias = beta.and_then(|beta| parameter(&name, "bias", beta, wanted));
            let weight = parameter(&name, "weight", &norm.gamma, wanted);
            weight.into_iter().chain(bias).collect()
        }
        Kind::RmsNorm(norm) => parameter(&name, "weight", &norm.gamma, wanted)
            .into_iter()
            .collect(),
    }
}

fn linear(
    name: &str,
    linear: &Linear,
    layout: Layout,
    wanted: Wanted,
    low_rank: Option<&LowRank>,
) -> Vec<Named> {
    let takes = |trained: bool| wanted == Wanted::Merged || trained;
    let weight = takes(linear.weight.is_require_grad())
        .then(|| matrix(format!("{name}.weight"), linear, layout, low_rank));
    let bias = linear.bias.as_ref();
    let bias = bias.and_then(|bias| parameter(name, "bias", bias, wanted));
    weight.into_iter().chain(bias).collect()
}

/// The weight of a linear layer as a file lays it out.
fn matrix(name: String, linear: &Linear, layout: Layout, low_rank: Option<&LowRank>) -> Named {
    let [input, output] = linear.weight.lazy_shape().dims();
    let mut weight = linear.weight.val().inner();
    if let Some(LowRank { down, up, scale }) = low_rank {
        let product = down.weight.val().inner().matmul(up.weight.val().inner());
        weight = weight + product.mul_scalar(*scale);
    }
    let values = numbers(weight);
    match layout {
        Layout::InputFirst => Named {
            name,
            shape: vec![input, output],
            values,
        },
        Layout::OutputFirst => Named {
            name,
            shape: vec![output, input],
            values: transposed(&values, output),
        },
    }
}

fn parameter<const D: usize>(
    name: &str,
    part: &str,
    param: &Param<Tensor<D>>,
    wanted: Wanted,
) -> Option<Named> {
    (wanted == Wanted::Merged || param.is_require_grad()).then(|| Named {
        name: format!("{name}.{part}"),
        shape: param.lazy_shape().to_vec(),
        values: numbers(param.val().inner()),
    })
}

fn numbers<const D: usize>(tensor: Tensor<D>) -> Vec<f32> {
    tensor.into_data().iter::<f32>().collect()
}
