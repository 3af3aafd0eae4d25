//! A trained model as an ONNX file, which other programs run.
//!
//! The file takes *prepared* input and gives scores and probabilities of the classes; what was done to raw input is in its
//! metadata, as the run folder says it. Parameters are those of `model.safetensors`, number by number.

mod graph;
mod models;
mod protobuf;

#[cfg(test)]
mod tests;

use crate::models::ModelSpec;
use crate::run::{RunFolder, RunRecord};
use anyhow::{Context, Result, ensure};
use graph::Graph;
use safetensors::tensor::SafeTensors;
use std::path::Path;

/// The trained model of a run folder as the bytes of an ONNX file.
pub fn of_run(path: &Path) -> Result<Vec<u8>> {
    let (folder, record) = RunFolder::open(path)?;
    let file = folder.model();
    ensure!(
        file.exists(),
        "{} does not exist: the run has not finished; resume it by: tacita resume {}",
        file.display(),
        path.display()
    );
    let bytes = std::fs::read(&file).with_context(|| format!("cannot read {}", file.display()))?;
    let mut graph =
        of_model(record.model_spec(), &bytes).with_context(|| format!("{}", file.display()))?;
    for (key, value) in metadata(&record)? {
        graph.metadata(key, &value);
    }
    Ok(graph.file())
}

/// The graph of a model with the parameters of a safetensors file.
fn of_model(spec: ModelSpec, parameters: &[u8]) -> Result<Graph> {
    let parameters = SafeTensors::deserialize(parameters)?;
    models::graph(spec, &parameters)
}

fn metadata(record: &RunRecord) -> Result<Vec<(&'static str, String)>> {
    Ok(vec![
        ("tacita_version", record.version.clone()),
        ("tacita_data", record.name.clone()),
        (
            "tacita_classes",
            serde_json::to_string(&record.preparation.classes)?,
        ),
        (
            "tacita_preparation",
            serde_json::to_string(&record.preparation.input)?,
        ),
        ("tacita_run", record.id.clone().unwrap_or_default()),
    ])
}
