//! Scores of a model on held-out records.

use crate::models::Scored;
use burn::tensor::Device;
use tacita::Records;
use tacita_datasets::chunks;

/// Records of one evaluation batch.
const CHUNK: usize = 500;

/// The score of each record.
pub fn evaluate<R: Records, M: Scored<R::Batch>>(
    model: &M,
    records: &R,
    device: &Device,
) -> Vec<f64> {
    chunks(records, CHUNK, device)
        .flat_map(|batch| model.scores(batch))
        .collect()
}

/// The mean of scores.
pub fn mean(scores: &[f64]) -> f64 {
    scores.iter().sum::<f64>() / scores.len().max(1) as f64
}
