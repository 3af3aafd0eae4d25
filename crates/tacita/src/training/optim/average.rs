//! The exponential moving average of released iterates.

use crate::compute::flat::to_vec;
use crate::training::parameter_values;
use burn::module::Module;
use burn::tensor::{Device, Tensor};

/// Averages the models of a run: post-processing that takes out much of the noise.
///
/// With decay β the average after step t is (1 − wₜ) a + wₜ θ with wₜ = max(1 − β, 1 / (t + 1)), so
/// that the first steps do not linger.
#[derive(Debug, Clone)]
pub struct Average {
    decay: f64,
    steps: u64,
    values: Vec<Tensor<1>>,
}

impl Average {
    /// An average that keeps the share `decay` of the past in each step.
    pub fn new(decay: f64) -> Self {
        Self {
            decay,
            steps: 0,
            values: Vec::new(),
        }
    }

    /// Takes in the model of one more step.
    pub fn add<M: Module>(&mut self, model: &M) {
        let current = parameter_values::tensors(model);
        self.steps += 1;
        let weight = (1.0 - self.decay).max(1.0 / self.steps as f64);
        self.values = if self.values.is_empty() {
            current
        } else {
            let mix = |(old, new): (&Tensor<1>, Tensor<1>)| {
                old.clone().to_device(&new.device()) * (1.0 - weight) + new * weight
            };
            self.values.iter().zip(current).map(mix).collect()
        };
    }

    /// The model with averaged parameters.
    pub fn applied_to<M: Module>(&self, model: M) -> M {
        parameter_values::with_tensors(model, &self.values)
    }

    /// The averaged parameters and the steps taken in, for a checkpoint.
    pub fn state(&self) -> (u64, Vec<Vec<f32>>) {
        let values = self.values.iter().map(to_vec);
        (self.steps, values.collect())
    }

    /// Restores the state of a checkpoint.
    pub fn restore(&mut self, (steps, values): &(u64, Vec<Vec<f32>>), device: &Device) {
        self.steps = *steps;
        self.values = (values.iter())
            .map(|values| Tensor::<1>::from_floats(values.as_slice(), device))
            .collect();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compute::layers::LinearConfig;
    use burn::module::Param;

    #[test]
    fn average_is_a_mean_at_first_and_then_forgets() {
        let device = crate::training::testkit::device().autodiff();
        let model = LinearConfig::new(1, 1).with_bias(false).init(&device);
        let with = |value: f64| {
            let mut model = model.clone();
            let weight = Tensor::<2>::full([1, 1], value, &device).require_grad();
            model.weight = Param::initialized(model.weight.id, weight);
            model
        };
        let mut average = Average::new(0.75);
        let read = |average: &Average| average.state().1[0][0];
        for (value, expected) in [(4.0, 4.0), (8.0, 6.0), (0.0, 4.0), (0.0, 3.0), (0.0, 2.25)] {
            average.add(&with(value));
            assert!((read(&average) - expected).abs() < 1e-6);
        }
        let weight = average.applied_to(model.clone()).weight.val();
        assert!((weight.into_scalar::<f32>() - 2.25).abs() < 1e-6);
    }
}
