//! Passes of one size, as a GPU has them, on whatever device the tests run.

use crate::common::{device, loss};
use crate::mechanism::{Images, Net, SIDE};
use burn::module::{Module, Param};
use burn::nn::PaddingConfig2d;
use burn::tensor::{Int, Tensor};
use std::cell::RefCell;
use tacita::clipping::{Grouping, Online, Quantile, Threshold};
use tacita::gradient::{Contribution, Target};
use tacita::layers::*;
use tacita::tape;
use tacita::testkit::session_with_passes_of_one_size;
use tacita::{
    CheckedPlan, Clipping, CoverageError, Keys, MicroBatch, PassError, Plan, PrivateModel, Session,
    SessionError, SessionOptions,
};

thread_local! {
    static ROWS: RefCell<Vec<usize>> = const { RefCell::new(Vec::new()) };
}

/// Remembers how many rows each pass had.
#[derive(Module, Debug)]
struct Watched {
    net: Net,
}

impl PrivateModel<Tensor<4>> for Watched {
    fn losses(&self, images: Tensor<4>) -> Tensor<1> {
        ROWS.with_borrow_mut(|rows| rows.push(images.dims()[0]));
        self.net.losses(images)
    }
}

const RECORDS: usize = 40;
const STEPS: u64 = 3;

fn plan(clipping: Clipping) -> CheckedPlan {
    Plan::with_noise(20.0, 1e-5)
        .public_record_count(RECORDS as u64)
        .expected_batch(10)
        .steps(STEPS)
        .clipping(clipping)
        .calibrate()
        .unwrap()
}

fn policies() -> [Clipping; 4] {
    // In the middle of the norms.
    let initial = 3.0;
    let online = Online {
        initial,
        ..Online::default()
    };
    let quantile = Quantile {
        initial,
        ..Quantile::new(0.5)
    };
    [
        Clipping::auto(),
        Clipping::abadi(initial).grouping(Grouping::PerLayer),
        Clipping::online().threshold(Threshold::Online(online)),
        Clipping::online().threshold(Threshold::Quantile(quantile)),
    ]
}

/// Every value that a run releases, in bits, and the rows of its passes.
fn released(mut session: Session, model: &Watched, images: &Images) -> (Vec<u32>, Vec<usize>) {
    ROWS.take();
    let mut bits = Vec::new();
    for _ in 0..STEPS {
        let round = session.open_round().unwrap();
        let bounded = round.clip(model, images, &device()).unwrap();
        let noisy = round.release(bounded).unwrap();
        for values in noisy.gradient() {
            let values = values.to_data();
            bits.extend(values.iter::<f32>().map(f32::to_bits));
        }
        // What it learns from counts and directions.
        let thresholds = noisy.thresholds().iter();
        bits.extend(thresholds.map(|threshold| (*threshold as f32).to_bits()));
        let counts = noisy.shares_below_threshold().unwrap_or_default();
        bits.extend(counts.iter().map(|count| (*count as f32).to_bits()));
    }
    (bits, ROWS.take())
}

/// Every kind of sum, records that are not finite among the others, draws that fill one pass and several.
#[test]
fn passes_that_are_filled_up_release_the_same_bits() {
    let mut images = Images::random(RECORDS, 3);
    images.0[7][2] = f32::NAN;
    images.0[20].fill(f32::INFINITY);
    let model = Watched { net: Net::new() };
    for clipping in policies() {
        for most_rows in [1000, 5] {
            let options = SessionOptions {
                micro_batch: MicroBatch::Records(most_rows),
                ..SessionOptions::default()
            };
            let plan = || plan(clipping.clone());
            let keys = || Keys::fixed_seed(4);
            let filled =
                session_with_passes_of_one_size(plan(), keys(), &model, &images, options).unwrap();
            let size = filled.micro_batch();
            let as_drawn = Session::open_in_memory(plan(), keys(), &model, &images, options);
            let (filled, rows) = released(filled, &model, &images);
            let (expected, as_drawn) = released(as_drawn.unwrap(), &model, &images);
            assert!(
                !rows.is_empty() && rows.iter().all(|rows| *rows == size),
                "{rows:?}"
            );
            if !tacita::testkit::passes_have_one_size() {
                assert!(as_drawn.iter().any(|rows| *rows != as_drawn[0]));
                assert!(filled == expected, "{clipping:?} in passes of {size}");
            }
        }
    }
}

/// A scale for each pixel whose gradient is a little longer in the second half of a pass.
#[derive(Module, Debug)]
struct Partial {
    scale: Param<Tensor<1>>,
}

impl PrivateModel<Tensor<4>> for Partial {
    fn losses(&self, images: Tensor<4>) -> Tensor<1> {
        let batch = images.dims()[0];
        let x = images.reshape([batch, SIDE * SIDE]);
        let y = x.clone() * self.scale.val().inner().unsqueeze();
        let (y, probe) = tape::probe(y, None);
        let target = Target::of(&self.scale);
        tape::on_backward(probe, move |output_gradient: Tensor<2>| {
            let places = Tensor::<1, Int>::arange(0..batch as i64, &x.device());
            let late = places.greater_equal_elem(batch as i64 / 2).float();
            let longer = late * 1e-6 + 1.0;
            let gradient = x.inner() * output_gradient * longer.unsqueeze_dim(1);
            vec![Contribution::direct(gradient, [target])]
        });
        y.sin().sum_dim(1).squeeze_dim(1)
    }
}

/// Losses are the same everywhere, so that only a look at the gradients can tell.
#[test]
fn gradients_that_depend_on_the_place_in_a_pass_are_refused() {
    let images = Images::random(RECORDS, 3);
    let ones = Tensor::ones([SIDE * SIDE], &device().autodiff());
    let model = Partial {
        scale: Param::from_tensor(ones),
    };
    let opened = session_with_passes_of_one_size(
        plan(Clipping::auto()),
        Keys::fixed_seed(1),
        &model,
        &images,
        SessionOptions::default(),
    );
    let Err(SessionError::Pass(PassError::Coverage(CoverageError::DependsOnPlace { what }))) =
        opened
    else {
        panic!("a gradient depends on its place");
    };
    assert_eq!(what, "norm");
}

/// Layers of every kind: images through convolutions, and their pixels, as tokens, through a transformer and an
/// LSTM.
#[derive(Module, Debug)]
struct Everything {
    convolutions: Vec<Conv2d>,
    norm: GroupNorm,
    embedding: Embedding,
    encoder: TransformerEncoder,
    lstm: Lstm,
    linear: Vec<Linear>,
}

const WIDTH: usize = 64;
const TOKENS: usize = 8;

impl Everything {
    fn new() -> Self {
        let ad = device().autodiff();
        let convolution = |channels| {
            Conv2dConfig::new([channels, WIDTH], [3, 3])
                .with_padding(PaddingConfig2d::Same)
                .init(&ad)
        };
        Self {
            convolutions: vec![convolution(1), convolution(WIDTH)],
            norm: GroupNormConfig::new(8, WIDTH).init(&ad),
            embedding: EmbeddingConfig::new(TOKENS, WIDTH).init(&ad),
            encoder: TransformerEncoderConfig::new(WIDTH, 2 * WIDTH, 4, 1).init(&ad),
            lstm: LstmConfig::new(WIDTH, WIDTH, true).init(&ad),
            linear: vec![
                LinearConfig::new(2 * WIDTH, 100).init(&ad),
                LinearConfig::new(100, 3).init(&ad),
            ],
        }
    }
}

impl PrivateModel<Tensor<4>> for Everything {
    fn losses(&self, images: Tensor<4>) -> Tensor<1> {
        let batch = images.dims()[0];
        let pixels = images.clone().reshape([batch, SIDE * SIDE]);
        let tokens = (pixels.abs() * 2.0).int().clamp(0, TOKENS as i64 - 1);
        let read = TransformerEncoderInput::new(self.embedding.forward(tokens));
        let (read, _) = self.lstm.forward(self.encoder.forward(read), None);
        let seen = tacita::ops::relu(self.convolutions[0].forward(images));
        let seen = self.convolutions[1].forward(self.norm.forward(seen));
        let mean = |values: Tensor<3>, over: usize| values.mean_dim(over).reshape([batch, WIDTH]);
        let seen = mean(seen.reshape([batch, WIDTH, SIDE * SIDE]), 2);
        let both = Tensor::cat(vec![seen, mean(read, 1)], 1);
        let hidden = self.linear[0].forward(both).tanh();
        loss(self.linear[1].forward(hidden))
    }
}

/// In passes of 288 records, which on a GPU fill several tiles of a product and not a whole number of them.
#[test]
fn every_kind_of_layer_has_the_same_bits_at_every_place() {
    let plan = Plan::with_noise(20.0, 1e-5)
        .public_record_count(1_000_000_000)
        .expected_batch(256)
        .steps(2)
        .clipping(Clipping::abadi(1.0).grouping(Grouping::PerLayer))
        .calibrate()
        .unwrap();
    let session = session_with_passes_of_one_size(
        plan,
        Keys::fixed_seed(1),
        &Everything::new(),
        &Images(Vec::new()),
        SessionOptions::default(),
    );
    assert_eq!(session.unwrap().micro_batch(), 288);
}
