//! Dropout inside a private step: one record's masks are nobody else's business.

use crate::common::{Random, device, loss, rows_of, samples};
use crate::mechanism::Images;
use burn::module::{Module, ModuleVisitor, Param};
use burn::tensor::Tensor;
use tacita::layers::{
    PositionWiseFeedForward, PositionWiseFeedForwardConfig, TransformerEncoderConfig,
    TransformerEncoderInput,
};
use tacita::testkit::{
    assert_matches_per_sample_loop, clipped_sums_without_noise, with_dropout_masks,
};
use tacita::{Clipping, Keys, MicroBatch, Plan, PrivateModel, Records, Session, SessionOptions};

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
    assert!(moved <= 1.0 + 0.1 + 1e-3, "{moved}");
}

/// The clipped sum of the images at some indices in a step of some keys, without noise.
fn clipped_sum(
    model: &Dropping,
    images: &Images,
    keys: &Keys,
    step: u64,
    indices: &[usize],
) -> Vec<f64> {
    let clipping = Clipping::abadi(1.0);
    let (indices, rows) = rows_of(indices, RECORDS + 1);
    let sums = clipped_sums_without_noise(model, &clipping, rows, |model| {
        let batch = images.batch(&indices, &device());
        with_dropout_masks(keys, step, &indices, || model.losses(batch))
    });
    sums.gradient.into_iter().flatten().collect()
}

/// Wherever the record is in the batch: everyone else contributes what they did.
#[test]
fn a_record_at_the_front_changes_no_one_elses_contribution() {
    let (model, images) = (Dropping::new(), Images::random(RECORDS + 1, 3));
    let keys = Keys::from_os().unwrap();
    let others: Vec<usize> = (1..=RECORDS).collect();
    let everyone: Vec<usize> = (0..=RECORDS).collect();
    let without = clipped_sum(&model, &images, &keys, 4, &others);
    let with = clipped_sum(&model, &images, &keys, 4, &everyone);
    let moved = distance(&with, &without);
    // Sums of 128 terms round.
    assert!(moved > 0.1 && moved <= 1.0 + 1e-5, "{moved}");
    let alone = clipped_sum(&model, &images, &keys, 4, &[0]);
    let difference: Vec<f64> = with.iter().zip(&without).map(|(a, b)| a - b).collect();
    assert!(distance(&difference, &alone) < 1e-4);
}

#[test]
fn order_and_cut_of_the_batch_do_not_matter_but_steps_and_keys_do() {
    let (model, images) = (Dropping::new(), Images::random(RECORDS, 3));
    let keys = Keys::fixed_seed(1);
    let sum =
        |keys: &Keys, step, indices: &[usize]| clipped_sum(&model, &images, keys, step, indices);
    let indices: Vec<usize> = (0..RECORDS).collect();
    let whole = sum(&keys, 0, &indices);
    let backwards: Vec<usize> = (0..RECORDS).rev().collect();
    assert!(distance(&whole, &sum(&keys, 0, &backwards)) < 1e-4);
    let mut parts = vec![0.0; whole.len()];
    for part in indices.chunks(7) {
        let part = sum(&keys, 0, part);
        (parts.iter_mut().zip(part)).for_each(|(total, value)| *total += value);
    }
    assert!(distance(&whole, &parts) < 1e-4);
    // Other masks turn every gradient; 128 of them do not cancel to a tenth of one.
    assert!(distance(&whole, &sum(&keys, 1, &indices)) > 0.1);
    assert!(distance(&whole, &sum(&Keys::fixed_seed(2), 0, &indices)) > 0.1);
}

/// The session itself, by what it releases: the noise of a fixed seed lies on a grid of at least 1/32
/// of its standard deviation, so values are equal but where rounding tips over.
#[test]
fn micro_batches_of_a_session_have_the_masks_of_the_whole_batch() {
    let (model, images) = (Dropping::new(), Images::random(RECORDS, 3));
    let whole = released(&model, &images, 1000, 2);
    for micro_batch in [1, 50] {
        for (whole, parts) in whole.iter().zip(released(&model, &images, micro_batch, 2)) {
            let tipped = whole.iter().zip(&parts).filter(|(a, b)| a != b).count();
            assert!(tipped * 100 <= whole.len(), "{tipped} of {}", whole.len());
        }
    }
}

/// A sample's masks are the same alone and in the batch, so the loop over samples is an oracle for a
/// network with dropout of attention weights and of both parts of its layers.
#[test]
fn a_transformer_with_dropout_equals_the_per_sample_loop() {
    let model = TransformerEncoderConfig::new(8, 12, 2, 2).init(&device().autodiff());
    assert!(model.dropout > 0.0, "Burn's default");
    let input = Random(5).tensor([6, 5, 8]);
    assert_matches_per_sample_loop(&model, 6, |model, range| {
        // On the device of training, or the first dropout would not see that it is.
        let input = samples(&input, range).autodiff();
        loss(model.forward(TransformerEncoderInput::new(input)))
    });
}
