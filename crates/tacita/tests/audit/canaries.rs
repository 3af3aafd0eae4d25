//! Records that own coordinates: no two of them have a gradient in the same one.

use burn::module::{Module, ModuleMapper, ModuleVisitor, Param};
use burn::optim::GradientsParams;
use burn::tensor::{Device, Int, Tensor, TensorData};
use tacita::{PrivateModel, Records};

pub use tacita::testkit::device;

/// Numbers that describe a record.
pub const INPUTS: usize = 16;

/// SplitMix64: the values depend on the seed only.
pub struct Random(pub u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Uniform in [−1, 1).
    pub fn value(&mut self) -> f32 {
        (self.next() >> 40) as f32 / (1u64 << 23) as f32 - 1.0
    }
}

/// Canaries, of which only the first ones are in the data set: the others tell what no record does.
#[derive(Debug, Clone, Copy)]
pub struct Canaries {
    /// How many own coordinates of the model.
    pub all: usize,
    /// How many are in the data set.
    pub present: usize,
}

/// What a model learns about some canaries.
#[derive(Debug, Clone)]
pub struct Batch {
    /// `[batch, INPUTS]`
    pub inputs: Tensor<2>,
    /// `[batch, canaries]`: 1 at the canary's own place.
    pub own: Tensor<2>,
    /// `[batch, 1]`: its number.
    pub number: Tensor<2, Int>,
    /// `[batch]`: what its loss is multiplied by, from 10 to 1000, so that its gradient is long.
    pub strength: Tensor<1>,
}

impl Canaries {
    /// Half of them in the data set.
    pub fn half(all: usize) -> Self {
        Self {
            all,
            present: all / 2,
        }
    }

    /// All numbers, of those in the data set and of the others.
    pub fn numbers(&self) -> Vec<usize> {
        (0..self.all).collect()
    }
}

impl Records for Canaries {
    type Batch = Batch;

    fn count(&self) -> usize {
        self.present
    }

    fn batch(&self, indices: &[usize], device: &Device) -> Batch {
        let count = indices.len();
        let (mut inputs, mut own, mut strength) = (Vec::new(), Vec::new(), Vec::new());
        for index in indices {
            let mut random = Random(1 + *index as u64);
            inputs.extend((0..INPUTS).map(|_| random.value()));
            own.extend((0..self.all).map(|place| f32::from(u8::from(place == *index))));
            strength.push(10f32.powf(2.0 + random.value()));
        }
        let numbers: Vec<i64> = indices.iter().map(|index| *index as i64).collect();
        Batch {
            inputs: Tensor::from_data(TensorData::new(inputs, [count, INPUTS]), device),
            own: Tensor::from_data(TensorData::new(own, [count, self.all]), device),
            number: Tensor::from_data(TensorData::new(numbers, [count, 1]), device),
            strength: Tensor::from_data(TensorData::new(strength, [count]), device),
        }
    }

    fn synthetic(&self, seeds: &[u64], device: &Device) -> Batch {
        let indices: Vec<usize> = seeds.iter().map(|s| *s as usize % self.all).collect();
        self.batch(&indices, device)
    }
}

/// A model whose every coordinate belongs to one canary.
pub trait Owned: PrivateModel<Batch> {
    /// For each parameter, in the order of visits, the axis that tells whose a coordinate is, and how many
    /// places along it belong to one canary.
    fn axes(&self) -> Vec<(usize, usize)>;
}

/// One loss for each row: a fixed combination of the outputs.
pub fn loss(outputs: Tensor<2>, strength: Tensor<1>) -> Tensor<1> {
    let [batch, width] = outputs.dims();
    let weights: Vec<f32> = (0..width).map(|k| 1.0 - 0.3 * k as f32).collect();
    let weights = Tensor::<2>::from_data(TensorData::new(weights, [1, width]), &device());
    (outputs * weights).sum_dim(1).reshape([batch]) * strength
}

/// The model with weights uniform in ± `spread`, and biases 1 + as much: most rectifiers are on.
pub fn filled<M: Module>(model: M, spread: f32) -> M {
    struct Fill(Random, f32);
    impl ModuleMapper for Fill {
        fn map_float<const D: usize>(&mut self, param: Param<Tensor<D>>) -> Param<Tensor<D>> {
            let shape = param.lazy_shape();
            let centre = if D == 1 { 1.0 } else { 0.0 };
            let value = |_| centre + self.1 * self.0.value();
            let values: Vec<f32> = (0..shape.num_elements()).map(value).collect();
            let values = Tensor::<D>::from_data(TensorData::new(values, shape), &device());
            Param::from_tensor(Tensor::from_inner(values).require_grad())
        }
    }
    model.map(&mut Fill(Random(77), spread))
}

/// Released values by parameter.
pub fn flat<M: Module>(model: &M, released: &GradientsParams) -> Vec<Vec<f64>> {
    struct Flatten<'a>(&'a GradientsParams, Vec<Vec<f64>>);
    impl ModuleVisitor for Flatten<'_> {
        fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
            let values = self.0.get::<D>(param.id).unwrap().into_data();
            self.1.push(values.iter::<f64>().collect());
        }
    }
    let mut flat = Flatten(released, Vec::new());
    model.visit(&mut flat);
    flat.1
}
