//! What is used where nothing is set.

use super::Settings;
use tacita::Clipping;
use tacita::optim::OptimizerRule;
use tacita_datasets::{Builtin, Shape};

impl Settings {
    /// Fills in what is not set. Nothing here depends on the data, only on its kind and public size.
    pub(in crate::run) fn fill(&mut self, shape: Shape, records: u64) {
        let digits = self.data == Some(Builtin::Digits);
        if self.noise.is_none() && self.epsilon.is_none() {
            self.epsilon = Some(if digits { 8.0 } else { 3.0 });
        }
        if self.steps.is_none() && self.epochs.is_none() {
            self.epochs = Some(20.0);
        }
        // Large batches average the noise away; a quarter of a small set is the most.
        let batch = 512.min(records / 4).max(1);
        self.batch.get_or_insert(if digits { 512 } else { batch });
        self.delta.get_or_insert_with(|| delta(records));
        self.clipping.get_or_insert_with(Clipping::auto);
        let text = matches!(shape, Shape::Tokens { length, .. } if length > 32);
        let optimizer = *self.optimizer.get_or_insert(match text {
            true => OptimizerRule::adam(),
            false => OptimizerRule::heavy_ball(0.9),
        });
        // The rate that automatic clipping was published with (Bu et al. 2023, G.1), and Adam's for texts.
        self.learning_rate
            .get_or_insert(if optimizer.is_adaptive() { 0.01 } else { 0.5 });
        self.rate_schedule.get_or_insert_default();
    }
}

/// A tenth of 1 / records, rounded down to two digits: well below the probability at which one
/// record in the set would be expected to be exposed.
fn delta(records: u64) -> f64 {
    let tenth = 0.1 / records.max(1) as f64;
    let scale = 10f64.powi(1 - tenth.log10().floor() as i32);
    (tenth * scale).floor() / scale
}
