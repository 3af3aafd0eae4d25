//! A training loop over a session: post-processing of what the session releases.

use crate::keys::{KeyError, Keys};
use crate::plan::CheckedPlan;
use crate::records::{PrivateModel, Records};
use crate::report::Report;
use crate::session::{Session, SessionError, SessionOptions};
use burn::optim::ModuleOptimizer;
use burn::tensor::Device;
use std::path::PathBuf;
use thiserror::Error;

/// Why training stopped early.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum TrainError {
    /// The mechanism refused.
    #[error(transparent)]
    Session(#[from] SessionError),
    /// No keys could be had; nothing was released.
    #[error(transparent)]
    Keys(#[from] KeyError),
    /// The learning rate is no number.
    #[error("learning rate must be a finite number above 0, got {learning_rate}")]
    LearningRate {
        /// The value seen.
        learning_rate: f64,
    },
}

/// Where a run stands: public, since it depends on the plan only.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    /// Steps made.
    pub step: u64,
    /// Steps of the plan.
    pub steps: u64,
}

type OnStep<'a, M> = Box<dyn FnMut(Progress, &M) + 'a>;

/// Trains a model by a certified plan.
///
/// ```
/// use burn::module::Module;
/// use burn::optim::SgdConfig;
/// use burn::tensor::{Device, Tensor};
/// use tacita::layers::{Linear, LinearConfig};
/// use tacita::{Budget, Plan, PrivateModel, Records, Trainer};
///
/// struct Points;
/// impl Records for Points {
///     type Batch = Tensor<2>;
///     fn count(&self) -> usize {
///         1000
///     }
///     fn batch(&self, indices: &[usize], device: &Device) -> Tensor<2> {
///         self.synthetic(&indices.iter().map(|i| *i as u64).collect::<Vec<_>>(), device)
///     }
///     fn synthetic(&self, seeds: &[u64], device: &Device) -> Tensor<2> {
///         let rows: Vec<f32> = seeds.iter().flat_map(|s| [(*s as f32).sin(), 1.0]).collect();
///         Tensor::<1>::from_floats(rows.as_slice(), device).reshape([seeds.len(), 2])
///     }
/// }
///
/// #[derive(Module, Debug)]
/// struct Model {
///     linear: Linear,
/// }
/// impl PrivateModel<Tensor<2>> for Model {
///     fn losses(&self, batch: Tensor<2>) -> Tensor<1> {
///         self.linear.forward(batch).square().sum_dim(1).squeeze_dim(1)
///     }
/// }
///
/// let device = Device::default();
/// let plan = Plan::new(Budget::new(3.0, 1e-5))
///     .public_record_count(1000)
///     .expected_batch(50)
///     .epochs(1.0)
///     .calibrate()?; // AUTO-S: no threshold to tune
/// let model = Model { linear: LinearConfig::new(2, 1).init(&device.clone().autodiff()) };
/// let trained = Trainer::new(plan, SgdConfig::new().init(), 0.1).fit(model, &Points, &device)?;
/// println!("{}", trained.report);
/// assert!(trained.report.epsilon_upper <= 3.0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Trainer<'a, M> {
    plan: CheckedPlan,
    optimizer: ModuleOptimizer,
    learning_rate: f64,
    keys: Option<Keys>,
    ledger: Option<PathBuf>,
    options: SessionOptions,
    on_step: Option<OnStep<'a, M>>,
}

/// A trained model and what may be said of its privacy.
#[derive(Debug)]
pub struct Trained<M> {
    /// The model after the last step.
    pub model: M,
    /// The privacy statement.
    pub report: Report,
}

impl<'a, M> Trainer<'a, M> {
    /// A trainer with one of Burn's optimisers and a constant learning rate.
    pub fn new(plan: CheckedPlan, optimizer: ModuleOptimizer, learning_rate: f64) -> Self {
        Self {
            plan,
            optimizer,
            learning_rate,
            keys: None,
            ledger: None,
            options: SessionOptions::default(),
            on_step: None,
        }
    }

    /// Keys to use instead of fresh ones from the operating system: a fixed seed for experiments.
    #[must_use]
    pub fn keys(mut self, keys: Keys) -> Self {
        self.keys = Some(keys);
        self
    }

    /// A file for the ledger, which then survives a crash. It must not exist yet.
    #[must_use]
    pub fn ledger(mut self, path: impl Into<PathBuf>) -> Self {
        self.ledger = Some(path.into());
        self
    }

    /// Speed, memory and hardening.
    #[must_use]
    pub fn options(mut self, options: SessionOptions) -> Self {
        self.options = options;
        self
    }

    /// Called after every step with the model so far, which has been released.
    #[must_use]
    pub fn on_step(mut self, on_step: impl FnMut(Progress, &M) + 'a) -> Self {
        self.on_step = Some(Box::new(on_step));
        self
    }

    /// Trains on the device's tensors until the plan is finished.
    pub fn fit<D: Records>(
        mut self,
        mut model: M,
        records: &D,
        device: &Device,
    ) -> Result<Trained<M>, TrainError>
    where
        M: PrivateModel<D::Batch>,
    {
        let learning_rate = self.learning_rate;
        if !(learning_rate > 0.0 && learning_rate.is_finite()) {
            return Err(TrainError::LearningRate { learning_rate });
        }
        let keys = match self.keys {
            Some(keys) => keys,
            None => Keys::from_os()?,
        };
        let (plan, options) = (self.plan, self.options);
        let mut session = match &self.ledger {
            Some(path) => Session::create(plan, keys, path, &model, records, options)?,
            None => Session::open_in_memory(plan, keys, &model, records, options)?,
        };
        let steps = session.plan().steps();
        while session.next_step() < steps {
            let round = session.open_round()?;
            let bounded = round.clip(&model, records, device)?;
            let noisy = round.release(bounded)?;
            let gradients = noisy.gradients(&model);
            model = self.optimizer.step(learning_rate, model, gradients);
            if let Some(on_step) = &mut self.on_step {
                let step = session.next_step();
                on_step(Progress { step, steps }, &model);
            }
        }
        let report = Report::new(&session);
        session.close()?;
        Ok(Trained { model, report })
    }
}
