//! Deterministic random tensors.

use burn::tensor::{Device, Int, Tensor, TensorData};

use tacita::testkit::PassRows;
pub use tacita::testkit::device;

/// How far the operands of a matrix product may be rounded where the tests run.
pub fn rough() -> f64 {
    tacita::testkit::rounding_of_operands(&device())
}

/// SplitMix64: the values depend on the seed only, whatever runs beside.
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub fn uniform(&mut self) -> f32 {
        (self.next() >> 40) as f32 / (1u64 << 24) as f32
    }

    pub fn tensor<const D: usize>(&mut self, shape: [usize; D]) -> Tensor<D> {
        let count = shape.iter().product();
        let values: Vec<f32> = (0..count).map(|_| 2.0 * self.uniform() - 1.0).collect();
        Tensor::from_data(TensorData::new(values, shape), &device())
    }

    pub fn tokens<const D: usize>(&mut self, shape: [usize; D], below: u64) -> Tensor<D, Int> {
        let count = shape.iter().product();
        let values: Vec<i64> = (0..count).map(|_| (self.next() % below) as i64).collect();
        Tensor::from_data(TensorData::new(values, shape), &device())
    }
}

/// A loss per sample that gives every output its own gradient.
pub fn loss<const D: usize>(output: Tensor<D>) -> Tensor<1> {
    let batch = output.dims()[0];
    let elements = output.dims()[1..].iter().product::<usize>();
    let output = output.reshape([batch, elements]);
    let weights = Random(elements as u64).tensor([1, elements]);
    ((output.clone() * weights.clone()).sin() + output * weights)
        .sum_dim(1)
        .reshape([batch])
}

/// The rows of a batch with these records: where passes have one size, filled up to `size` by the first.
pub fn rows_of<T: Clone>(records: &[T], size: usize) -> (Vec<T>, PassRows) {
    let mut rows = records.to_vec();
    if tacita::testkit::passes_have_one_size() && !rows.is_empty() {
        rows.resize(size, rows[0].clone());
    }
    let (all, counted) = (rows.len(), records.len());
    (rows, PassRows { all, counted })
}

/// Samples of a batch.
pub fn samples<const D: usize>(batch: &Tensor<D>, range: std::ops::Range<usize>) -> Tensor<D> {
    batch.clone().narrow(0, range.start, range.len())
}

/// Rows of N inputs with two more numbers for the loss.
#[derive(Clone)]
pub struct Rows<const N: usize>(pub Vec<([f32; N], [f32; 2])>);

/// Inputs `[batch, N]` and `[batch, 2]` for the loss.
pub type RowBatch = (Tensor<2>, Tensor<2>);

impl<const N: usize> tacita::Records for Rows<N> {
    type Batch = RowBatch;

    fn count(&self) -> usize {
        self.0.len()
    }

    fn batch(&self, indices: &[usize], device: &Device) -> RowBatch {
        let inputs: Vec<f32> = indices.iter().flat_map(|i| self.0[*i].0).collect();
        let others: Vec<f32> = indices.iter().flat_map(|i| self.0[*i].1).collect();
        let count = indices.len();
        (
            Tensor::from_data(TensorData::new(inputs, [count, N]), device),
            Tensor::from_data(TensorData::new(others, [count, 2]), device),
        )
    }

    fn synthetic(&self, seeds: &[u64], device: &Device) -> RowBatch {
        let rows = seeds.iter().map(|seed| {
            let mut random = Random(*seed);
            (
                std::array::from_fn(|_| random.uniform()),
                [random.uniform(), 1.0],
            )
        });
        let indices: Vec<usize> = (0..seeds.len()).collect();
        Rows::<N>(rows.collect()).batch(&indices, device)
    }
}

/// The linear map w·x without a bias.
#[derive(burn::module::Module, Debug)]
pub struct Weights {
    pub linear: tacita::layers::Linear,
    #[module(skip)]
    loss: Loss,
}

/// The loss of a row (x; a, b) at output o = w·x.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Loss {
    /// o: the gradient is x wherever w is.
    Output,
    /// ½(o − a)².
    Square,
    /// ln(1 + exp(−b(o + a))).
    Logistic,
}

impl Weights {
    pub fn new(values: &[f32], loss: Loss) -> Self {
        let (ad, inputs) = (device().autodiff(), values.len());
        let config = tacita::layers::LinearConfig::new(inputs, 1).with_bias(false);
        let mut linear = config.init(&ad);
        let weight = Tensor::<2>::from_data(TensorData::new(values.to_vec(), [inputs, 1]), &ad);
        linear.weight = burn::module::Param::from_tensor(weight);
        Self { linear, loss }
    }
}

impl tacita::PrivateModel<RowBatch> for Weights {
    fn losses(&self, (inputs, others): RowBatch) -> Tensor<1> {
        let output = self.linear.forward(inputs);
        let (a, b) = (others.clone().narrow(1, 0, 1), others.narrow(1, 1, 1));
        let batch = output.dims()[0];
        let losses = match self.loss {
            Loss::Output => output,
            Loss::Square => (output - a).square() * 0.5,
            Loss::Logistic => ((output + a) * b.neg()).exp().log1p(),
        };
        losses.reshape([batch])
    }
}

/// One private step after another with an optimiser of our own; returns the models.
pub fn trajectory<D: tacita::Records, M: tacita::PrivateModel<D::Batch>>(
    plan: tacita::CheckedPlan,
    optimizer: tacita::optim::Optimizer,
    learning_rate: f64,
    model: M,
    records: &D,
) -> Vec<M> {
    let mut models = Vec::new();
    tacita::Trainer::new(plan, optimizer, learning_rate)
        .keys(tacita::Keys::fixed_seed(7))
        .on_step(|_, model: &M| models.push(model.clone()))
        .fit(model, records, &device())
        .unwrap();
    models
}

/// All parameters of a model.
pub fn flat<M: burn::module::Module>(model: &M) -> Vec<f32> {
    struct Read(Vec<f32>);
    impl burn::module::ModuleVisitor for Read {
        fn visit_float<const D: usize>(&mut self, param: &burn::module::Param<Tensor<D>>) {
            self.0.extend(param.val().into_data().iter::<f32>());
        }
    }
    let mut read = Read(Vec::new());
    model.visit(&mut read);
    read.0
}
