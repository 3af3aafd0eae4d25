//! Dropout inside a private step: one record's masks are nobody else's business.

use crate::common::{device, loss};
use crate::mechanism::Images;
use burn::module::{Module, ModuleVisitor, Param};
use burn::tensor::Tensor;
use tacita::layers::{PositionWiseFeedForward, PositionWiseFeedForwardConfig};
use tacita::{Clipping, Keys, MicroBatch, Plan, PrivateModel, Session, SessionOptions};

/// Two blocks with dropout 0.5: the masks of the second are drawn after those of the first.
#[derive(Module, Debug)]
struct Dropping {
    blocks: Vec<PositionWiseFeedForward>,
}

impl Dropping {
    fn new() -> Self {
        let block = PositionWiseFeedForwardConfig::new(16, 16).with_dropout(0.5);
        Self {
            blocks: (0..2).map(|_| block.init(&device().autodiff())).collect(),
        }
    }
}

impl PrivateModel<Tensor<4>> for Dropping {
    fn losses(&self, images: Tensor<4>) -> Tensor<1> {
        let batch = images.dims()[0];
        let hidden = images.reshape([batch, 16]);
        loss(
            self.blocks
                .iter()
                .fold(hidden, |hidden, block| block.forward(hidden)),
        )
    }
}

/// Small, so that what is released is the clipped sum but for the fixed noise, which cancels.
const NOISE: f64 = 0.1;
const RECORDS: usize = 128;

/// The gradients that `steps` rounds over all records release, as sums, with the noise of a fixed seed.
fn released(model: &Dropping, images: &Images, micro_batch: usize, steps: u64) -> Vec<Vec<f64>> {
    let plan = Plan::with_noise(NOISE, 1e-5)
        .public_record_count(RECORDS as u64)
        .expected_batch(RECORDS as u64)
        .steps(steps)
        .clipping(Clipping::abadi(1.0))
        .calibrate()
        .unwrap();
    let options = SessionOptions {
        micro_batch: MicroBatch::Records(micro_batch),
        ..SessionOptions::default()
    };
    let mut session =
        Session::open_in_memory(plan, Keys::fixed_seed(5), model, images, options).unwrap();
    (0..steps)
        .map(|_| {
            let round = session.open_round().unwrap();
            let bounded = round.clip(model, images, &device()).unwrap();
            let noisy = round.release(bounded).unwrap().gradients(model);
            let mut flat = Flatten(noisy, Vec::new());
            model.visit(&mut flat);
            flat.1
        })
        .collect()
}

struct Flatten(burn::optim::GradientsParams, Vec<f64>);

impl ModuleVisitor for Flatten {
    fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
        let gradient = self.0.get::<D>(param.id).unwrap();
        let sums = gradient
            .into_data()
            .iter::<f64>()
            .map(|value| value * RECORDS as f64)
            .collect::<Vec<_>>();
        self.1.extend(sums);
    }
}

fn distance(a: &[f64], b: &[f64]) -> f64 {
    a.iter()
        .zip(b)
        .map(|(a, b)| (a - b).powi(2))
        .sum::<f64>()
        .sqrt()
}

/// The noise is the same on both sides, so the sums differ by one record and the grid of the noise:
/// at most 1/32 of its standard deviation for each of 1,088 values, 0.1 in all.
#[test]
fn adding_a_record_moves_the_sum_at_most_the_bound_with_dropout() {
    let model = Dropping::new();
    let mut images = Images::random(RECORDS, 3);
    let without = released(&model, &images, 1000, 1);
    images.0.extend(Images::random(1, 4).0);
    let with = released(&model, &images, 1000, 1);
    let moved = distance(&with[0], &without[0]);
    eprintln!("MOVED {moved}");
    assert!(moved <= 1.0 + 0.1 + 1e-3, "{moved}");
}
