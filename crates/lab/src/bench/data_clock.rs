//! How long steps wait for their data.

use burn::tensor::Device;
use std::cell::Cell;
use std::time::{Duration, Instant};
use tacita::Records;

/// Time steps spent before they had their records in a tensor.
#[derive(Debug, Default)]
pub struct DataClock {
    /// When the step began, until it asks for its first records.
    begun: Cell<Option<Instant>>,
    drawing: Cell<Duration>,
    batching: Cell<Duration>,
}

/// Records that note how long they take to become a batch.
#[derive(Debug)]
pub struct Timed<'a, R> {
    /// The records.
    pub records: &'a R,
    /// Where the time is noted.
    pub clock: &'a DataClock,
}

impl DataClock {
    /// A step begins.
    pub fn begin_step(&self) {
        self.begun.set(Some(Instant::now()));
    }

    /// Seconds from the beginning of a step until it asked for records, over all steps: the draw,
    /// and checks that the engine makes beside it. A step that drew no record is left out.
    pub fn drawing(&self) -> f64 {
        self.drawing.get().as_secs_f64()
    }

    /// Seconds in which records were gathered and made into tensors, over all steps.
    pub fn batching(&self) -> f64 {
        self.batching.get().as_secs_f64()
    }
}

impl<R: Records> Records for Timed<'_, R> {
    type Batch = R::Batch;

    fn count(&self) -> usize {
        self.records.count()
    }

    fn batch(&self, indices: &[usize], device: &Device) -> R::Batch {
        let asked = Instant::now();
        if let Some(begun) = self.clock.begun.take() {
            let drawing = &self.clock.drawing;
            drawing.set(drawing.get() + (asked - begun));
        }
        let batch = self.records.batch(indices, device);
        let batching = &self.clock.batching;
        batching.set(batching.get() + asked.elapsed());
        batch
    }

    fn synthetic(&self, seeds: &[u64], device: &Device) -> R::Batch {
        self.records.synthetic(seeds, device)
    }
}
