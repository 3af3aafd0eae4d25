//! Passes of one size, as a GPU has them, on whatever device the tests run.

use crate::common::device;
use crate::mechanism::{Images, Net, SIDE};
use burn::module::{Module, Param};
use burn::tensor::{Int, Tensor};
use std::cell::RefCell;
use tacita::clipping::{Grouping, Online, Quantile, Threshold};
use tacita::gradient::{Contribution, Target};
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
