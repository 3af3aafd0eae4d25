//! Low-rank adapters from a folder as PEFT lays them out.

use crate::adapter::{Kind, LowRank, Network};
use crate::config::Config;
use crate::error::PretrainedError;
use crate::layout::Layout;
use crate::load::Loader;
use crate::weights::Weights;
use burn::tensor::Device;
use std::path::Path;

/// Puts the adapters of a folder (`adapter_config.json`, `adapter_model.safetensors`) on a network. A layer without
/// one is left as it is; an adapter without its layer is an error.
pub fn read_peft<N: Network>(
    network: &mut N,
    folder: &Path,
    device: &Device,
) -> Result<(), PretrainedError> {
    let config = Config::read_file(&folder.join("adapter_config.json"))?;
    if config.text("peft_type", "LORA") != "LORA" {
        return Err(PretrainedError::Config {
            key: "peft_type",
            seen: config.text("peft_type", "").into(),
            known: "LORA is".into(),
        });
    }
    let rank = config.size("r")?;
    let scale = config.number("lora_alpha", rank as f64)? / rank as f64;
    let mut weights = Weights::read_files(&[folder.join("adapter_model.safetensors")])?;
    for layer in network.layers() {
        let name = format!("base_model.model.{}", layer.name);
        let Kind::Projection(projection, _) = layer.kind else {
            continue;
        };
        if !weights.has(&format!("{name}.lora_A.weight")) {
            continue;
        }
        let [input, output] = projection.base.weight.lazy_shape().dims();
        let mut loader = Loader {
            weights: &mut weights,
            device,
        };
        let part = |part: &str| format!("{name}.{part}");
        let layout = Layout::OutputFirst;
        projection.low_rank = Some(LowRank {
            down: loader.linear(&part("lora_A"), [input, rank], false, layout)?,
            up: loader.linear(&part("lora_B"), [rank, output], false, layout)?,
            scale,
        });
    }
    weights.finish()
}
