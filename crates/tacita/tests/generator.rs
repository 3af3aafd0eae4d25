//! A private run neither seeds Burn's generator nor draws from it. A process of its own: the generator
//! is shared by all threads.
#![allow(clippy::unwrap_used, missing_docs)]

use burn::module::{Module, ModuleVisitor, Param};
use burn::tensor::{Device, Distribution, Tensor, TensorData};
use tacita::layers::{PositionWiseFeedForward, PositionWiseFeedForwardConfig};
use tacita::optim::OptimizerRule;
use tacita::testkit::device;
use tacita::{Keys, Plan, PrivateModel, Records, Trainer};

/// Rows of four numbers.
struct Rows;

impl Records for Rows {
    type Batch = Tensor<2>;

    fn count(&self) -> usize {
        20
    }

    fn batch(&self, indices: &[usize], device: &Device) -> Tensor<2> {
        let seeds: Vec<u64> = indices.iter().map(|index| *index as u64).collect();
        self.synthetic(&seeds, device)
    }

    fn synthetic(&self, seeds: &[u64], device: &Device) -> Tensor<2> {
        let rows = seeds
            .iter()
            .flat_map(|seed| [1.0, 2.0, 3.0, 4.0].map(|v| (*seed as f32 + v).sin()));
        let data = TensorData::new(rows.collect::<Vec<f32>>(), [seeds.len(), 4]);
        Tensor::from_data(data, device)
    }
}

#[derive(Module, Debug)]
struct Model {
    part: PositionWiseFeedForward,
}

impl PrivateModel<Tensor<2>> for Model {
    fn losses(&self, rows: Tensor<2>) -> Tensor<1> {
        self.part.forward(rows).square().sum_dim(1).squeeze_dim(1)
    }
}

struct Weights(Vec<f32>);

impl ModuleVisitor for Weights {
    fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
        self.0.extend(param.val().into_data().iter::<f32>());
    }
}

fn weights(model: &Model) -> Vec<f32> {
    let mut weights = Weights(Vec::new());
    model.visit(&mut weights);
    weights.0
}

/// The initial weights of a whole run, with dropout 0.5.
fn run(keys: Keys) -> Vec<f32> {
    let config = PositionWiseFeedForwardConfig::new(4, 8).with_dropout(0.5);
    let part = keys.is_private().then(|| config.init(&device().autodiff()));
    let part = part.unwrap_or_else(|| keys.initial_weights(|| config.init(&device().autodiff())));
    let model = Model { part };
    let initial = weights(&model);
    let plan = Plan::with_noise(4.0, 1e-5)
        .public_record_count(20)
        .expected_batch(10)
        .steps(3)
        .calibrate()
        .unwrap();
    let trainer = Trainer::new(plan, OptimizerRule::heavy_ball(0.9), 0.1).keys(keys);
    trainer.fit(model, &Rows, &device()).unwrap();
    initial
}

fn drawn() -> Vec<f32> {
    let drawn = Tensor::<1>::random([8], Distribution::Default, &device());
    drawn.into_data().iter::<f32>().collect()
}

#[test]
fn a_private_run_leaves_burns_generator_alone_and_shares_no_initial_weights() {
    device().seed(3);
    let expected = drawn();
    device().seed(3);
    let private: Vec<_> = (0..3).map(|_| run(Keys::from_os().unwrap())).collect();
    assert_eq!(drawn(), expected);
    // 76 numbers: equal ones would be no accident.
    for (index, weights) in private.iter().enumerate() {
        assert!(private[..index].iter().all(|others| others != weights));
    }
    assert_eq!(run(Keys::fixed_seed(1)), run(Keys::fixed_seed(1)));
    assert_ne!(run(Keys::fixed_seed(1)), run(Keys::fixed_seed(2)));
}
