//! A model whose gradients would escape clipping is refused, by the name of the parameter.

use crate::common::{device, loss};
use crate::mechanism::Images;
use burn::module::Module;
use burn::nn;
use burn::tensor::Tensor;
use tacita::layers::{Dropout, DropoutConfig, Linear, LinearConfig};
use tacita::{Budget, Keys, Plan, PrivateModel, Session, SessionOptions};

/// What is said when a session for the model is opened; empty if it opens.
fn refusal<M: PrivateModel<Tensor<4>>>(model: M) -> String {
    let plan = Plan::new(Budget::new(8.0, 1e-5))
        .public_record_count(100)
        .expected_batch(10)
        .steps(3)
        .calibrate()
        .unwrap();
    let images = Images::random(3, 1);
    let options = SessionOptions::default();
    match Session::open_in_memory(plan, Keys::fixed_seed(1), &model, &images, options) {
        Ok(_) => String::new(),
        Err(error) => error.to_string(),
    }
}

/// A model with one extra part.
#[derive(Module, Debug)]
struct With<P: Module> {
    body: Linear,
    part: P,
}

impl<P: Module> With<P> {
    fn new(part: P) -> Self {
        Self {
            body: LinearConfig::new(16, 16).init(&device().autodiff()),
            part,
        }
    }

    fn body(&self, images: Tensor<4>) -> Tensor<2> {
        let batch = images.dims()[0];
        self.body.forward(images.reshape([batch, 16]))
    }
}

impl PrivateModel<Tensor<4>> for With<Linear> {
    fn losses(&self, images: Tensor<4>) -> Tensor<1> {
        loss(self.part.forward(self.body(images)))
    }
}

impl PrivateModel<Tensor<4>> for With<nn::Linear> {
    fn losses(&self, images: Tensor<4>) -> Tensor<1> {
        loss(self.part.forward(self.body(images)))
    }
}

/// Never uses its part.
impl PrivateModel<Tensor<4>> for With<(Linear, Linear)> {
    fn losses(&self, images: Tensor<4>) -> Tensor<1> {
        loss(self.part.0.forward(self.body(images)))
    }
}

impl PrivateModel<Tensor<4>> for With<nn::BatchNorm> {
    fn losses(&self, images: Tensor<4>) -> Tensor<1> {
        loss(self.part.forward(self.body(images)))
    }
}

/// Uses a private layer's weight behind the tape's back.
#[derive(Module, Debug)]
struct Behind {
    body: Linear,
}

impl PrivateModel<Tensor<4>> for Behind {
    fn losses(&self, images: Tensor<4>) -> Tensor<1> {
        let batch = images.dims()[0];
        let hidden = self.body.forward(images.reshape([batch, 16]));
        loss(hidden.matmul(self.body.weight.val().transpose()))
    }
}

/// Subtracts the mean of the batch.
#[derive(Module, Debug)]
struct Mixing {
    body: Linear,
}

impl PrivateModel<Tensor<4>> for Mixing {
    fn losses(&self, images: Tensor<4>) -> Tensor<1> {
        let batch = images.dims()[0];
        let hidden = self.body.forward(images.reshape([batch, 16]));
        loss(hidden.clone() - hidden.mean_dim(0))
    }
}

/// Folds positions into the batch dimension.
#[derive(Module, Debug)]
struct Folded {
    body: Linear,
}

impl PrivateModel<Tensor<4>> for Folded {
    fn losses(&self, images: Tensor<4>) -> Tensor<1> {
        let batch = images.dims()[0];
        let rows = self.body.forward(images.reshape([batch * 4, 4]));
        loss(rows.reshape([batch, 16]))
    }
}

impl PrivateModel<Tensor<4>> for With<nn::Dropout> {
    fn losses(&self, images: Tensor<4>) -> Tensor<1> {
        loss(self.part.forward(self.body(images)))
    }
}

impl PrivateModel<Tensor<4>> for With<Dropout> {
    fn losses(&self, images: Tensor<4>) -> Tensor<1> {
        loss(self.part.forward(self.body(images)))
    }
}

/// Drops values of positions that are folded into the batch dimension.
#[derive(Module, Debug)]
struct FoldedDropout {
    body: Linear,
    dropout: Dropout,
}

impl PrivateModel<Tensor<4>> for FoldedDropout {
    fn losses(&self, images: Tensor<4>) -> Tensor<1> {
        let batch = images.dims()[0];
        let hidden = self.body.forward(images.reshape([batch, 16]));
        let dropped = self.dropout.forward(hidden.reshape([batch * 4, 4]));
        loss(dropped.reshape([batch, 16]))
    }
}

/// Weighs a sample by its place in the batch, or by the size of the batch.
#[derive(Module, Debug)]
struct ByPlace {
    body: Linear,
    #[module(skip)]
    by_size: bool,
}

impl PrivateModel<Tensor<4>> for ByPlace {
    fn losses(&self, images: Tensor<4>) -> Tensor<1> {
        let batch = images.dims()[0];
        let losses = loss(self.body.forward(images.reshape([batch, 16])));
        if self.by_size {
            return losses / batch as f64;
        }
        let places = (0..batch)
            .map(|place| 1.0 + place as f32)
            .collect::<Vec<_>>();
        let device = losses.device();
        losses * Tensor::<1>::from_floats(places.as_slice(), &device)
    }
}

fn linear() -> Linear {
    LinearConfig::new(16, 16).init(&device().autodiff())
}

#[track_caller]
fn assert_says(said: &str, parts: &[&str]) {
    for part in parts {
        assert!(said.contains(part), "`{part}` is not in `{said}`");
    }
}

#[test]
fn a_covered_model_is_accepted() {
    assert_eq!(refusal(With::new(linear())), "");
}

#[test]
fn a_stock_layer_is_refused_by_name() {
    let stock = nn::LinearConfig::new(16, 16).init(&device().autodiff());
    assert_says(
        &refusal(With::new(stock)),
        &["part.weight", "Linear", "tacita::layers"],
    );
}

#[test]
fn a_frozen_stock_layer_is_accepted() {
    let stock = nn::LinearConfig::new(16, 16)
        .init(&device().autodiff())
        .no_grad();
    assert_eq!(refusal(With::new(stock)), "");
}

#[test]
fn batch_norm_is_refused_with_the_remedy() {
    let stock = nn::BatchNormConfig::new(16).init(&device().autodiff());
    assert_says(
        &refusal(With::new(stock)),
        &["part.gamma", "BatchNorm", "GroupNorm"],
    );
}

#[test]
fn an_unused_parameter_is_refused_by_name() {
    assert_says(
        &refusal(With::new((linear(), linear()))),
        &["part.1.weight", "never used"],
    );
}

#[test]
fn a_weight_used_behind_the_tape_is_refused() {
    assert_says(
        &refusal(Behind { body: linear() }),
        &["body.weight", "not be clipped"],
    );
}

#[test]
fn a_layer_that_mixes_samples_is_refused() {
    assert_says(&refusal(Mixing { body: linear() }), &["mixes samples"]);
}

#[test]
fn positions_folded_into_the_batch_are_refused() {
    let body = LinearConfig::new(4, 4).init(&device().autodiff());
    assert_says(&refusal(Folded { body }), &["16 rows", "4 samples"]);
}

#[test]
fn a_cloned_layer_is_refused() {
    let layer = linear();
    let model = With {
        part: layer.clone(),
        body: layer,
    };
    assert_says(&refusal(model), &["body.weight", "part.weight", "copies"]);
}

#[test]
fn a_model_with_nothing_to_train_is_refused() {
    assert_says(
        &refusal(Behind {
            body: linear().no_grad(),
        }),
        &["no trainable parameter"],
    );
}

#[test]
fn burns_dropout_is_refused_and_ours_is_accepted() {
    for rate in [0.1, 0.5, 0.9] {
        let stock = nn::DropoutConfig::new(rate).init();
        assert_says(
            &refusal(With::new(stock.clone())),
            &["burn::nn::Dropout", "tacita::layers::Dropout"],
        );
        assert_eq!(refusal(With::new(stock.freeze())), "");
        assert_eq!(refusal(With::new(DropoutConfig::new(rate).init())), "");
    }
}

#[test]
fn dropout_of_rows_that_are_not_samples_is_refused() {
    let (body, dropout) = (linear(), DropoutConfig::new(0.5).init());
    assert_says(
        &refusal(FoldedDropout { body, dropout }),
        &["dropout", "16 rows", "4 samples"],
    );
}

#[test]
fn a_loss_by_position_or_batch_size_is_refused() {
    for by_size in [false, true] {
        let body = linear();
        assert_says(
            &refusal(ByPlace { body, by_size }),
            &["position in the batch", "size"],
        );
    }
}
