//! Released values.

use burn::module::{Module, ModuleVisitor, Param};
use burn::optim::GradientsParams;
use burn::tensor::Tensor;

/// Sums with noise: released, and free to use. Everything computed from them is post-processing.
pub struct Noisy {
    pub(super) step: u64,
    pub(super) noise_std: f64,
    /// By parameter, divided by the expected batch size.
    pub(super) gradient: Vec<Tensor<1>>,
    pub(super) directions: Option<Vec<Tensor<1>>>,
    pub(super) counts: Option<Vec<f64>>,
    pub(super) thresholds: Vec<f64>,
    pub(super) private: bool,
}

impl std::fmt::Debug for Noisy {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Noisy(step {})", self.step)
    }
}

impl Noisy {
    /// The step it was released in, from 0.
    pub fn step(&self) -> u64 {
        self.step
    }

    /// False if the noise came from a fixed seed, so that anyone can subtract it.
    pub fn is_private(&self) -> bool {
        self.private
    }

    /// The standard deviation of the noise on each coordinate of [`Noisy::gradients`].
    pub fn noise_std(&self) -> f64 {
        self.noise_std
    }

    /// The clipping threshold of each group in this step.
    pub fn thresholds(&self) -> &[f64] {
        &self.thresholds
    }

    /// The noisy gradient by parameter, flat, divided by the *expected* batch size.
    pub fn gradient(&self) -> &[Tensor<1>] {
        &self.gradient
    }

    /// The noisy gradient for Burn's optimisers.
    pub fn gradients<M: Module>(&self, model: &M) -> GradientsParams {
        assign(&self.gradient, model)
    }

    /// The noisy mean of clipped directions (OSO's second query), if the plan asks it.
    pub fn directions<M: Module>(&self, model: &M) -> Option<GradientsParams> {
        let directions = self.directions.as_ref()?;
        Some(assign(directions, model))
    }

    /// The noisy share of samples below the threshold of each group, if the plan asks it.
    pub fn shares_below_threshold(&self) -> Option<Vec<f64>> {
        let counts = self.counts.as_ref()?;
        Some(counts.iter().map(|count| count + 0.5).collect())
    }
}

fn assign<M: Module>(values: &[Tensor<1>], model: &M) -> GradientsParams {
    let mut assign = Assign {
        values: values.iter(),
        gradients: GradientsParams::new(),
    };
    model.visit(&mut assign);
    assign.gradients
}

/// Hands flat values back to the parameters, in the order in which the model visits them.
struct Assign<'a> {
    values: std::slice::Iter<'a, Tensor<1>>,
    gradients: GradientsParams,
}

impl ModuleVisitor for Assign<'_> {
    fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
        if param.is_require_grad()
            && let Some(values) = self.values.next()
        {
            let gradient = values.clone().reshape(param.lazy_shape());
            self.gradients.register::<D>(param.id, gradient);
        }
    }
}
