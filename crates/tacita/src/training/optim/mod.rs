//! Optimisers: post-processing of released gradients, in their textbook forms.
//!
//! They work on flat vectors by parameter, so their state is a handful of vectors that a checkpoint
//! can hold. Any of Burn's own optimisers can be used as well ([`Optimizer::from`]).

mod average;
mod kernel;
mod learning_rate;
mod rate_schedule;
mod rule;
mod state;

pub use average::Average;
pub(crate) use learning_rate::RateTracker;
pub use learning_rate::{LearningRate, LearningRateState};
pub use rate_schedule::RateSchedule;
pub use rule::OptimizerRule;
pub use state::OptimizerState;

use crate::mechanism::session::Noisy;
use crate::training::parameter_values;
use burn::module::{Module, ModuleMapper, ModuleVisitor, Param};
use burn::optim::{GradientsParams, ModuleOptimizer};
use burn::tensor::{Device, Tensor};
use rule::Update;

/// Moves a model by released gradients.
///
/// ```
/// use burn::optim::LionConfig;
/// use tacita::optim::{Optimizer, OptimizerRule};
///
/// let ours: Optimizer = OptimizerRule::heavy_ball(0.9).into();
/// let burns: Optimizer = LionConfig::new().init().into();
/// ```
pub struct Optimizer {
    inner: Inner,
    weight_decay: f64,
}

enum Inner {
    Flat(Update),
    Burn(Box<ModuleOptimizer>),
}

impl std::fmt::Debug for Optimizer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.inner {
            Inner::Flat(update) => write!(f, "Optimizer({:?})", update.rule),
            Inner::Burn(_) => f.write_str("Optimizer(Burn)"),
        }
    }
}

impl From<OptimizerRule> for Optimizer {
    fn from(rule: OptimizerRule) -> Self {
        Self {
            inner: Inner::Flat(Update::new(rule)),
            weight_decay: 0.0,
        }
    }
}

impl From<ModuleOptimizer> for Optimizer {
    fn from(optimizer: ModuleOptimizer) -> Self {
        Self {
            inner: Inner::Burn(Box::new(optimizer)),
            weight_decay: 0.0,
        }
    }
}

impl Optimizer {
    /// Decays weights: λw is added to the gradient (L2), except for AdamW, which decays the weights
    /// beside the step. Burn's optimisers have a setting of their own.
    #[must_use]
    pub fn with_weight_decay(mut self, weight_decay: f64) -> Self {
        self.weight_decay = weight_decay;
        self
    }

    /// Moves the model by what was released.
    pub fn step<M: Module>(&mut self, learning_rate: f64, model: M, noisy: &Noisy) -> M {
        match &mut self.inner {
            Inner::Burn(optimizer) => {
                let gradients = noisy.gradients(&model);
                optimizer.step(learning_rate, model, gradients)
            }
            Inner::Flat(_) => {
                self.step_flat(learning_rate, model, noisy.gradient(), noisy.noise_std())
            }
        }
    }

    /// Moves the model by gradients that nothing protects: ordinary training by the same rules.
    pub fn step_without_privacy<M: Module>(
        &mut self,
        learning_rate: f64,
        model: M,
        gradients: GradientsParams,
    ) -> M {
        match &mut self.inner {
            Inner::Burn(optimizer) => optimizer.step(learning_rate, model, gradients),
            Inner::Flat(_) => {
                let mut flat = Flat {
                    gradients,
                    tensors: Vec::new(),
                };
                model.visit(&mut flat);
                self.step_flat(learning_rate, model, &flat.tensors, 0.0)
            }
        }
    }

    /// One step of a rule of our own by flat gradients.
    fn step_flat<M: Module>(
        &mut self,
        learning_rate: f64,
        model: M,
        gradient: &[Tensor<1>],
        noise_std: f64,
    ) -> M {
        let Inner::Flat(update) = &mut self.inner else {
            return model;
        };
        update.begin(noise_std);
        let mut apply = Apply {
            update,
            gradient: gradient.iter().enumerate(),
            learning_rate,
            weight_decay: self.weight_decay,
        };
        model.map(&mut apply)
    }

    /// The state, for a checkpoint; none for Burn's own optimisers.
    pub fn state(&self) -> Option<OptimizerState> {
        match &self.inner {
            Inner::Flat(update) => Some(update.state()),
            Inner::Burn(_) => None,
        }
    }

    /// Restores a state on a device; false if it is of another optimiser or model.
    #[must_use]
    pub fn restore(&mut self, state: &OptimizerState, device: &Device) -> bool {
        match &mut self.inner {
            Inner::Flat(update) => update.restore(state, device),
            Inner::Burn(_) => false,
        }
    }
}

/// Takes gradients in the order in which the model visits its parameters, flat; zeros where it has
/// none.
struct Flat {
    gradients: GradientsParams,
    tensors: Vec<Tensor<1>>,
}

impl ModuleVisitor for Flat {
    fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
        if !param.is_require_grad() {
            return;
        }
        let elements = param.lazy_shape().num_elements();
        let gradient = self.gradients.remove::<D>(param.id);
        self.tensors.push(match gradient {
            Some(gradient) => gradient.reshape([elements]),
            None => Tensor::zeros([elements], &param.lazy_device().without_autodiff()),
        });
    }
}

/// Moves each trainable parameter, in the order in which the model visits them.
struct Apply<'a> {
    update: &'a mut Update,
    gradient: std::iter::Enumerate<std::slice::Iter<'a, Tensor<1>>>,
    learning_rate: f64,
    weight_decay: f64,
}

impl ModuleMapper for Apply<'_> {
    fn map_float<const D: usize>(&mut self, param: Param<Tensor<D>>) -> Param<Tensor<D>> {
        if !param.is_require_grad() {
            return param;
        }
        let Some((index, gradient)) = self.gradient.next() else {
            return param;
        };
        let (learning_rate, weight_decay) = (self.learning_rate, self.weight_decay);
        parameter_values::replace(param, |weights| {
            let gradient = gradient.clone().to_device(&weights.device());
            (self.update).apply(index, weights, gradient, learning_rate, weight_decay)
        })
    }
}
