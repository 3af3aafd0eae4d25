//! Scores of a model on held-out records.

use crate::models::Scored;
use burn::tensor::Device;
use tacita::{Records, UnreadableRecords};
use tacita_datasets::chunks;

/// Records of one evaluation batch.
const CHUNK: usize = 500;

/// The score of each record.
pub fn evaluate<R: Records, M: Scored<R::Batch>>(
    model: &M,
    records: &R,
    device: &Device,
) -> Result<Vec<f64>, UnreadableRecords> {
    let mut scores = Vec::new();
    for batch in chunks(records, CHUNK, device) {
        scores.extend(model.scores(batch?));
    }
    Ok(scores)
}

/// The mean of scores.
pub fn mean(scores: &[f64]) -> f64 {
    scores.iter().sum::<f64>() / scores.len().max(1) as f64
}
