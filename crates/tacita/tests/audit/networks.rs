//! Networks in which every record has units of its own, in every layer.
//!
//! A wide layer has a few units for each canary, and all but the canary's own are multiplied by 0. A narrow
//! layer that all of them share has no bias. So the gradient of a wide layer lies in the columns of the
//! canary's units, and that of a narrow one in their rows.

use crate::canaries::{Batch, INPUTS, Owned, filled, loss};
use burn::module::{Module, Param};
use burn::tensor::activation::relu;
use burn::tensor::{Tensor, TensorData};
use tacita::PrivateModel;
use tacita::layers::{
    Conv2d, Conv2dConfig, Dropout, DropoutConfig, Embedding, EmbeddingConfig, GateController,
    Linear, LinearConfig, Lstm, LstmConfig,
};
use tacita::testkit::device;

/// Units of a canary in a wide layer.
const UNITS: usize = 4;
/// Values that a narrow layer gives.
const NARROW: usize = 3;

/// The mask of a wide layer.
fn units(own: Tensor<2>) -> Tensor<2> {
    let [batch, canaries] = own.dims();
    own.reshape([batch, canaries, 1])
        .expand([batch, canaries, UNITS])
        .reshape([batch, canaries * UNITS])
}

fn wide(inputs: usize, canaries: usize) -> Linear {
    LinearConfig::new(inputs, canaries * UNITS).init(&device().autodiff())
}

fn narrow(canaries: usize) -> Linear {
    let config = LinearConfig::new(canaries * UNITS, NARROW).with_bias(false);
    config.init(&device().autodiff())
}

/// Four layers with rectifiers, and dropout.
#[derive(Module, Debug)]
pub struct Deep {
    first: Linear,
    second: Linear,
    third: Linear,
    fourth: Linear,
    dropout: Dropout,
}

impl Deep {
    pub fn new(canaries: usize, dropout: f64) -> Self {
        let model = Self {
            first: wide(INPUTS, canaries),
            second: narrow(canaries),
            third: wide(NARROW, canaries),
            fourth: narrow(canaries),
            dropout: DropoutConfig::new(dropout).init(),
        };
        filled(model, 0.4)
    }
}

impl PrivateModel<Batch> for Deep {
    fn losses(&self, batch: Batch) -> Tensor<1> {
        let own = units(batch.own);
        let hidden = relu(self.first.forward(batch.inputs)) * own.clone();
        let hidden = self.second.forward(self.dropout.forward(hidden)).tanh();
        let hidden = relu(self.third.forward(hidden)) * own;
        let outputs = self.fourth.forward(self.dropout.forward(hidden));
        loss(outputs, batch.strength)
    }
}

impl Owned for Deep {
    fn axes(&self) -> Vec<(usize, usize)> {
        [1, 0, 0, 1, 0, 0].map(|axis| (axis, UNITS)).to_vec()
    }
}

/// Two convolutions: a channel for each canary.
#[derive(Module, Debug)]
pub struct Convolutions {
    first: Conv2d,
    second: Conv2d,
}

impl Convolutions {
    pub fn new(canaries: usize) -> Self {
        let (first, second) = (
            Conv2dConfig::new([1, canaries], [3, 3]),
            Conv2dConfig::new([canaries, NARROW], [2, 2]).with_bias(false),
        );
        let device = device().autodiff();
        let model = Self {
            first: first.init(&device),
            second: second.init(&device),
        };
        filled(model, 0.4)
    }
}

impl PrivateModel<Batch> for Convolutions {
    fn losses(&self, batch: Batch) -> Tensor<1> {
        let [count, canaries] = batch.own.dims();
        let own = batch.own.reshape([count, canaries, 1, 1]);
        let images = batch.inputs.reshape([count, 1, 4, 4]);
        let hidden = relu(self.first.forward(images)) * own;
        let outputs = self.second.forward(hidden).reshape([count, NARROW]);
        loss(outputs, batch.strength)
    }
}

impl Owned for Convolutions {
    fn axes(&self) -> Vec<(usize, usize)> {
        vec![(0, 1), (0, 1), (1, 1)]
    }
}

/// Long short-term memory: a hidden unit for each canary, which passes its state on to itself alone.
#[derive(Module, Debug)]
pub struct Recurrent {
    lstm: Lstm,
}

impl Recurrent {
    pub fn new(canaries: usize) -> Self {
        let lstm = LstmConfig::new(4, canaries, true).init(&device().autodiff());
        let mut model = filled(Self { lstm }, 0.4);
        let diagonal = |gate: &mut GateController| {
            let entry = |index| f32::from(u8::from(index % (canaries + 1) == 0)) * 0.5;
            let values: Vec<f32> = (0..canaries * canaries).map(entry).collect();
            let values = TensorData::new(values, [canaries, canaries]);
            let values = Tensor::<2>::from_data(values, &device());
            let values = Tensor::from_inner(values).require_grad();
            gate.hidden_transform.weight = Param::from_tensor(values);
        };
        let lstm = &mut model.lstm;
        diagonal(&mut lstm.input_gate);
        lstm.forget_gate.iter_mut().for_each(diagonal);
        diagonal(&mut lstm.output_gate);
        diagonal(&mut lstm.cell_gate);
        model
    }
}

impl PrivateModel<Batch> for Recurrent {
    fn losses(&self, batch: Batch) -> Tensor<1> {
        let count = batch.own.dims()[0];
        let (_, state) = self.lstm.forward(batch.inputs.reshape([count, 4, 4]), None);
        loss_of_own(state.hidden, batch.own, batch.strength)
    }
}

/// The value at the canary's own place.
fn loss_of_own(values: Tensor<2>, own: Tensor<2>, strength: Tensor<1>) -> Tensor<1> {
    let batch = own.dims()[0];
    (values * own).sum_dim(1).reshape([batch]) * strength
}

impl Owned for Recurrent {
    /// Columns of both weights of a gate, and their biases.
    fn axes(&self) -> Vec<(usize, usize)> {
        [(1, 1), (0, 1)].repeat(8)
    }
}

/// A table used twice, to look up and to score, with two layers between.
#[derive(Module, Debug)]
pub struct Words {
    table: Embedding,
    wide: Linear,
    narrow: Linear,
}

impl Words {
    pub fn new(canaries: usize) -> Self {
        let device = device().autodiff();
        let model = Self {
            table: EmbeddingConfig::new(canaries, NARROW).init(&device),
            wide: wide(2 * NARROW, canaries),
            narrow: narrow(canaries),
        };
        filled(model, 0.4)
    }
}

impl PrivateModel<Batch> for Words {
    fn losses(&self, batch: Batch) -> Tensor<1> {
        let count = batch.own.dims()[0];
        // The same token twice, so that its row gets two gradients.
        let tokens = Tensor::cat(vec![batch.number.clone(), batch.number], 1);
        let vectors = self.table.forward(tokens).reshape([count, 2 * NARROW]);
        let hidden = relu(self.wide.forward(vectors)) * units(batch.own.clone());
        let hidden = self.narrow.forward(hidden).reshape([count, 1, NARROW]);
        let scores = self.table.tied_output(hidden).squeeze_dim(1);
        loss_of_own(scores, batch.own, batch.strength)
    }
}

impl Owned for Words {
    fn axes(&self) -> Vec<(usize, usize)> {
        vec![(0, 1), (1, UNITS), (0, UNITS), (0, UNITS)]
    }
}

/// A table alone: the smallest model, for runs of many steps.
#[derive(Module, Debug)]
pub struct Table {
    table: Embedding,
}

impl Table {
    pub fn new(canaries: usize) -> Self {
        let table = EmbeddingConfig::new(canaries, NARROW).init(&device().autodiff());
        filled(Self { table }, 0.4)
    }
}

impl PrivateModel<Batch> for Table {
    fn losses(&self, batch: Batch) -> Tensor<1> {
        let count = batch.own.dims()[0];
        let outputs = self.table.forward(batch.number).reshape([count, NARROW]);
        loss(outputs, batch.strength)
    }
}

impl Owned for Table {
    fn axes(&self) -> Vec<(usize, usize)> {
        vec![(0, 1)]
    }
}
